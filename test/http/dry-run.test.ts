import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { dryRunResponse, secretMember } from '../../src/http/dry-run.ts'
import { structured } from '../errors.ts'
import { sharedServer, startServer, type TestWorld } from '../harness.ts'
import { openLive } from '../orders/live.ts'
import { ADA, countOf, INSTANT, ORDERS, type Order, OVERNIGHT, saveAda, THREE_LEFT } from '../records.ts'
import { balanceOf } from '../wallets/balances.ts'
import { DRY_RUN } from './dry-runs.ts'

/** `X-Dry-Run: true` (contract C19): the request runs and gets its response, and no effect stays. */

const server = await sharedServer()

const BENEFICIARIES = '/api/v1/beneficiaries'
const VALUE = 'X-Dry-Run must be true or false.'
const WITH_KEY = 'X-Dry-Run cannot be combined with Idempotency-Key.'
const refused = (message: string) => structured('ValidationException', 'VALIDATION_FAILURE', message)
const headersOf = ({ headers }: Response) => ({ marked: headers.get('x-dry-run'), location: headers.get('location') })

test('login ignores the header, whatever its value', async () => {
  const body = JSON.stringify({ username: 'sbx_login-dry-run', password: 'any' })
  const response = await server.request('/auth/login', { method: 'POST', headers: { 'x-dry-run': 'maybe' }, body })
  expect([response.status, headersOf(response).marked]).toEqual([200, null])
})

describe('the response of a dry run', () => {
  test('has no PIN if the code has none', () => {
    const schema = Type.Object({ pin: secretMember(Type.String(), 'XXXX') })
    expect(['4471', null].map((pin) => dryRunResponse({ pin }, schema, {}))).toEqual([{ pin: 'XXXX' }, { pin: null }])
  })

  test('of an order has its price, its status and no code', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const response = await world.post(ORDERS, { ...INSTANT, quantity: 2 }, DRY_RUN)
    expect(response.status).toBe(200)
    expect(headersOf(response)).toEqual({ marked: 'true', location: null })
    const { vouchers, ...order } = (await response.json()) as Order
    expect(order).toMatchObject({
      status: 'DELIVERED',
      amount: 96,
      quantity: 2,
      delivered_at: '2030-01-01T00:00:00.000Z',
    })
    expect(vouchers).toEqual(
      [1, 2].map((number) => ({
        voucher_reference_number: expect.stringMatching(new RegExp(`-${number}$`)) as never,
        card_number: 'XXXX',
        pin_code: 'XXXX',
        claim_url: null,
        expires_at: '2031-01-01T00:00:00.000Z',
      })),
    )
    expect(await countOf(world, ORDERS)).toBe(0)
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_000, reserved: 0 })
  })

  test('of a webhook has a secret that no webhook ever has', async () => {
    const world = await server.world()
    const webhook = { name: 'hook', url: 'http://127.0.0.1:1/', events: ['*'] }
    const secrets = await Promise.all(
      [DRY_RUN, DRY_RUN, {}].map(async (headers) => {
        const response = await world.post('/api/v1/webhooks', webhook, headers)
        expect(response.headers.get('cache-control')).toBe('no-store')
        return ((await response.json()) as { secret: string }).secret
      }),
    )
    expect(secrets[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(secrets[1]).toBe(secrets[0] as string)
    expect(secrets[2]).not.toBe(secrets[0] as string)
  })

  test('is a refusal if the request would be refused', async () => {
    const world = await server.world()
    const refusals: [body: object, message: string][] = [
      [{ ...THREE_LEFT, quantity: 4 }, 'Insufficient stock'],
      [{ ...INSTANT, quantity: 101 }, 'Quantity exceeds maximum allowed quantity of 100'],
    ]
    for (const [body, message] of refusals) {
      const response = await world.post(ORDERS, body, DRY_RUN)
      expect(response.status).toBe(400)
      expect(headersOf(response)).toEqual({ marked: 'true', location: null })
      expect(await response.json()).toEqual(structured('BadRequestError', 'BAD_REQUEST', message))
    }
    await world.post(ORDERS, { ...INSTANT, ref: 'taken' })
    const duplicate = await world.post(ORDERS, { ...INSTANT, ref: 'taken' }, DRY_RUN)
    expect(await duplicate.json()).toEqual(structured('BadRequestError', 'BAD_REQUEST', 'Duplicate client_reference'))
    const poor = await world.limited()
    const forbidden = await poor.post(ORDERS, INSTANT, DRY_RUN)
    expect([forbidden.status, headersOf(forbidden).marked]).toEqual([403, 'true'])
  })
})

