import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { expectResponse, type Server, startServer, type TestWorld, testIn } from '../harness.ts'
import { ADA, NOON } from '../records.ts'
import { loggedIn, login, refresh, statusWith } from '../sessions/requests.ts'

const COUNT = 'x-total-count'

let server: Server
const atNoon = testIn(() => server.world(NOON))
const inWorld = testIn(() => server.world())
beforeEach(async () => {
  server = await startServer('--rate-limit', '20/h', '--seed', '7')
})
afterEach(() => server.stop())

const countOf = async (world: TestWorld) => (await world.get('/api/v1/beneficiaries')).headers.get(COUNT)

describe('POST /_sandbox/reset', () => {
  inWorld('200 deletes the data, as often as it is asked for', async (world) => {
    for (let time = 0; time < 3; time++) {
      const again = await world.again()
      await again.post('/api/v1/beneficiaries', ADA)
      expect(await countOf(again)).toBe('1')
      await expectResponse(world.control('/reset'), 200, { world: world.name })
      expect(await countOf(await world.again())).toBe('0')
    }
  })

  atNoon('sets the clock to the current time and starts it', async (world) => {
    await world.control('/reset')
    const response = await server.request(`/_sandbox/clock?world=${world.name}`)
    const { now, frozen } = (await response.json()) as { now: string; frozen: boolean }
    expect(frozen).toBe(false)
    expect(Date.parse(now)).toBeLessThan(Date.parse(NOON))
  })

  inWorld('revokes access and refresh tokens of both clients', async (world) => {
    const limited = await world.limited()
    const { refresh_token } = await loggedIn(server, `sbx_${world.name}`)
    await world.control('/reset')
    expect(await statusWith(server, world.token)).toBe(401)
    expect(await statusWith(server, limited.token)).toBe(401)
    expect((await refresh(server, refresh_token)).status).toBe(401)
  })

  atNoon('refills the rate limits, forgets failed logins and clears cached charges', async (world) => {
    const bought = { denomination: 100, quantity: 1 }
    const cache = async (asking: TestWorld) =>
      (await asking.post('/api/v1/products/1/charges', bought)).headers.get('x-cache')
    expect([await cache(world), await cache(world)]).toEqual(['MISS', 'HIT'])
    for (let i = 0; i < 18; i++) await world.get('/api/v1/countries/1')
    expect((await world.get('/api/v1/countries/1')).status).toBe(429)
    const name = `sbx_${world.name}`
    for (let i = 0; i < 10; i++) await login(server, name, 'wrong')
    expect((await login(server, name, 'wrong')).status).toBe(429)
    await world.control('/reset')
    expect((await login(server, name, 'wrong')).status).toBe(401)
    const again = await world.again()
    expect((await again.get('/api/v1/countries/1')).headers.get('x-ratelimit-remaining')).toBe('19')
    expect(await cache(again)).toBe('MISS')
  })

  inWorld('keeps the password of a named world, for both clients', async (world) => {
    await world.control('/reset')
    expect((await login(server, `sbx_${world.name}`, 'another')).status).toBe(401)
    expect((await login(server, `sbx_${world.name}.limited`, 'another')).status).toBe(401)
    expect((await login(server, `sbx_${world.name}`, 'a password')).status).toBe(200)
    expect((await login(server, `sbx_${world.name}.limited`, 'a password')).status).toBe(200)
  })

  test('requests in flight complete before it or get a 401', async () => {
    await using open = await startServer('--rate-limit', 'off')
    for (const headStart of [0, 5, 20, 80]) {
      const world = await open.world()
      expect((await world.get('/api/v1/countries/1')).status).toBe(200)
      const writes = Array.from({ length: 20 }, (_, i) =>
        world.post('/api/v1/beneficiaries', ADA, i % 2 ? { 'idempotency-key': `write no. ${i}` } : {}),
      )
      const read = world.get('/api/v1/beneficiaries')
      // In process, each turn lets them come a little further: to the body, to the queue of writes, to the response.
      for (let turn = 0; turn < headStart; turn++) await null
      const reset = await world.control('/reset')
      expect(reset.status).toBe(200)
      for (const { status } of await Promise.all(writes)) expect([201, 401]).toContain(status)
      expect([200, 401]).toContain((await read).status)
      expect(await countOf(await world.again())).toBe('0')
    }
  })

  test('resets the default world without ?world=, with its original passwords', async () => {
    const before = await loggedIn(server, 'sandbox', 'sandbox')
    const authorization = `Bearer ${before.access_token}`
    const create = { method: 'POST', headers: { authorization }, body: JSON.stringify(ADA) }
    expect((await server.request('/api/v1/beneficiaries', create)).status).toBe(201)
    await expectResponse(server.request('/_sandbox/reset', { method: 'POST' }), 200, { world: 'default' })
    expect(await statusWith(server, before.access_token)).toBe(401)
    const sandbox = await loggedIn(server, 'sandbox', 'sandbox')
    await loggedIn(server, 'limited', 'limited')
    const list = await server.request('/api/v1/beneficiaries', {
      headers: { authorization: `Bearer ${sandbox.access_token}` },
    })
    expect(list.headers.get(COUNT)).toBe('0')
  })
})
