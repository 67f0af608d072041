import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { structured } from '../errors.ts'
import { expectResponse, type Server, startServer } from '../harness.ts'

const FOREIGN = structured('ForbiddenError', 'FORBIDDEN', 'The sandbox is not open to other sites')
const NEEDS_TOKEN = structured(
  'UnauthorizedError',
  'UNAUTHORIZED',
  'The sandbox needs the header X-Sandbox-Token with the token of --sandbox-token',
)

const ROUTES: [method: string, path: string][] = [
  ['GET', '/_sandbox/clock'],
  ['POST', '/_sandbox/clock'],
  ['POST', '/_sandbox/reset'],
]

/** Asks each route: a move of the clock, where a body belongs. */
const askAll = async (server: Server, headers: Record<string, string>): Promise<Response[]> => {
  const responses: Response[] = []
  for (const [method, path] of ROUTES) {
    const body = path.endsWith('clock') ? '{"now":"2040-01-01T00:00:00Z"}' : ''
    responses.push(await server.request(path, { method, headers, ...(method === 'POST' && { body }) }))
  }
  return responses
}

const expectAll = async (responses: Response[], status: number, body: object): Promise<void> => {
  for (const response of responses) await expectResponse(response, status, body)
}

const statuses = (responses: Response[]) => responses.map(({ status }) => status)

describe('The control API on loopback', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  const clock = async () => (await server.request('/_sandbox/clock')).json() as Promise<{ now: string }>

  test('is open', async () => {
    expect(statuses(await askAll(server, {}))).toEqual([200, 200, 200])
  })

  test('is open to its own pages', async () => {
    expect(statuses(await askAll(server, { origin: new URL(server.url).origin }))).toEqual([200, 200, 200])
  })

  test.each([
    'http://evil.example',
    'https://evil.example:4747',
    'http://localhost:1',
    'http://127.0.0.1.evil.example',
    'null',
    'nonsense',
    '',
  ])('403 refuses pages of the origin %p and changes nothing', async (origin) => {
    await expectAll(await askAll(server, { origin }), 403, FOREIGN)
    expect((await clock()).now < '2040').toBe(true)
  })

  test.each(['evil.example', 'evil.example:4747', '127.0.0.1.evil.example', 'localhost.evil.example', '192.168.1.7'])(
    '403 refuses requests to %s, by a page of its own too, and changes nothing',
    async (host) => {
      await expectAll(await askAll(server, { host }), 403, FOREIGN)
      await expectAll(await askAll(server, { host, origin: `http://${host}` }), 403, FOREIGN)
      expect((await clock()).now < '2040').toBe(true)
    },
  )

  test.each([
    ['POST', '/auth/login'],
    ['POST', '/auth/refresh-token'],
    ['GET', '/api/v1/countries'],
    ['POST', '/api/v1/webhooks'],
    ['GET', '/api/v1/nothing'],
    ['GET', '/_sandbox/console'],
    ['GET', '/_sandbox/console/page.js'],
  ])('403 refuses DNS rebinding: %s %s', async (method, path) => {
    for (const host of ['evil.example:4747', '127.0.0.1.evil.example', '192.168.1.7']) {
      const body = JSON.stringify({ username: 'sandbox', password: 'sandbox' })
      const headers = { host, origin: `http://${host}`, 'content-type': 'application/json' }
      await expectResponse(server.request(path, { method, headers, ...(method === 'POST' && { body }) }), 403, FOREIGN)
    }
  })

  test.each(['localhost', 'api.localhost:4747', '127.0.0.1:1'])('logs in under the name %s', async (host) => {
    const body = JSON.stringify({ username: 'sandbox', password: 'sandbox' })
    const headers = { host, 'content-type': 'application/json' }
    expect((await server.request('/auth/login', { method: 'POST', headers, body })).status).toBe(200)
  })

  test.each(['localhost', 'LOCALHOST:4747', 'scrip.localhost', '127.0.0.1', '127.1.2.3:80', '[::1]:4747'])(
    '200 for requests to %s',
    async (host) => {
      expect((await server.request('/_sandbox/clock', { headers: { host } })).status).toBe(200)
    },
  )

  const logIn = (name: string, headers: Record<string, string>) =>
    server.request('/auth/login', {
      method: 'POST',
      headers,
      body: JSON.stringify({ username: `sbx_${name}`, password: 'a password' }),
    })
  const worldNames = async () =>
    ((await (await server.request('/_sandbox/worlds')).json()) as { name: string }[]).map(({ name }) => name)

  test.each([
    ['of another origin', { origin: 'http://evil.example' }],
    ['of an origin that is none', { origin: 'null' }],
    ['that has its name resolve here', { host: 'evil.example:4747', origin: 'http://evil.example:4747' }],
    ['sent to another host', { host: 'evil.example' }],
  ])('403 refuses a login that would create a world from a page %s', async (_, headers) => {
    await expectResponse(logIn('of-a-stranger', headers), 403, FOREIGN)
    expect(await worldNames()).not.toContain('of-a-stranger')
    await server.world()
    // A page of another origin cannot read what it gets from a world that exists; one whose name resolves here could.
    expect((await logIn('test-1', headers)).status).toBe('host' in headers ? 403 : 200)
  })

  test('a login from its own pages creates a world', async () => {
    expect((await logIn('of-our-own', { origin: new URL(server.url).origin })).status).toBe(200)
    expect(await worldNames()).toContain('of-our-own')
  })

  test('other routes accept any origin', async () => {
    const headers = { origin: 'http://evil.example', host: 'evil.example' }
    expect((await server.request('/status', { headers })).status).toBe(200)
  })

  test('the access check precedes all others', async () => {
    await expectResponse(
      server.request('/_sandbox/clock?world=nowhere', {
        method: 'POST',
        body: 'not JSON',
        headers: { origin: 'http://evil.example' },
      }),
      403,
      FOREIGN,
    )
  })
})

