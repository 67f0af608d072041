import { describe, expect, test } from 'bun:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { NOT_UNICODE, structured, tooMany, UNREADABLE, validations } from '../errors.ts'
import { expectResponse, forFile, startServer } from '../harness.ts'
import { loggedIn, login, post, statusWith, type TokenPair } from './requests.ts'

const server = forFile(await startServer())

const INVALID_CREDENTIALS = structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid credentials')
/** A valid login in a body of this number of bytes. */
const loginOfBytes = (byteCount: number): string => {
  const body = { username: 'sandbox', password: 'sandbox', note: '' }
  return JSON.stringify({ ...body, note: 'x'.repeat(byteCount - JSON.stringify(body).length) })
}
const TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)

describe('POST /auth/login', () => {
  test('200 returns two tokens, their expiry and their client', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const response = await login(server, `sbx_${world.name}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({
      access_token: TOKEN,
      refresh_token: TOKEN,
      access_expires_at: '2030-01-01T01:00:00.000Z',
      refresh_expires_at: '2030-01-08T00:00:00.000Z',
      client_id: 1,
      token_type: 'Bearer',
      expires_in: 3600,
    })
  })

  test('the access token is an HS256 JWT with sub, jti, iat and exp', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const { access_token } = await loggedIn(server, `sbx_${world.name}`)
    expect(decodeProtectedHeader(access_token)).toMatchObject({ alg: 'HS256' })
    expect(decodeJwt(access_token)).toMatchObject({
      sub: '1',
      jti: expect.stringMatching(/^[0-9a-z]{20,}$/),
      iat: 1_893_456_000,
      exp: 1_893_459_600,
    })
  })

  test('no two tokens have the same jti, within one login or two', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const first = await loggedIn(server, `sbx_${world.name}`)
    const second = await loggedIn(server, `sbx_${world.name}`)
    const tokens = [first.access_token, first.refresh_token, second.access_token, second.refresh_token]
    expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(4)
  })

  test('the sandbox has the clients sandbox and limited from the start', async () => {
    const sandbox = await loggedIn(server, 'sandbox', 'sandbox')
    const limited = await loggedIn(server, 'limited', 'limited')
    expect([sandbox.client_id, limited.client_id]).toEqual([1, 2])
    expect(await statusWith(server, sandbox.access_token)).toBe(200)
    expect(await statusWith(server, limited.access_token)).toBe(200)
  })

  test('ignores unknown members and the content type', async () => {
    const body = JSON.stringify({ username: 'sandbox', password: 'sandbox', grant_type: 'password' })
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      expect((await post(server, '/auth/login', body, { 'content-type': type })).status).toBe(200)
    }
  })

  test('--access-ttl and --refresh-ttl set the lifetime of tokens', async () => {
    await using brief = await startServer('--access-ttl', '90s', '--refresh-ttl', '2h')
    const world = await brief.world('2030-01-01T00:00:00Z')
    const pair = await loggedIn(brief, `sbx_${world.name}`)
    expect(pair).toMatchObject({
      access_expires_at: '2030-01-01T00:01:30.000Z',
      refresh_expires_at: '2030-01-01T02:00:00.000Z',
      expires_in: 90,
    })
    await world.clock({ advance: 'PT1M29.999S' })
    expect(await statusWith(brief, pair.access_token)).toBe(200)
    await world.clock({ advance: 'PT0.001S' })
    expect(await statusWith(brief, pair.access_token)).toBe(401)
  })

  const required = (field: string) => [{ rule: 'required', field, message: `The ${field} field is required.` }]
  const empty = (field: string) => [
    { rule: 'min', field, message: `The ${field} field must be at least 1 character long.` },
  ]
  const noString = (field: string) => [{ rule: 'string', field, message: `The ${field} field must be a string.` }]

  test.each([
    ['no members', {}, { username: required('username'), password: required('password') }],
    ['no username', { password: 'sandbox' }, { username: required('username') }],
    ['no password', { username: 'sandbox' }, { password: required('password') }],
    ['a null username', { username: null, password: 'sandbox' }, { username: required('username') }],
    ['a null password', { username: 'sandbox', password: null }, { password: required('password') }],
    ['an empty username', { username: '', password: 'sandbox' }, { username: empty('username') }],
    ['an empty password', { username: 'sandbox', password: '' }, { password: empty('password') }],
    ['a number as username', { username: 7, password: 'sandbox' }, { username: noString('username') }],
    ['a list as password', { username: 'sandbox', password: ['sandbox'] }, { password: noString('password') }],
    ['two empty ones', { username: '', password: '' }, { username: empty('username'), password: empty('password') }],
  ])('400 names the error in %s', async (_, body, messages) => {
    await expectResponse(
      post(server, '/auth/login', body),
      400,
      structured('ValidationException', 'VALIDATION_FAILURE', 'Username and password are required', messages),
    )
  })

  test.each([
    ['an empty body', ''],
    ['one that is not JSON', 'username=sandbox&password=sandbox'],
    ['half of one', '{"username":"sandbox"'],
    ['a list', '[]'],
    ['a string', '"sandbox"'],
    ['null', 'null'],
    ['one over 8 KiB', loginOfBytes(8_193)],
    ['one over 1 MiB', loginOfBytes(1_048_577)],
    ['one nested deeper than 32', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`],
  ])('400 refuses %s', async (_, body) => {
    await expectResponse(post(server, '/auth/login', body), 400, UNREADABLE)
  })

  test('200 accepts a body of 8 KiB', async () => {
    expect((await post(server, '/auth/login', loginOfBytes(8_192))).status).toBe(200)
  })

  test.each(['/auth/login', '/auth/refresh'])('400 for %s is sent after 8 KiB, before the body ends', async (path) => {
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_024).fill(0x20)) })
    await expectResponse(server.request(path, { method: 'POST', body: endless }), 400, UNREADABLE)
  })

  test.each([
    ['NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud83d'],
  ])('400 names the field that contains %s', async (_, text) => {
    const refused = validations(['username', 'format', NOT_UNICODE], ['password', 'format', NOT_UNICODE])
    await expectResponse(login(server, text, text), 400, refused)
  })

  test('400 refuses a body that is not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"username":"'), Buffer.from([0xff]), Buffer.from('","password":"x"}')])
    await expectResponse(server.request('/auth/login', { method: 'POST', body }), 400, UNREADABLE)
  })

  test.each([
    ['a wrong password', 'sandbox', 'wrong'],
    ['the password in other letters', 'sandbox', 'Sandbox'],
    ['the password and a space', 'sandbox', 'sandbox '],
    ['the name in other letters', 'Sandbox', 'sandbox'],
    ['the password of another client', 'limited', 'sandbox'],
    ['an unknown client', 'nobody', 'sandbox'],
    ['a name that would break a query', "' OR 1=1 --", 'sandbox'],
    ['a name of the prototype', '__proto__', 'sandbox'],
    ['a name of 129 characters', 'n'.repeat(129), 'sandbox'],
    ['a password of 257 characters', 'sandbox', 'p'.repeat(257)],
  ])('401 is identical for %s', async (_, username, password) => {
    const response = await login(server, username, password)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual(INVALID_CREDENTIALS)
  })

  test('a password has at most 256 code points, and a longer one creates no world', async () => {
    expect((await login(server, 'sbx_long-password', '\u{1f511}'.repeat(257))).status).toBe(401)
    const names = async () =>
      ((await (await server.request('/_sandbox/worlds')).json()) as { name: string }[]).map(({ name }) => name)
    expect(await names()).not.toContain('long-password')
    expect((await login(server, 'sbx_long-password', '\u{1f511}'.repeat(256))).status).toBe(200)
    expect(await names()).toContain('long-password')
  })

  test('takes no rate-limit token and has no rate-limit headers', async () => {
    for (const response of [await login(server, 'sandbox', 'sandbox'), await login(server, 'nobody', 'x')]) {
      expect(response.headers.get('x-ratelimit-limit')).toBeNull()
      expect(response.headers.get('x-ratelimit-remaining')).toBeNull()
      expect(response.headers.get('x-ratelimit-reset')).toBeNull()
    }
  })
})

