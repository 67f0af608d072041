import { describe, expect, test } from 'bun:test'
import { UNAUTHORIZED } from '../errors.ts'
import { forFile, startServer, type TestWorld, testIn } from '../harness.ts'
import { type Held, holdBack } from '../held-body.ts'
import { ADA, HUNDRED, INSTANT } from '../records.ts'
import { loggedIn, refresh } from './requests.ts'

const server = forFile(await startServer('--rate-limit', '1000000/d'))

const PAYOUT = { ...HUNDRED, reference_id: 'held back' }

const sendHeld = (world: TestWorld, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Held> =>
  holdBack(
    body,
    (stream) => world.request(path, { method: 'POST', body: stream, headers }),
    () => world.get('/api/v1/countries/1'),
  )

const expectUnauthorized = async (response: Response): Promise<void> => {
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  expect(await response.json()).toEqual(UNAUTHORIZED)
}

/** The number of the client's records of each kind, and the amount that it can spend. */
const books = async (world: TestWorld): Promise<unknown[]> => {
  const rows = async (path: string) => await world.read<{ amount: number }[]>(`/api/v1/${path}`)
  const [orders, payouts, beneficiaries, wallets] = await Promise.all(
    ['orders', 'payouts', 'beneficiaries', 'wallets'].map(rows),
  )
  return [orders?.length, payouts?.length, beneficiaries?.length, wallets?.map(({ amount }) => amount)]
}

const open = () => server.world('2030-01-01T00:00:00Z')
const inWorld = testIn(open)

describe('A request whose token is revoked while its body arrives', () => {
  test.each([
    ['a payout', '/api/v1/payouts', PAYOUT],
    ['an order', '/api/v1/orders', INSTANT],
    ['a beneficiary', '/api/v1/beneficiaries', ADA],
  ])('401 after a logout: %s is not created, with or without an Idempotency-Key', async (_, path, body) => {
    for (const headers of [{}, { 'idempotency-key': 'held-back-1' }]) {
      const world = await open()
      const before = await books(world)
      const { finish } = await sendHeld(world, path, body, headers)
      expect((await world.post('/auth/logout')).status).toBe(200)
      await expectUnauthorized(await finish())
      const back = await world.again()
      expect(await books(back)).toEqual(before)
      // The key is free: nothing was kept under it.
      const again = await back.post(path, body, headers)
      expect([200, 201]).toContain(again.status)
      expect(again.headers.get('idempotent-replayed')).toBeNull()
    }
  })

  inWorld('401 after a logout: a stored response is not replayed', async (world) => {
    const headers = { 'idempotency-key': 'bought-before' }
    const bought = await world.post('/api/v1/orders', INSTANT, headers)
    expect(await bought.text()).toContain('card_number')
    const { finish } = await sendHeld(world, '/api/v1/orders', INSTANT, headers)
    await world.post('/auth/logout')
    await expectUnauthorized(await finish())
  })

  test.each([
    ['charges', { denomination: 50, quantity: 1 }],
    ['discount', { denomination: 50, quantity: 1 }],
    ['availability', { denomination: 50, quantity: 1 }],
  ])('401 after a logout: %s returns no data', async (what, body) => {
    const world = await open()
    const { finish } = await sendHeld(world, `/api/v1/products/2/${what}`, body)
    await world.post('/auth/logout')
    await expectUnauthorized(await finish())
  })

  inWorld('401 after the token has expired by the clock of its world', async (world) => {
    const { finish } = await sendHeld(world, '/api/v1/payouts', PAYOUT)
    await world.clock({ advance: 'PT1H' })
    await expectUnauthorized(await finish())
    expect((await books(await world.again())).slice(0, 3)).toEqual([0, 0, 0])
  })

  inWorld('401 after the login was revoked, because its refresh token was used twice', async (world) => {
    const pair = await loggedIn(server, `sbx_${world.name}`)
    const send = (body: ReadableStream) =>
      world.request('/api/v1/payouts', {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${pair.access_token}` },
      })
    const { finish } = await holdBack(PAYOUT, send, () => world.get('/api/v1/countries/1'))
    expect((await refresh(server, pair.refresh_token)).status).toBe(200)
    expect((await refresh(server, pair.refresh_token)).status).toBe(401)
    await expectUnauthorized(await finish())
    expect((await books(world)).slice(0, 3)).toEqual([0, 0, 0])
  })

  inWorld('401 after its world was reset or deleted', async (world) => {
    const before = await sendHeld(world, '/api/v1/payouts', PAYOUT)
    expect((await world.control('/reset')).status).toBe(200)
    await expectUnauthorized(await before.finish())
    const again = await world.again()
    await again.clock({ now: '2030-01-01T00:00:00Z', frozen: true })
    const later = await sendHeld(await world.again(), '/api/v1/payouts', PAYOUT)
    expect((await server.request(`/_sandbox/worlds/${world.name}`, { method: 'DELETE' })).status).toBe(204)
    await expectUnauthorized(await later.finish())
  })

  test('401 after a logout during a slow response', async () => {
    // Slow enough for a logout in the meantime.
    for (let delayMs = 50; ; delayMs *= 2) {
      const world = await open()
      const before = Number((await world.get('/api/v1/countries/1')).headers.get('x-ratelimit-remaining'))
      let hasResponse = false
      const response = world.get('/api/v1/orders', { 'x-sandbox-delay': String(delayMs) }).finally(() => {
        hasResponse = true
      })
      const remaining = async () =>
        Number((await world.get('/api/v1/countries/1')).headers.get('x-ratelimit-remaining'))
      for (let looks = 1; (await remaining()) === before - looks; looks++) await Bun.sleep(1)
      await world.post('/auth/logout')
      if (hasResponse) continue
      await expectUnauthorized(await response)
      return
    }
  })

  inWorld('201 if another login of the client was revoked', async (world) => {
    const stolen = await loggedIn(server, `sbx_${world.name}`)
    const { finish } = await sendHeld(world, '/api/v1/payouts', PAYOUT)
    expect((await refresh(server, stolen.refresh_token)).status).toBe(200)
    expect((await refresh(server, stolen.refresh_token)).status).toBe(401)
    expect((await finish()).status).toBe(201)
  })
})
