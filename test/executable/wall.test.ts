import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { operationsOf, readDocument, type Served } from '../docs/document.ts'
import { notFound, structured } from '../errors.ts'
import { expectResponse, forFile, startServer } from '../harness.ts'
import { bearer, folderOfFile, login } from '../program.ts'
import { Customer, Operator, TEA } from './live.ts'

/** Live mode has no sandbox (contract C15): every way into it is tried, and none works. */

const folder = folderOfFile()
const operator = new Operator(folder)
const credentials = await operator.stocked()
const live = forFile(await operator.serve('--rate-limit', 'off', '--log-level', 'error'))
const customer = await Customer.of(live, credentials)
const sandbox = await startServer()
/** The operations of a sandbox, according to its own document. */
const served = operationsOf(await readDocument(sandbox))
await sandbox.stop()

const NOT_FOUND = notFound('Route not found')
const INVALID_CREDENTIALS = structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid credentials')

/** Failed logins are audited a moment after their refusal. */
const AUDIT = ['audit', 'audit_head', 'audit_counts']

/** Every row of the live data, except for the audit. */
const rows = (): Record<string, unknown[]> => {
  const sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'), { readonly: true })
  const tables = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
  const all = Object.fromEntries(
    tables
      .filter(({ name }) => !AUDIT.includes(name))
      .map(({ name }) => [name, sqlite.query<object, []>(`SELECT * FROM "${name}"`).all()]),
  )
  sqlite.close()
  return all
}

/** Expects that some work leaves every row and the clock unchanged. */
const unchanged = async (work: () => Promise<void>): Promise<void> => {
  const before = rows()
  await work()
  expect(rows()).toEqual(before)
  const { time } = (await (await live.request('/status')).json()) as { time: string }
  expect(Math.abs(Date.parse(time) - Date.parse(new Date().toISOString()))).toBeLessThan(60_000)
}

const isControl = ({ tags }: Served): boolean => tags.includes('Sandbox')

describe('The control API', () => {
  test('is 404 on every sandbox route and method, with any credentials', () =>
    unchanged(async () => {
      // Live mode has its own front page.
      const control = served.filter((operation) => isControl(operation) && operation.path !== '/')
      expect(control.length).toBeGreaterThan(25)
      const { headers: token } = bearer(customer.pair)
      for (const { method, path, requestBody } of control) {
        const body = requestBody && JSON.stringify(requestBody.content['application/json']?.example)
        for (const world of ['', '?world=default', '?world=sbx_any']) {
          for (const headers of [{}, token, { ...token, 'x-sandbox-token': 'open sesame' }]) {
            const response = await live.request(path.replace(/\{\w+\}/, '1') + world, {
              method,
              headers,
              ...(body !== undefined && { body }),
            })
            expect([method, path, response.status]).toEqual([method, path, 404])
            expect(await response.json()).toEqual(NOT_FOUND)
          }
        }
      }
    }))

  test.each([
    '/_sandbox',
    '/_sandbox/',
    '/_SANDBOX/clock',
    '//_sandbox/clock',
    '/_sandbox%2Fclock',
    '/%5Fsandbox/clock',
  ])('is 404 as %s', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) {
      expect([method, (await live.request(path, { method })).status]).toEqual([method, 404])
    }
  })

  test('is not in the document', async () => {
    const document = (await (await live.request('/openapi.json')).json()) as { paths: object; tags: { name: string }[] }
    const inSandbox = new Set(served.filter((operation) => !isControl(operation)).map(({ path }) => path))
    expect(Object.keys(document.paths).sort()).toEqual([...inSandbox].sort())
    expect(document.tags.map(({ name }) => name)).not.toContain('Sandbox')
    expect(JSON.stringify(document).toLowerCase()).not.toContain('x-sandbox')
  })
})

describe('The headers of the sandbox', () => {
  const FAULTS = ['internal', 'unauthorized', 'rate_limited', 'charges.rate_failed', 'no.such']

  test('are ignored by every operation', () =>
    unchanged(async () => {
      const { headers: token } = bearer(customer.pair)
      for (const { method, path } of served.filter(
        (operation) => !isControl(operation) && operation.method === 'GET',
      )) {
        const ask = async (headers: Record<string, string>) => {
          const response = await live.request(path.replace(/\{\w+\}/, '1'), { headers: { ...token, ...headers } })
          const text = await response.text()
          return [method, path, response.status, path === '/status' ? '' : text]
        }
        const plain = await ask({})
        for (const fault of FAULTS) expect(await ask({ 'x-sandbox-fault': fault })).toEqual(plain)
        expect(await ask({ 'x-sandbox-delay': '60000' })).toEqual(plain)
        expect(await ask({ 'x-sandbox-delay': 'soon' })).toEqual(plain)
      }
    }))

  test('neither fail nor delay a write', async () => {
    const { headers: token } = bearer(customer.pair)
    const response = await live.request('/api/v1/orders', {
      method: 'POST',
      headers: { ...token, 'x-sandbox-fault': 'orders.insufficient_stock', 'x-sandbox-delay': '60000' },
      body: JSON.stringify({ product_id: TEA.id, denomination: 10, quantity: 1 }),
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'DELIVERED', vouchers: [{ card_number: 'TEA-1' }] })
  })
})

describe('The accounts of the sandbox', () => {
  test.each([
    ['sandbox', 'sandbox'],
    ['limited', 'limited'],
    ['sbx_default', 'sandbox'],
    ['sbx_any', 'x'],
    ['sbx_any.limited', 'x'],
    ['sbx_acme', 'x'],
  ])('do not exist: %s is an unknown client and creates no world', (username, password) =>
    unchanged(async () => {
      for (let time = 0; time < 2; time++) {
        await expectResponse(login(live, username, password), 401, INVALID_CREDENTIALS)
      }
    }),
  )

  test('the prefix gives no other access to a client', async () => {
    expect((await login(live, `sbx_${credentials.username}`, credentials.password)).status).toBe(401)
    expect((await login(live, credentials.username, credentials.password)).status).toBe(200)
  })

  test('a sandbox token is invalid', () =>
    unchanged(async () => {
      await using sandbox = await startServer()
      const { token } = await sandbox.world()
      const { access_token } = (await (
        await sandbox.request('/auth/login', { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' })
      ).json()) as { access_token: string }
      for (const foreign of [token, access_token]) {
        const headers = { authorization: `Bearer ${foreign}` }
        expect((await live.request('/api/v1/wallets', { headers })).status).toBe(401)
      }
    }))
})
