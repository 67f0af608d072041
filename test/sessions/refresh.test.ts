import { describe, expect, test } from 'bun:test'
import { NOT_UNICODE, structured, UNREADABLE, validation } from '../errors.ts'
import { expectResponse, forFile, startServer, testIn } from '../harness.ts'
import { loggedIn, post, refresh, statusWith, type TokenPair } from './requests.ts'

const server = forFile(await startServer())
const inWorld = testIn(() => server.world())

const INVALID_TOKEN = structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid refresh token')

const refreshed = async (token: string): Promise<TokenPair> => {
  const response = await refresh(server, token)
  expect(response.status).toBe(200)
  return (await response.json()) as TokenPair
}

const expectRefused = async (token: string): Promise<void> => {
  const response = await refresh(server, token)
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('Bearer')
  expect(await response.json()).toEqual(INVALID_TOKEN)
}

describe('POST /auth/refresh', () => {
  test('200 returns a new pair of tokens', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const first = await loggedIn(server, `sbx_${world.name}`)
    await world.clock({ advance: 'PT30M' })
    const response = await refresh(server, first.refresh_token)
    expect(response.status).toBe(200)
    const second = (await response.json()) as TokenPair
    expect(second).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      access_expires_at: '2030-01-01T01:30:00.000Z',
      refresh_expires_at: '2030-01-08T00:30:00.000Z',
      client_id: 1,
      token_type: 'Bearer',
      expires_in: 3600,
    })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(second.access_token).not.toBe(first.access_token)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect(await statusWith(server, second.access_token)).toBe(200)
  })

  test('the previous access token is valid until it expires', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const first = await loggedIn(server, `sbx_${world.name}`)
    await refreshed(first.refresh_token)
    expect(await statusWith(server, first.access_token)).toBe(200)
    await world.clock({ advance: 'PT1H' })
    expect(await statusWith(server, first.access_token)).toBe(401)
  })

  test('a login can be refreshed repeatedly', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    let pair = await loggedIn(server, `sbx_${world.name}`)
    for (let i = 0; i < 3; i++) {
      await world.clock({ advance: 'P6D' })
      pair = await refreshed(pair.refresh_token)
    }
    expect(pair.refresh_expires_at).toBe('2030-01-26T00:00:00.000Z')
    expect(await statusWith(server, pair.access_token)).toBe(200)
  })

  inWorld('a used refresh token is invalid, and using it again revokes its login', async (world) => {
    const first = await loggedIn(server, `sbx_${world.name}`)
    const second = await refreshed(first.refresh_token)
    const third = await refreshed(second.refresh_token)
    for (const { access_token } of [first, second, third]) expect(await statusWith(server, access_token)).toBe(200)
    await expectRefused(first.refresh_token)
    await expectRefused(third.refresh_token)
    for (const { access_token } of [first, second, third]) expect(await statusWith(server, access_token)).toBe(401)
  })

  inWorld('does not revoke another login of the client', async (world) => {
    const stolen = await loggedIn(server, `sbx_${world.name}`)
    const other = await loggedIn(server, `sbx_${world.name}`)
    await refreshed(stolen.refresh_token)
    await expectRefused(stolen.refresh_token)
    expect(await statusWith(server, other.access_token)).toBe(200)
    await refreshed(other.refresh_token)
  })

  inWorld('of two simultaneous uses one succeeds, and the login is revoked', async (world) => {
    const { refresh_token } = await loggedIn(server, `sbx_${world.name}`)
    const responses = await Promise.all([refresh(server, refresh_token), refresh(server, refresh_token)])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401])
    const winner = responses.find(({ status }) => status === 200)
    const pair = (await winner?.json()) as TokenPair
    await expectRefused(pair.refresh_token)
    expect(await statusWith(server, pair.access_token)).toBe(401)
  })

  inWorld('refuses an access token, and revokes nothing', async (world) => {
    const pair = await loggedIn(server, `sbx_${world.name}`)
    await expectRefused(pair.access_token)
    expect(await statusWith(server, pair.access_token)).toBe(200)
    await refreshed(pair.refresh_token)
  })

  inWorld('a refresh token is not an access token, and is not used up by trying', async (world) => {
    const pair = await loggedIn(server, `sbx_${world.name}`)
    expect(await statusWith(server, pair.refresh_token)).toBe(401)
    await refreshed(pair.refresh_token)
  })

  test("expires by its world's clock", async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const [early, late] = [await loggedIn(server, `sbx_${world.name}`), await loggedIn(server, `sbx_${world.name}`)]
    await world.clock({ advance: 'P6DT23H59M59.999S' })
    await refreshed(early.refresh_token)
    await world.clock({ advance: 'PT0.001S' })
    await expectRefused(late.refresh_token)
  })

  test.each([
    ['a word', 'nonsense'],
    ['three words', 'a.b.c'],
    ['an unsecured token', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'],
    ['a token with a space', 'a.b.c d'],
    ['a very long word', 'x'.repeat(8_000)],
    ['an empty text', ''],
  ])('401 refuses %s', async (_, token) => {
    await expectRefused(token)
  })

  test.each([7, true, ['a.b.c'], { token: 'a.b.c' }])('401 refuses %p, which is not text', async (token) => {
    await expectResponse(refresh(server, token), 401, INVALID_TOKEN)
  })

  test.each(['a.b\0.c', '\ud800', 'x\udc00y'])(
    '400 names the field for %p, which is not valid Unicode',
    async (token) => {
      await expectResponse(refresh(server, token), 400, validation('refresh_token', 'format', NOT_UNICODE))
    },
  )

  inWorld('401 refuses a token whose signature was changed', async (world) => {
    const { refresh_token } = await loggedIn(server, `sbx_${world.name}`)
    const [header, payload, signature = ''] = refresh_token.split('.')
    const changed = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
    await expectRefused(`${header}.${payload}.${changed}`)
    await refreshed(refresh_token)
  })

  test.each([
    ['missing', {}],
    ['null', { refresh_token: null }],
  ])('400 if the token is %s', async (_, body) => {
    const response = await post(server, '/auth/refresh', body)
    await expectResponse(
      response,
      400,
      structured('ValidationException', 'VALIDATION_FAILURE', 'Refresh token is required', {
        refresh_token: [{ rule: 'required', field: 'refresh_token', message: 'The refresh_token field is required.' }],
      }),
    )
  })

  test.each(['', 'refresh_token=x', '[]', 'null', '"x"', JSON.stringify({ refresh_token: 'x'.repeat(8_192) })])(
    '400 refuses %p as a body',
    async (body) => {
      await expectResponse(post(server, '/auth/refresh', body), 400, UNREADABLE)
    },
  )
})