describe.each([
  ['bound elsewhere', false, ['--host', '0.0.0.0', '--sandbox-token', 'open sesame']],
  ['on loopback', true, ['--sandbox-token', 'open sesame']],
])('The control API with --sandbox-token, %s', (_, isLoopback, flags) => {
  let server: Server
  beforeAll(async () => {
    server = await startServer(...flags)
  })
  afterAll(() => server.stop())

  test('401 without the token', async () => {
    await expectAll(await askAll(server, {}), 401, NEEDS_TOKEN)
  })

  test.each(['', 'open', 'open sesame!', 'Open Sesame', 'Bearer open sesame'])('401 with %p', async (token) => {
    await expectAll(await askAll(server, { 'x-sandbox-token': token }), 401, NEEDS_TOKEN)
  })

  test('401 with the token in the Authorization header', async () => {
    await expectAll(await askAll(server, { authorization: 'Bearer open sesame' }), 401, NEEDS_TOKEN)
  })

  test('with the token, any host name elsewhere and no foreign one on loopback', async () => {
    const headers = { 'x-sandbox-token': 'open sesame', host: 'sandbox.example' }
    const responses = await askAll(server, headers)
    if (isLoopback) await expectAll(responses, 403, FOREIGN)
    else expect(statuses(responses)).toEqual([200, 200, 200])
  })

  test('403 for another site even with the token', async () => {
    const headers = { 'x-sandbox-token': 'open sesame', origin: 'http://evil.example' }
    await expectAll(await askAll(server, headers), 403, FOREIGN)
  })

  test('the API itself does not need the token', async () => {
    const login = { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' }
    expect((await server.request('/auth/login', login)).status).toBe(200)
  })
})

describe('A login that would create a world', () => {
  const logIn = (server: Server, name: string, headers: Record<string, string>) =>
    server.request('/auth/login', { method: 'POST', headers, body: `{"username":"sbx_${name}","password":"x"}` })

  test('may use the name of --public-url', async () => {
    await using server = await startServer('--public-url', 'https://scrip.example')
    const origin = 'https://scrip.example'
    expect((await logIn(server, 'public', { host: 'scrip.example', origin })).status).toBe(200)
    expect((await logIn(server, 'other', { host: 'other.example' })).status).toBe(403)
  })

  test('may use any name if the server is not on loopback, but not from a page of another site', async () => {
    await using server = await startServer('--host', '0.0.0.0')
    expect((await logIn(server, 'container', { host: 'scrip:4747' })).status).toBe(200)
    const headers = { host: 'scrip:4747', origin: 'http://evil.example' }
    expect((await logIn(server, 'other', headers)).status).toBe(403)
  })
})

describe('The control API on another address without a token', () => {
  test('401 for every request', async () => {
    await using server = await startServer('--host', '0.0.0.0')
    await expectAll(await askAll(server, {}), 401, NEEDS_TOKEN)
    await expectAll(await askAll(server, { 'x-sandbox-token': '' }), 401, NEEDS_TOKEN)
    await expectAll(await askAll(server, { host: 'localhost' }), 401, NEEDS_TOKEN)
  })
})
