import { describe, expect } from 'bun:test'
import { structured, UNAUTHORIZED } from '../errors.ts'
import { expectResponse, forFile, startServer, testIn } from '../harness.ts'
import { loggedIn, post, refresh, statusWith, type TokenPair } from './requests.ts'

const server = forFile(await startServer())
const inWorld = testIn(() => server.world())

describe('POST /auth/logout', () => {
  inWorld('200 with any body or none', async (world) => {
    for (const body of [undefined, '', '{}', 'not JSON', '[]']) {
      await expectResponse((await world.again()).post('/auth/logout', body), 200, {
        message: 'Successfully logged out',
      })
    }
  })

  inWorld('revokes all tokens of the client immediately', async (world) => {
    const name = `sbx_${world.name}`
    const pairs = [await loggedIn(server, name), await loggedIn(server, name), await loggedIn(server, name)]
    for (const { access_token } of pairs) expect(await statusWith(server, access_token)).toBe(200)
    await world.post('/auth/logout')
    expect(await statusWith(server, world.token)).toBe(401)
    for (const { access_token, refresh_token } of pairs) {
      expect(await statusWith(server, access_token)).toBe(401)
      const response = await refresh(server, refresh_token)
      await expectResponse(response, 401, structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid refresh token'))
    }
  })

  inWorld('revokes all earlier tokens, in any order with a refresh', async (world) => {
    const name = `sbx_${world.name}`
    for (let round = 0; round < 10; round++) {
      const pair = await loggedIn(server, name)
      const leave = () => post(server, '/auth/logout', '', { authorization: `Bearer ${pair.access_token}` })
      const renew = () => refresh(server, pair.refresh_token)
      const [renewed, left] =
        round % 2 === 0
          ? await Promise.all([renew(), leave()])
          : await Promise.all([leave(), renew()]).then(([one, other]) => [other, one] as const)
      expect(left.status).toBe(200)
      expect([200, 401]).toContain(renewed.status)
      if (renewed.status !== 200) continue
      const next = (await renewed.json()) as TokenPair
      expect(await statusWith(server, next.access_token)).toBe(401)
      expect((await refresh(server, next.refresh_token)).status).toBe(401)
    }
  })

  inWorld('a client can log in again, and its old tokens stay revoked', async (world) => {
    await world.post('/auth/logout')
    const back = await world.again()
    expect(await statusWith(server, back.token)).toBe(200)
    expect(await statusWith(server, world.token)).toBe(401)
  })

  inWorld('does not log out other clients or worlds', async (world) => {
    const limited = await world.limited()
    const other = await server.world()
    await world.post('/auth/logout')
    expect(await statusWith(server, limited.token)).toBe(200)
    expect(await statusWith(server, other.token)).toBe(200)
  })

  inWorld('401 without a token, with a revoked one, and with a refresh token, without effect', async (world) => {
    const { refresh_token } = await loggedIn(server, `sbx_${world.name}`)
    for (const headers of [{}, { authorization: 'Bearer a.b.c' }, { authorization: `Bearer ${refresh_token}` }]) {
      await expectResponse(post(server, '/auth/logout', '', headers), 401, UNAUTHORIZED)
    }
    expect(await statusWith(server, world.token)).toBe(200)
    expect((await refresh(server, refresh_token)).status).toBe(200)
  })
})