describe('the header', () => {
  const SHAPES: [path: string, body: object, render: (message: string) => object][] = [
    [ORDERS, INSTANT, refused],
    [BENEFICIARIES, ADA, (message) => ({ error: 'ValidationException', message })],
    ['/api/v1/products/2/charges', INSTANT, (error) => ({ error })],
  ]
  test.each(SHAPES)('of %s is true or false', async (path, body, render) => {
    const world = await server.world()
    for (const value of ['yes', 'TRUE', '', 'true, true', '1']) {
      const response = await world.post(path, body, { 'x-dry-run': value })
      expect({ value, status: response.status, body: await response.json() }).toEqual({
        value,
        status: 400,
        body: render(VALUE),
      })
    }
    const real = await world.post(path, body, { 'x-dry-run': 'false' })
    expect([real.ok, real.headers.get('x-dry-run')]).toEqual([true, null])
  })

  test('cannot be combined with an Idempotency-Key on operations that accept one', async () => {
    const world = await server.world()
    for (const key of ['a key of my own', 'short']) {
      const response = await world.post(ORDERS, INSTANT, { ...DRY_RUN, 'idempotency-key': key })
      expect({ status: response.status, body: await response.json() }).toEqual({ status: 400, body: refused(WITH_KEY) })
      const flat = await world.post(BENEFICIARIES, ADA, { ...DRY_RUN, 'idempotency-key': key })
      expect(await flat.json()).toEqual({ error: 'ValidationException', message: WITH_KEY })
    }
    // The key was not used up.
    expect((await world.post(ORDERS, INSTANT, { 'idempotency-key': 'a key of my own' })).status).toBe(200)
    // An operation that takes no key ignores it.
    const id = await saveAda(world)
    const headers = { ...DRY_RUN, 'idempotency-key': 'x' }
    const deleted = await world.request(`${BENEFICIARIES}/${id}`, { method: 'DELETE', headers })
    expect([deleted.status, headersOf(deleted).marked]).toEqual([204, 'true'])
  })

  test('is refused after 401, 429 and 403, and before the path and the body', async () => {
    const world = await server.world()
    const wrong = { 'x-dry-run': 'maybe' }
    const stranger = await server.request(ORDERS, { method: 'POST', headers: wrong })
    expect([stranger.status, headersOf(stranger).marked]).toEqual([401, null])
    expect((await (await world.limited()).post(ORDERS, '{', wrong)).status).toBe(403)
    expect(await (await world.post(ORDERS, '{', wrong)).json()).toEqual(refused(VALUE))
    expect(await (await world.post(`${ORDERS}/x/cancel`, '{', wrong)).json()).toEqual(refused(VALUE))
    const strict = await startServer('--rate-limit', '1/h')
    const limited = await strict.world('2030-01-01T00:00:00Z')
    await limited.get('/api/v1/countries/1')
    expect((await limited.post(ORDERS, '{', wrong)).status).toBe(429)
    await strict.stop()
  })

  test('is ignored by reads, and outside of /api/v1', async () => {
    const world = await server.world()
    for (const value of ['true', 'maybe']) {
      const got = await world.get('/api/v1/countries/1', { 'x-dry-run': value })
      expect([got.status, headersOf(got).marked]).toEqual([200, null])
      const unknown = await world.post('/api/v1/nothing', {}, { 'x-dry-run': value })
      expect([unknown.status, headersOf(unknown).marked]).toEqual([404, null])
    }
    const out = await world.post('/auth/logout', undefined, DRY_RUN)
    expect([out.status, headersOf(out).marked]).toEqual([200, null])
    expect((await world.get('/api/v1/countries/1')).status).toBe(401)
  })
})