describe('More than ten failed logins in a minute', () => {
  const failTimes = async (username: string, times: number, on = server): Promise<number[]> => {
    const statuses: number[] = []
    for (let i = 0; i < times; i++) statuses.push((await login(on, username, 'wrong')).status)
    return statuses
  }

  test('the eleventh is 429', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const name = `sbx_${world.name}`
    expect(await failTimes(name, 10)).toEqual(Array(10).fill(401))
    for (let i = 0; i < 2; i++) {
      const response = await login(server, name, 'wrong')
      expect(response.status).toBe(429)
      expect(response.headers.get('retry-after')).toBe('60')
      expect(await response.json()).toEqual(tooMany(60))
    }
  })

  test('the right password is accepted and does not change the count', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const name = `sbx_${world.name}`
    expect(await failTimes(name, 11)).toEqual([...Array(10).fill(401), 429])
    const pair = await loggedIn(server, name)
    expect(await statusWith(server, pair.access_token)).toBe(200)
    expect(await failTimes(name, 1)).toEqual([429])
  })

  test('ends after a minute of the world, which refusals do not extend', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const name = `sbx_${world.name}`
    await failTimes(name, 10)
    await world.clock({ advance: 'PT59.999S' })
    const refused = await login(server, name, 'wrong')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    await world.clock({ advance: 'PT0.001S' })
    expect(await failTimes(name, 11)).toEqual([...Array(10).fill(401), 429])
  })

  test('the minute slides: each failure counts for its own sixty seconds', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const name = `sbx_${world.name}`
    await failTimes(name, 5)
    await world.clock({ advance: 'PT30S' })
    await failTimes(name, 5)
    const refused = await login(server, name, 'wrong')
    expect(refused.headers.get('retry-after')).toBe('30')
    expect(await refused.json()).toEqual(tooMany(30))
    await world.clock({ advance: 'PT30S' })
    expect(await failTimes(name, 6)).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('a right password in between does not reset the count', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const name = `sbx_${world.name}`
    await failTimes(name, 9)
    expect((await login(server, name)).status).toBe(200)
    expect(await failTimes(name, 2)).toEqual([401, 429])
  })

  test("affects one username: neither the world's other client nor another world", async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const other = await server.world()
    expect((await failTimes(`sbx_${world.name}`, 11)).at(-1)).toBe(429)
    expect(await failTimes(`sbx_${world.name}.limited`, 1)).toEqual([401])
    expect(await failTimes(`sbx_${other.name}`, 1)).toEqual([401])
  })

  test('unknown names are limited too, so that a limit reveals no name', async () => {
    expect((await failTimes('nobody-at-all', 11)).at(-1)).toBe(429)
    expect((await login(server, 'nobody-else', 'wrong')).status).toBe(401)
  })

  test('--rate-limit off removes it', async () => {
    await using open = await startServer('--rate-limit', 'off')
    const world = await open.world('2030-01-01T00:00:00Z')
    expect(await failTimes(`sbx_${world.name}`, 12, open)).toEqual(Array(12).fill(401))
    const response = await login(open, `sbx_${world.name}`)
    expect(response.status).toBe(200)
    expect(((await response.json()) as TokenPair).client_id).toBe(1)
  })
})
