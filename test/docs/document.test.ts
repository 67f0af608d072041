import { describe, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Command } from 'commander'
import { configOf } from '../../src/config/config.ts'
import type { ServeOptions } from '../../src/config/option-table.ts'
import { withServeOptions } from '../../src/config/options.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { createLog } from '../../src/observability/log.ts'
import { build } from '../../src/start/build.ts'
import { open } from '../../src/start/open.ts'
import { VERSION } from '../../src/start/version.ts'
import { forFile, startServer } from '../harness.ts'
import { isPublic, operationsOf, readDocument, type Served } from './document.ts'

const server = forFile(await startServer())
const document = await readDocument(server)
const operations = operationsOf(document)

const nameOf = ({ method, path }: Served): string => `${method} ${path}`

/** The program's own routes, from the app itself. */
const routes = (): string[] => {
  const options = withServeOptions(new Command('serve')).parse([], { from: 'user' }).opts<ServeOptions>()
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const opened = open(configOf(options), systemClock, log)
  const bound = { publicUrl: 'http://localhost:4747', addressOf: () => '', isClosing: () => false }
  const { app } = build(opened, bound)
  const names = app.routes.map(({ method, path }: { method: string; path: string }) => {
    const template = path.replace(/:(\w+)/g, '{$1}').replace(/(.)\/$/, '$1')
    return `${method} ${template}`
  })
  opened.close()
  return names
}

/** Pages for people, and the document itself, are not documented. */
const isDocs = (route: string): boolean =>
  /^GET \/(?:openapi\.json|llms\.txt|docs(?:\/.*)?|_sandbox\/console(?:\/.*)?)$/.test(route)

describe('GET /openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const raw = (await (await server.request('/openapi.json')).json()) as Record<string, unknown>
    const { valid, errors } = await new Validator().validate(raw)
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: VERSION } })
  })

  test('passes the recommended rules of a linter that clients of APIs use', async () => {
    // The linter objects to the address of a test.
    const source = (await (await server.request('/openapi.json')).text()).replaceAll(server.url, 'https://scrip.test')
    const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) })
    expect(problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)).toEqual([])
  })

  test('is public JSON of at most 900 kB, and compressed for a client that takes gzip', async () => {
    const documentFor = (headers: Record<string, string>) =>
      server.request('/openapi.json', { headers, decompress: false })
    const plain = await documentFor({ 'accept-encoding': 'gzip;q=0' })
    const compressed = await documentFor({ 'accept-encoding': 'br, gzip' })
    expect([plain.status, compressed.status]).toEqual([200, 200])
    expect(plain.headers.get('content-type')).toStartWith('application/json')
    expect([plain.headers.get('content-encoding'), compressed.headers.get('content-encoding')]).toEqual([null, 'gzip'])
    expect([plain.headers.get('vary'), compressed.headers.get('vary')]).toEqual(['Accept-Encoding', 'Accept-Encoding'])
    const [text, bytes] = [await plain.text(), await compressed.bytes()]
    expect(text.length).toBeLessThanOrEqual(900_000)
    expect(bytes.length).toBeLessThanOrEqual(100_000)
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes as Uint8Array<ArrayBuffer>))).toBe(text)
    const etag = String(compressed.headers.get('etag'))
    expect(etag).toBe(`W/${plain.headers.get('etag')}`)
    expect((await documentFor({ 'accept-encoding': 'gzip', 'if-none-match': etag })).status).toBe(304)
  })

  test('covers exactly the routes of the program', () => {
    const served = routes().filter((route) => !isDocs(route))
    expect(operations.map(nameOf).sort()).toEqual([...new Set(served)].sort())
  })

  test('gives each operation a name, a description and a described tag', () => {
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]))
    for (const operation of operations) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/)
      expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
      expect(operation.description).toMatch(/^[A-Z][\s\S]*\.$/)
      for (const tag of operation.tags) expect(tags.get(tag)).toMatch(/\.$/)
    }
  })

  test('orders its tags like the specification, others at the end', () => {
    expect(document.tags.map(({ name }) => name)).toEqual([
      ...['Authentication', 'Beneficiaries', 'Products', 'Categories', 'Countries', 'Currencies', 'Wallets'],
      ...['Orders', 'Payouts', 'Events', 'Webhooks', 'Service', 'Sandbox', 'Log out'],
    ])
  })

  test('documents 401, 429 and 500 for protected operations, and 500 for all others', () => {
    for (const operation of operations) {
      // Logging out is never refused by the limits (contract C3).
      if (operation.operationId === 'logout') continue
      const statuses = Object.keys(operation.responses)
      expect({ operation: nameOf(operation), statuses }).toEqual({
        operation: nameOf(operation),
        statuses: expect.arrayContaining(isPublic(operation) ? ['500'] : ['401', '429', '500']),
      })
    }
  })
})
