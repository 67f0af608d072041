import { describe, expect, test } from 'bun:test'
import { parseOrigins } from '../../src/config/values.ts'
import { structured, UNAUTHORIZED } from '../errors.ts'
import { configOfFlags, expectResponse, forFile, startServer } from '../harness.ts'
import { succeed } from './surface.ts'

/** Pages of named origins call the API from a browser (contract C15). */

const PAGE = 'http://localhost:5173'
const SHOP = 'https://shop.example.com'
const OTHER = 'http://localhost:5174'
const server = forFile(await startServer('--rate-limit', '2/h', '--cors', PAGE, '--cors', SHOP))

const corsOf = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => /^(?:access-control-.*|vary)$/.test(name)))

const preflight = (origin: string, path = '/api/v1/orders'): Promise<Response> =>
  server.request(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  })

const logIn = (origin: string, username: string): Promise<Response> =>
  server.request('/auth/login', {
    method: 'POST',
    headers: { origin },
    body: JSON.stringify({ username, password: 'a password' }),
  })

describe('A preflight of a named origin', () => {
  test.each([PAGE, SHOP])('is 204 without a token, with what the API takes: %s', async (origin) => {
    const response = await preflight(origin)
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
    expect(corsOf(response)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        'Authorization, Content-Type, Idempotency-Key, X-Dry-Run, X-Request-Id, X-Sandbox-Fault, X-Sandbox-Delay',
      'access-control-max-age': '60',
      vary: 'Origin',
    })
  })

  test('takes no part in limits, coverage and the request log', async () => {
    const world = await server.world()
    for (let count = 0; count < 5; count++) expect((await preflight(PAGE)).status).toBe(204)
    expect((await world.get('/api/v1/countries/1')).headers.get('x-ratelimit-remaining')).toBe('1')
    const log = await succeed<{ method: string }[]>(server, 'GET', '/requests?world=*')
    expect(log.filter(({ method }) => method === 'OPTIONS')).toEqual([])
    const { outcomes } = await succeed<{ outcomes: { name: string; count: number }[] }>(server, 'GET', '/coverage')
    expect(outcomes.filter(({ count }) => count > 0)).toEqual([])
  })
})

describe('A response to a page', () => {
  test('of a named origin is open to it, with the headers of pages and limits: successes, refusals, faults', async () => {
    const world = await server.world()
    const requests = [
      world.get('/api/v1/beneficiaries', { origin: SHOP }),
      world.get('/api/v1/countries/0', { origin: SHOP, 'x-sandbox-fault': 'countries.not_found' }),
      server.request('/api/v1/orders', { headers: { origin: SHOP } }),
    ]
    for (const response of await Promise.all(requests)) {
      expect(corsOf(response)).toEqual({
        'access-control-allow-origin': SHOP,
        'access-control-expose-headers':
          'X-Page, X-Per-Page, X-Total-Count, X-Total-Pages, X-Page-Size, X-Has-More, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Location, Retry-After, X-Request-Id, X-Cache, X-Dry-Run, Idempotent-Replayed, WWW-Authenticate',
        vary: 'Origin',
      })
    }
  })

  test('of another origin is as before, and differs for caches', async () => {
    const world = await server.world()
    const response = await world.get('/api/v1/wallets', { origin: OTHER })
    expect(response.status).toBe(200)
    expect(corsOf(response)).toEqual({ vary: 'Origin' })
    await expectResponse(preflight(OTHER), 401, UNAUTHORIZED)
    expect(corsOf(await preflight('null'))).toEqual({ vary: 'Origin' })
  })
})

describe('A login from a page', () => {
  test('of a named origin may make a world, of another one not', async () => {
    expect((await logIn(PAGE, 'sbx_of-the-page')).status).toBe(200)
    const foreign = structured('ForbiddenError', 'FORBIDDEN', 'The sandbox is not open to other sites')
    await expectResponse(logIn(OTHER, 'sbx_of-another-page'), 403, foreign)
  })
})

test('The control API stays closed to a named origin', async () => {
  const response = await server.request('/_sandbox/clock', { headers: { origin: PAGE } })
  expect(response.status).toBe(403)
  expect(corsOf(response)).toEqual({})
  expect((await preflight(PAGE, '/_sandbox/clock')).status).toBe(404)
})

test('Without --cors no response has a header of it', async () => {
  await using plain = await startServer()
  expect(corsOf(await plain.request('/api/v1/orders', { headers: { origin: PAGE } }))).toEqual({})
})

describe('--cors', () => {
  test.each(['*', 'null', 'localhost:5173', 'http://localhost:5173/', 'http://localhost/shop', 'ftp://localhost'])(
    'refuses what is not an exact origin: %s',
    (origin) => {
      expect(() => parseOrigins(origin, undefined)).toThrow('An origin looks like http://localhost:5173')
    },
  )

  test('takes several origins in one value, as its variable needs', () => {
    expect([...configOfFlags('--cors', `${PAGE}, ${SHOP}`).corsOrigins]).toEqual([PAGE, SHOP])
  })
})
