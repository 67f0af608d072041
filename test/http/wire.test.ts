import { beforeAll, describe, expect, test } from 'bun:test'
import { badRequest } from '../errors.ts'
import { forFile } from '../harness.ts'
import type { Pair } from '../program.ts'
import { ask, listening } from '../socket.ts'

/** Requests that clients write on the wire, byte by byte. */

const server = forFile(await listening())

const LOGIN = '{"username":"sandbox","password":"sandbox"}'
const INVALID_HOST = badRequest('Invalid Host header')

describe('Host', () => {
  test.each(['a', 'a:1', 'api', 'ab', '127.0.0.1:4747', 'api.example.com', '[::1]:80'])(
    '%p is routed; names of other machines do not get to the API of a sandbox on loopback',
    async (host) => {
      for (const path of ['/status', '/readyz', '/status?next=http://other/x']) {
        expect((await ask(server.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status).toBe(200)
      }
      const { status, body } = await ask(server.url, `GET /api/v1/countries HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      const isOwn = host === '127.0.0.1:4747' || host === '[::1]:80'
      expect(status).toBe(isOwn ? 401 : 403)
      expect(JSON.parse(body)).toMatchObject({ error: { code: isOwn ? 'UNAUTHORIZED' : 'FORBIDDEN' } })
    },
  )

  test.each(['a b', '', 'x/y', 'x?y', 'x#y', 'user:secret@x', 'one, two'])('%p is invalid: 400', async (host) => {
    for (const path of ['/status', '/livez', '/api/v1/countries', '/nothing']) {
      const { status, headers, body } = await ask(server.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      expect(status).toBe(400)
      expect(JSON.parse(body)).toEqual(INVALID_HOST)
      expect(headers['Content-Type']).toBe('application/json')
    }
  })

  test('two are refused, equal or not, because a proxy may use the other one', async () => {
    for (const other of ['localhost', 'evil.example']) {
      const request = `GET /status HTTP/1.1\r\nHost: localhost\r\nHost: ${other}\r\n\r\n`
      const { status, body } = await ask(server.url, request)
      expect(status).toBe(400)
      expect(JSON.parse(body)).toEqual(INVALID_HOST)
    }
  })

  test('may be missing in HTTP/1.0, as in health checks of proxies', async () => {
    expect((await ask(server.url, 'GET /readyz HTTP/1.0\r\n\r\n')).status).toBe(200)
    const posted = `POST /auth/login HTTP/1.0\r\nContent-Length: ${LOGIN.length}\r\n\r\n${LOGIN}`
    expect((await ask(server.url, posted)).status).toBe(200)
    expect((await ask(server.url, 'GET /_sandbox HTTP/1.0\r\n\r\n')).status).toBe(200)
  })

  test('a request with an invalid one is in the request log with its path', async () => {
    await ask(server.url, 'GET /api/v1/countries/7?a=b HTTP/1.1\r\nHost: no host\r\n\r\n')
    const requests = (await (await fetch(`${server.url}/_sandbox/requests?limit=1`)).json()) as { path: string }[]
    expect(requests.map(({ path }) => path)).toContain('/api/v1/countries/7?a=b')
  })
})

describe('Names of members and parameters that are properties of every object', () => {
  const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty']

  test.each(NAMES)('the member %s of a control body is unknown', async (name) => {
    const response = await fetch(`${server.url}/_sandbox/worlds/x`, { method: 'PUT', body: `{"${name}":1}` })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { messages: Record<string, object[]> } }
    expect(Object.keys(error.messages)).toEqual([name])
    expect(error.messages[name]).toMatchObject([{ rule: 'enum', field: name }])
  })

  test('of ten thousand unknown names, a hundred are reported', async () => {
    const members = Array.from({ length: 9_999 }, (_, at) => `"m${at}":1`)
    const response = await fetch(`${server.url}/_sandbox/worlds/x`, { method: 'PUT', body: `{${members}}` })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { messages: Record<string, object[]> } }
    expect(Object.keys(error.messages)).toHaveLength(100)
  })
})

describe('Header names have their documented spelling', () => {
  let token: string
  beforeAll(async () => {
    const body = '{"username":"sbx_spelling","password":"a password"}'
    token = ((await (await fetch(`${server.url}/auth/login`, { method: 'POST', body })).json()) as Pair).access_token
  })
  const namesIn = async (method: string, path: string, fields: string[] = [], body = ''): Promise<string[]> => {
    const lines = ['Host: localhost', `Authorization: Bearer ${token}`, `Content-Length: ${body.length}`, ...fields]
    return Object.keys(
      (await ask(server.url, `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)).headers,
    )
  }
  const ALWAYS = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Content-Type']
  const PAGE = ['X-Page', 'X-Per-Page', 'X-Total-Count', 'X-Total-Pages']
  const ADA = '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}'

  test.each([
    ['/api/v1/beneficiaries', PAGE],
    ['/api/v1/orders', PAGE],
    ['/api/v1/products', [...PAGE, 'X-Page-Size', 'X-Has-More']],
    ['/api/v1/wallets', [...PAGE, 'X-Page-Size', 'X-Has-More']],
    ['/api/v1/countries', []],
  ])('GET %s', async (path, names) => {
    expect(await namesIn('GET', path)).toEqual(expect.arrayContaining([...ALWAYS, ...names]))
  })

  test('the time for which a connection may be idle is longer than that of load balancers, 60 s', async () => {
    const { headers } = await ask(server.url, 'GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(Number(/^timeout=(\d+)$/.exec(headers['Keep-Alive'] ?? '')?.[1])).toBeGreaterThanOrEqual(65)
  })

  test('of a charge, a replay and errors', async () => {
    const charge = '{"denomination":100,"quantity":1}'
    expect(await namesIn('POST', '/api/v1/products/1/charges', [], charge)).toContain('X-Cache')
    const key = ['Idempotency-Key: as-documented']
    await namesIn('POST', '/api/v1/beneficiaries', key, ADA)
    expect(await namesIn('POST', '/api/v1/beneficiaries', key, ADA)).toContain('Idempotent-Replayed')
    const limited = ['X-Sandbox-Fault: rate_limited']
    expect(await namesIn('GET', '/api/v1/countries', limited)).toEqual(
      expect.arrayContaining([...ALWAYS, 'Retry-After']),
    )
    expect(await namesIn('GET', '/api/v1/countries', ['X-Sandbox-Fault: unauthorized'])).toContain('WWW-Authenticate')
  })
})

test.each(['/status', '/api/v1/countries', '/docs', '/api/v1/products/1/card.svg'])(
  'HEAD %s has the headers of GET, the date too',
  async (path) => {
    const headersOf = async (method: string) => {
      const { 'x-request-id': _, date, ...headers } = (await fetch(server.url + path, { method })).headers.toJSON()
      expect(Math.abs(Date.parse(String(date)) - Date.now())).toBeLessThan(60_000)
      return headers
    }
    expect(await headersOf('HEAD')).toEqual(await headersOf('GET'))
  },
)

test('HEAD has the status and the headers of GET for a client with a token, and for one without the feature', async () => {
  for (const [name, status] of [
    ['sandbox', 200],
    ['limited', 403],
  ] as const) {
    const login = await fetch(`${server.url}/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: name, password: name }),
    })
    const { access_token: token } = (await login.json()) as { access_token: string }
    const responseTo = async (method: string) => {
      const response = await fetch(`${server.url}/api/v1/categories`, {
        method,
        headers: { Authorization: `Bearer ${token}` },
      })
      const headers = response.headers.toJSON()
      for (const name of ['x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'date']) delete headers[name]
      return { status: response.status, headers, length: (await response.text()).length }
    }
    const get = await responseTo('GET')
    expect(get.status).toBe(status)
    expect(await responseTo('HEAD')).toEqual({ ...get, length: 0 })
  }
})