describe('nothing stays in memory either', () => {
  test('no price is held', async () => {
    const world = await server.world()
    const cache = async (headers = {}) =>
      (await world.post('/api/v1/products/2/charges', INSTANT, headers)).headers.get('x-cache')
    expect([await cache(DRY_RUN), await cache(DRY_RUN), await cache(), await cache(DRY_RUN)]).toEqual([
      'MISS',
      'MISS',
      'MISS',
      'HIT',
    ])
  })

  test('due work is done first, as before any request', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const { id } = (await (await world.post(ORDERS, OVERNIGHT)).json()) as Order
    await world.control('/clock', { advance: 'PT10S' })
    const response = await world.post(`${ORDERS}/${id}/cancel`, undefined, DRY_RUN)
    expect(response.status).toBe(400)
    expect(((await (await world.get(`${ORDERS}/${id}`)).json()) as Order).status).toBe('DELIVERED')
  })

  test('a code of the stock that cannot be decrypted is found again by the next order for it', async () => {
    await using live = await openLive()
    await live.stock(1, 'CARD-1')
    live.database.sqlite.run("UPDATE voucher_stock SET sealed = x'00'")
    const order = (headers = {}) =>
      live.request('/orders', { method: 'POST', body: '{"product_id":1,"denomination":10,"quantity":1}', headers })
    const damaged = () =>
      live.database.sqlite.query('SELECT id FROM voucher_stock WHERE damaged_at_ms IS NOT NULL').all()
    expect((await order(DRY_RUN)).status).toBe(400)
    await Bun.sleep(0)
    expect([damaged(), live.logged]).toEqual([[], []])
    expect((await order()).status).toBe(400)
    await live.database.write(() => undefined)
    expect([damaged().length, live.logged.length]).toEqual([1, 1])
  })
})

describe('in the sandbox', () => {
  const requestsOf = async (world: TestWorld) =>
    (await (await server.request(`/_sandbox/requests?world=${world.name}`)).json()) as Record<string, unknown>[]
  const metOf = async (world: TestWorld, operation: string) => {
    const { outcomes } = (await (await server.request(`/_sandbox/coverage?world=${world.name}`)).json()) as {
      outcomes: { operation: string; name: string; count: number }[]
    }
    return outcomes.filter((one) => one.operation === operation && one.count > 0).map(({ name }) => name)
  }

  test('the request log marks it, without rows and events; coverage does not count it', async () => {
    const world = await server.world()
    await world.post(ORDERS, INSTANT, DRY_RUN)
    expect((await requestsOf(world))[0]).toMatchObject({ dry_run: true, outcome: 'success', changes: [], events: [] })
    expect(await metOf(world, 'placeOrder')).toEqual([])
    await world.post(ORDERS, INSTANT)
    expect((await requestsOf(world))[0]).toMatchObject({ dry_run: false, outcome: 'success' })
    expect(await metOf(world, 'placeOrder')).toEqual(['success'])
  })

  test('coverage counts the error of an invalid header', async () => {
    const world = await server.world()
    await world.post(ORDERS, INSTANT, { 'x-dry-run': 'maybe' })
    await world.post(ORDERS, INSTANT, { ...DRY_RUN, 'idempotency-key': 'a key of my own' })
    expect(await metOf(world, 'any')).toEqual(['dry_run_malformed', 'dry_run_with_key'])
  })

  test('faults apply to it, and count', async () => {
    const world = await server.world()
    await world.control('/faults', { error: 'orders.insufficient_stock', times: 1 })
    const struck = await world.post(ORDERS, INSTANT, DRY_RUN)
    expect([struck.status, headersOf(struck).marked]).toEqual([400, 'true'])
    expect((await world.post(ORDERS, INSTANT)).status).toBe(200)
    const lost = await world.post(ORDERS, INSTANT, { ...DRY_RUN, 'x-sandbox-fault': 'internal; when=after' })
    expect(lost.status).toBe(500)
    expect(await countOf(world, ORDERS)).toBe(1)
  })

  test('a feed gets no event of it', async () => {
    const world = await server.world()
    const feed = await server.request(`/_sandbox/feed?world=${world.name}`)
    const reader = feed.body?.getReader()
    await world.post(ORDERS, INSTANT, DRY_RUN)
    await world.post(BENEFICIARIES, ADA)
    let text = ''
    while (!text.includes(BENEFICIARIES)) text += new TextDecoder().decode((await reader?.read())?.value)
    expect(text).toContain('"dry_run":true')
    expect(text).not.toContain('event: order')
    expect(text).not.toContain('evt_')
    await reader?.cancel()
  })

  test('a replay of it is a dry run', async () => {
    const world = await server.world()
    await world.post(ORDERS, INSTANT, DRY_RUN)
    const [{ id } = {}] = await requestsOf(world)
    const replay = await world.control(`/requests/${id}/replay`, {})
    expect(await replay.json()).toMatchObject({ status: 200, headers: { 'x-dry-run': 'true' } })
    expect(await countOf(world, ORDERS)).toBe(0)
  })
})
