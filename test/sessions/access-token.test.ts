import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { UNAUTHORIZED } from '../errors.ts'
import { forFile, startServer, testIn } from '../harness.ts'
import { folderOfFile } from '../program.ts'
import { loggedIn, refresh, statusWith, withAuthorization } from './requests.ts'

// With a data folder the signing key is in a file, so that tokens can be forged with the right key.
const folder = folderOfFile()
const server = forFile(await startServer('--data-dir', folder))
const inWorld = testIn(() => server.world())
const key: Uint8Array = readFileSync(join(folder, 'signing.key'))
afterAll(() => {})

const expectUnauthorized = async (response: Response, challenge: string): Promise<void> => {
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe(challenge)
  expect(response.headers.get('x-ratelimit-limit')).toBeNull()
  expect(await response.json()).toEqual(UNAUTHORIZED)
}

const expectRefused = async (token: string): Promise<void> =>
  expectUnauthorized(await withAuthorization(server, `Bearer ${token}`), 'Bearer error="invalid_token"')

describe('The Authorization header of a protected route', () => {
  test('401 requires a bearer token if there is none', async () => {
    await expectUnauthorized(await server.request('/api/v1/countries/1'), 'Bearer')
  })

  test.each([
    ['another scheme', () => 'Basic c2FuZGJveDpzYW5kYm94'],
    ['another scheme with a good token', (token: string) => `Token ${token}`],
    ['a good token without a scheme', (token: string) => token],
    ['a scheme that only begins like it', (token: string) => `Bearerx ${token}`],
    ['the scheme alone', () => 'Bearer'],
  ])('401 requires a bearer token if it is sent %s', async (_, header) => {
    const world = await server.world()
    await expectUnauthorized(await withAuthorization(server, header(world.token)), 'Bearer')
  })

  test.each([
    ['a word', () => 'Bearer nonsense'],
    ['three words', () => 'Bearer a.b.c'],
    ['empty parts', () => 'Bearer ..'],
    ['two good tokens', (token: string) => `Bearer ${token} ${token}`],
    ['a good token in quotes', (token: string) => `Bearer "${token}"`],
    ['a good token and a comma', (token: string) => `Bearer ${token}, Basic x`],
    ['a good token and more', (token: string) => `Bearer ${token}x`],
  ])('401 for a token that is %s', async (_, header) => {
    const world = await server.world()
    await expectUnauthorized(await withAuthorization(server, header(world.token)), 'Bearer error="invalid_token"')
  })

  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('200 with the scheme as %s', async (scheme) => {
    const world = await server.world()
    expect((await withAuthorization(server, `${scheme} ${world.token}`)).status).toBe(200)
  })

  inWorld('a token in the query or a cookie is ignored', async (world) => {
    const path = `/api/v1/countries/1?access_token=${world.token}`
    await expectUnauthorized(
      await server.request(path, { headers: { cookie: `access_token=${world.token}` } }),
      'Bearer',
    )
  })
})

const claims = (token: string): JWTPayload => decodeJwt(token)
const sign = (payload: JWTPayload, secret: Uint8Array = key, alg = 'HS256') =>
  new SignJWT(payload).setProtectedHeader({ alg }).sign(secret)

describe('A refresh token', () => {
  inWorld('401 if it names a client that has not logged in', async (world) => {
    const { refresh_token } = await loggedIn(server, `sbx_${world.name}`)
    expect((await refresh(server, await sign({ ...claims(refresh_token), sub: '2' }))).status).toBe(401)
    expect((await refresh(server, await sign(claims(refresh_token)))).status).toBe(200)
  })
})

describe('An access token', () => {
  inWorld('is valid if the right key signs the same claims again', async (world) => {
    expect(await statusWith(server, await sign(claims(world.token)))).toBe(200)
  })

  inWorld('401 if its signature was changed', async (world) => {
    const [header, payload, signature = ''] = world.token.split('.')
    await expectRefused(`${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`)
  })

  inWorld('401 if its claims were changed', async (world) => {
    const [header, , signature] = world.token.split('.')
    const payload = Buffer.from(JSON.stringify({ ...claims(world.token), sub: '2' })).toString('base64url')
    await expectRefused(`${header}.${payload}.${signature}`)
  })

  inWorld('401 without a signature, with the algorithm none', async (world) => {
    const unsecured = new UnsecuredJWT(claims(world.token)).encode()
    await expectRefused(unsecured)
    await expectRefused(`${unsecured}${world.token.split('.')[2]}`)
  })

  inWorld('401 if another key signed it', async (world) => {
    await expectRefused(await sign(claims(world.token), new Uint8Array(32)))
  })

  test.each(['HS384', 'HS512'])('401 if the right key signed it with %s', async (alg) => {
    const world = await server.world()
    await expectRefused(await sign(claims(world.token), key, alg))
  })

  test.each(['exp', 'sub', 'jti', 'iat'])('401 if it has no %s', async (claim) => {
    const world = await server.world()
    const { [claim]: _, ...rest } = claims(world.token)
    await expectRefused(await sign(rest))
  })

  test.each([
    ['a client that there is not', { sub: '99' }],
    ['a client that is none', { sub: 'one' }],
    ['the other client, who did not log in', { sub: '2' }],
  ])('401 if it names %s', async (_, change) => {
    const world = await server.world()
    await expectRefused(await sign({ ...claims(world.token), ...change }))
  })

  test("401 from the millisecond of its expiry, by its world's clock", async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    await world.clock({ advance: 'PT59M59.999S' })
    expect(await statusWith(server, world.token)).toBe(200)
    await world.clock({ advance: 'PT0.001S' })
    await expectRefused(world.token)
  })

  inWorld('401 on a server with another key', async (world) => {
    await using stranger = await startServer()
    const sameName = await stranger.world()
    expect(await statusWith(stranger, sameName.token)).toBe(200)
    expect(await statusWith(stranger, world.token)).toBe(401)
  })
})
