import { describe, expect, test } from 'bun:test'
import { isPublic, operationsOf, readDocument } from '../docs/document.ts'
import { forFile, type Server, startServer } from '../harness.ts'
import { countOf } from '../records.ts'
import type { Shape } from './routes.ts'

/** `--strict`: the API refuses names that it would ignore otherwise (decision 47). */

interface PublishedOperation {
  method: string
  /** The path, with well-formed values in place of its parameters. */
  path: string
  /** The names of the query parameters. */
  parameters: string[]
  /** A valid body, if the operation takes one. */
  body: object | undefined
  isProtected: boolean
}

const strict = forFile(await startServer('--strict', '--rate-limit', 'off'))
const lenient = forFile(await startServer('--rate-limit', 'off'))
const operations: PublishedOperation[] = operationsOf(await readDocument(strict)).map((operation) => ({
  method: operation.method,
  path: operation.path.replace(/\{\w+\}/g, '1'),
  parameters: operation.parameters.flatMap((parameter) => (parameter.in === 'query' ? [parameter.name] : [])),
  body: operation.requestBody?.content['application/json']?.example as object | undefined,
  isProtected: !isPublic(operation),
}))
expect(operations.length).toBeGreaterThan(50)

const shapeOf = (path: string): Shape =>
  /^\/api\/v1\/products\/1\/(?:charges|discount)$/.test(path)
    ? 'charges'
    : /^\/api\/v1\/(?:beneficiaries|payouts)/.test(path)
      ? 'flat'
      : 'structured'

/** The response of a route to unknown input. */
const refusal = (path: string, field: string, problem: string): object => {
  const shape = shapeOf(path)
  if (shape === 'charges') return { error: { message: 'Validation failed', details: `${field} ${problem}` } }
  if (shape === 'flat') return { error: 'ValidationException', message: `${field} ${problem}` }
  const message = `The ${field} field ${problem}.`
  return {
    error: {
      name: 'ValidationException',
      code: 'VALIDATION_FAILURE',
      message: 'Input validation failed.',
      messages: { [field]: [{ rule: 'enum', field, message }] },
    },
  }
}

const known = (names: string[]): string => `known are ${names.join(', ') || 'none'}`

/** Sends a request in a new world. */
const send = async (server: Server, { method, isProtected }: PublishedOperation, path: string, body?: object) => {
  const init = { method, ...(body && { body: JSON.stringify(body) }) }
  const response = isProtected ? await (await server.world()).request(path, init) : await server.request(path, init)
  return { status: response.status, text: await response.text() }
}

const titleOf = ({ method, path }: PublishedOperation): string => `${method} ${path}`

/** A partner's list may have further columns. */
const DOCUMENT = '/_sandbox/reconcile'

describe('with --strict', () => {
  test('every operation refuses an unknown parameter by name, in its own format', async () => {
    // An inbox accepts any body.
    for (const operation of operations.filter(({ path, method }) => method !== 'POST' || !/\/inbox\//.test(path))) {
      const { path, parameters, body } = operation
      const { status, text } = await send(strict, operation, `${path}?no_such=1`, body)
      const expected = refusal(path, 'no_such', `is not a known parameter; ${known(parameters)}`)
      expect({ operation: titleOf(operation), status, body: JSON.parse(text) }).toEqual({
        operation: titleOf(operation),
        status: 400,
        body: expected,
      })
    }
  })

  test('every operation with a body refuses an unknown member by name, in its own format', async () => {
    for (const operation of operations.filter(({ body, path }) => body && path !== DOCUMENT)) {
      const { path } = operation
      const { status, text } = await send(strict, operation, path, { ...operation.body, no_such: 1 })
      expect({ operation: titleOf(operation), status }).toEqual({ operation: titleOf(operation), status: 400 })
      const [without] = JSON.stringify(refusal(path, 'no_such', 'is not a known member; known are')).split('known are')
      expect(text).toStartWith(without ?? '')
    }
  })

  test('every operation accepts everything that it documents', async () => {
    for (const operation of operations) {
      const query = operation.parameters.map((name) => `${name}=1`).join('&')
      const { text } = await send(strict, operation, `${operation.path}?${query}`, operation.body)
      expect(`${titleOf(operation)} ${text.slice(0, 500)}`).not.toContain('is not a known')
    }
  })

  test('all unknown names are reported together, each once', async () => {
    const world = await strict.world()
    const response = await world.post('/api/v1/beneficiaries?b=1&b=2', { emial: 'x', first: 'y' })
    const { message } = (await response.json()) as { message: string }
    expect(message.match(/\w+ is not a known \w+/g)).toEqual([
      'b is not a known parameter',
      'emial is not a known member',
      'first is not a known member',
    ])
  })

  const ADA = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
  const KEY = { 'idempotency-key': 'strictly-1' }

  test('a refusal does not use the Idempotency-Key, and replays work', async () => {
    const world = await strict.world()
    expect((await world.post('/api/v1/beneficiaries', { ...ADA, emial: 'x' }, KEY)).status).toBe(400)
    const first = await world.post('/api/v1/beneficiaries', ADA, KEY)
    const again = await world.post('/api/v1/beneficiaries', ADA, KEY)
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(await first.text())
    expect(await countOf(world)).toBe(1)
  })

  test.each(['__proto__', 'constructor'])('the name %s is unknown', async (name) => {
    const world = await strict.world()
    const response = await world.get(`/api/v1/countries?${name}=1`)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { messages: object } }
    expect(Object.keys(error.messages)).toEqual([name])
  })

  test('tokens, rate limits and features are checked first', async () => {
    const unknown = '/api/v1/categories?no_such=1'
    expect((await strict.request(unknown)).status).toBe(401)
    expect((await (await (await strict.world()).limited()).get(unknown)).status).toBe(403)
    expect((await (await strict.world()).get(unknown)).status).toBe(400)
  })
})

test('without --strict the API ignores unknown names', async () => {
  for (const operation of operations.filter(({ path }) => !path.startsWith('/_sandbox'))) {
    const body = operation.body && { ...operation.body, no_such: 1 }
    const { text } = await send(lenient, operation, `${operation.path}?no_such=1`, body)
    expect(`${titleOf(operation)} ${text.slice(0, 500)}`).not.toContain('no_such')
  }
})
