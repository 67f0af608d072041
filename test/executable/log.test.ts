import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { bearer, inFolder, loggedIn, login, type Running, start } from '../program.ts'

/** One line for each request, on standard error. */

interface Line {
  level: string
  message: string
  [fact: string]: unknown
}

/** A server logs its requests as JSON. */
const logged = async (work: (program: Running) => Promise<void>, ...flags: string[]): Promise<Line[]> => {
  const program = await start(['--log-format', 'json', '--log-level', 'info', ...flags])
  await work(program)
  const { stderr } = await program.stop()
  return stderr
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Line)
    .filter(({ message }) => message === 'request')
}

describe('a line for each request', () => {
  test('has only method, route, status, error, duration, request id, client and address', async () => {
    const lines = await logged(async (program) => {
      const { headers } = bearer(await loggedIn(program))
      const init = { headers: { ...headers, 'x-request-id': 'mine-1' } }
      await program.request('/api/v1/products/1?search=mug', init)
    })
    expect(lines).toHaveLength(2)
    expect(lines[1]).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: 'info',
      message: 'request',
      method: 'GET',
      route: '/api/v1/products/:id',
      status: 200,
      error: null,
      duration_ms: expect.any(Number),
      request_id: 'mine-1',
      client: 'sandbox',
      address: '127.0.0.1',
    })
    expect(lines[0]).toMatchObject({ method: 'POST', route: '/auth/login', status: 200, client: 'sandbox' })
  })

  test('has the traceparent of the request, if it is valid', async () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const lines = await logged(async (program) => {
      for (const traceparent of [trace, `${trace}\u00e9`, 'x'])
        await program.request('/status', { headers: { traceparent } })
    })
    expect(lines.map(({ traceparent }) => traceparent)).toEqual([trace, undefined, undefined])
  })

  test('is also written for errors, with the client if known', async () => {
    const lines = await logged(
      async (program) => {
        const init = bearer(await loggedIn(program))
        await program.request('/api/v1/countries/1', init)
        await program.request('/api/v1/countries/1', init)
        await program.request('/api/v1/countries/1')
        await program.request('/no/such/path', init)
        await program.request('/api/v1/no-such-path')
        await login(program, 'sandbox', 'wrong')
        await program.request('/auth/login', { method: 'POST', body: '{}' })
      },
      '--rate-limit',
      '1/h',
    )
    expect(lines.slice(1).map(({ route, status, error, client }) => [route, status, error, client])).toEqual([
      ['/api/v1/countries/:id', 200, null, 'sandbox'],
      ['/api/v1/countries/:id', 429, 'rate_limited', 'sandbox'],
      ['/api/v1/countries/:id', 401, 'unauthorized', null],
      [null, 404, 'route_not_found', null],
      [null, 401, 'unauthorized', null],
      ['/auth/login', 401, 'auth.credentials_wrong', null],
      ['/auth/login', 400, 'auth.credentials_missing', null],
    ])
    expect(new Set(lines.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']))
  })

  test('contains no secret and no text of a client', async () => {
    const program = await start(['--log-format', 'json', '--log-level', 'debug'])
    const pair = await loggedIn(program)
    const { headers } = bearer(pair)
    await login(program, 'sandbox', 'not-the-password')
    await login(program, 'typed-a-password-here', 'x')
    await program.request('/auth/refresh', { method: 'POST', body: JSON.stringify(pair) })
    await program.request('/api/v1/products?search=in-the-query', { headers })
    await program.request('/api/v1/in-the-path?x=in-the-query', {
      headers: { ...headers, 'x-request-id': 'in the\tid' },
    })
    await program.request('/api/v1/beneficiaries', {
      method: 'POST',
      headers,
      body: '{"email":"in-the-body@example.com"}',
    })
    const { stderr } = await program.stop()
    expect(stderr.match(/"message":"request"/g)).toHaveLength(7)
    for (const secret of [pair.access_token, pair.refresh_token, 'not-the', 'typed', 'in-the', 'in the']) {
      expect(stderr).not.toContain(secret)
    }
  })

  test('is written for health probes only at the lowest level', async () => {
    const ask = async (program: Running) => {
      for (const path of ['/livez', '/readyz', '/status']) await program.request(path)
    }
    const routesOf = (lines: Line[]) => lines.map(({ level, route }) => `${level} ${route}`)
    expect(routesOf(await logged(ask))).toEqual(['info /status'])
    expect(routesOf(await logged(ask, '--log-level', 'debug'))).toEqual([
      'debug /livez',
      'debug /readyz',
      'info /status',
    ])
  })

  test('is readable on a terminal', async () => {
    const program = await start(['--log-level', 'info'])
    await program.request('/api/v1/countries/1', bearer(await loggedIn(program)))
    await program.request('/nowhere')
    const lines = (await program.stop()).stderr.split('\n')
    expect(lines[1]).toMatch(
      /^\S+Z info {2}POST {3}200 +\d+\.\d ms {2}\/auth\/login request_id=req_\w+ client=sandbox address=127\.0\.0\.1$/,
    )
    expect(lines[2]).toMatch(
      /^\S+Z info {2}GET {4}200 +\d+\.\d ms {2}\/api\/v1\/countries\/:id request_id=\w+ client=sandbox address=127\.0\.0\.1$/,
    )
    expect(lines[3]).toMatch(
      /^\S+Z info {2}GET {4}404 +\d+\.\d ms {2}\(no route\) error=route_not_found request_id=req_\w+ address=127\.0\.0\.1$/,
    )
  })
})

test.skipIf(!Bun.which('mkfifo'))('a log that nobody reads neither stops the server nor fills its memory', () =>
  inFolder(async (folder) => {
    const pipe = join(folder, 'log')
    spawnSync('mkfifo', [pipe])
    const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    const through = ['sh', '-c', 'exec "$@" 2>"$0"', pipe]
    const flags = ['--log-format', 'json', '--log-level', 'info', '--rate-limit', 'off']
    await using server = await start(flags, { through })
    const ask = async (id: string) => (await server.request('/nowhere', { headers: { 'x-request-id': id } })).status
    for (let round = 0; round < 100; round++) {
      const statuses = await Promise.all(Array.from({ length: 100 }, () => ask('unread')))
      expect(new Set(statuses)).toEqual(new Set([404]))
    }
    let text = readAvailable(end)
    while (!text.includes('"request_id":"read"')) {
      await ask('read')
      text += readAvailable(end)
    }
    expect(text.length).toBeWithin(2 ** 20, 1.25 * 2 ** 20)
    closeSync(end)
  }),
)

const readAvailable = (file: number): string => {
  const piece = Buffer.alloc(65_536)
  try {
    return piece.toString('latin1', 0, readSync(file, piece)) + readAvailable(file)
  } catch {
    return '' // nothing waits
  }
}
