import { describe, expect, test } from 'bun:test'
import { badRequest, invalid, notFound, validation } from '../errors.ts'
import { forFile, startServer, TestWorld, testIn } from '../harness.ts'
import { DELAYED, getOrder, getPayout, INSTANT, NOON, PAYEE, pay, place } from '../records.ts'
import { balanceOf, movementsOf, transactionsOf, walletsOf } from '../wallets/balances.ts'
import { makeAtNoon } from './everything.ts'
import { control, expectSoundWorld, rowsOf, succeed } from './surface.ts'

/** What an operator does in live mode, at the touch of a test (contract C15). Payouts and orders prove what each step does. */

const server = forFile(await startServer('--rate-limit', 'off', '--seed', '18'))

let worlds = 0
/** A world at noon whose clock moves neither payouts nor orders, unless told otherwise. */
const opened = async (pace = 'manual'): Promise<TestWorld> => {
  const name = `control-${++worlds}`
  await makeAtNoon(server, name)
  await succeed(server, 'PUT', `/pace?world=${name}`, { payouts: pace, orders: pace })
  return TestWorld.open(server, name)
}
const inWorld = testIn(opened)

const ask = (world: TestWorld, method: string, path: string, body?: unknown) =>
  control(server, method, `${path}?world=${world.name}`, body)
const done = <Body = object>(world: TestWorld, path: string, body?: unknown) =>
  succeed<Body>(server, 'POST', `${path}?world=${world.name}`, body)

const statusesOf = async (world: TestWorld, payoutId: string, orderId: number) => [
  (await getPayout(world, payoutId)).status,
  (await getOrder(world, orderId)).status,
]

describe('PUT /_sandbox/pace', () => {
  test('200 returns the new pace; omitted members stay, and an error changes nothing', async () => {
    const world = await opened('auto')
    const read = async () => (await ask(world, 'GET', '/pace')).body
    expect(await read()).toEqual({ payouts: 'auto', orders: 'auto' })
    for (const [body, now] of [
      [{ payouts: 'manual' }, { payouts: 'manual', orders: 'auto' }],
      [{ orders: 'manual' }, { payouts: 'manual', orders: 'manual' }],
      [{}, { payouts: 'manual', orders: 'manual' }],
      [
        { payouts: null, orders: 'auto' },
        { payouts: 'manual', orders: 'auto' },
      ],
    ]) {
      expect(await ask(world, 'PUT', '/pace', body)).toMatchObject({ status: 200, body: now })
      expect(await read()).toEqual(now)
    }
    expect((await ask(world, 'PUT', '/pace', { payouts: 'auto', orders: 'fast' })).status).toBe(400)
    expect(await read()).toEqual({ payouts: 'manual', orders: 'auto' })
  })

  test.each([
    [{ payouts: 'auto', orders: 'auto' }, ['completed', 'DELIVERED']],
    [{ payouts: 'auto' }, ['completed', 'PENDING']],
    [{ orders: 'auto' }, ['created', 'DELIVERED']],
  ])("manual stops the clock's transitions; %j continues them", async (pace, statuses) => {
    const world = await opened()
    const [payout, order] = [await pay(world), await place(world, DELAYED)]
    await world.clock({ advance: 'PT30M' })
    expect(await statusesOf(world, payout.id, order.id)).toEqual(['created', 'PENDING'])
    await ask(world, 'PUT', '/pace', pace)
    await world.clock({ advance: 'PT1M' })
    expect(await statusesOf(world, payout.id, order.id)).toEqual(statuses)
    await expectSoundWorld(server, world.name)
  })

  test('a payout that the clock does not move expires after 7 days, and its record says so', async () => {
    const world = await opened('auto')
    const dueOf = async () => {
      const [listed] = (await ask(world, 'GET', '/payouts')).body as { due_at: string; due_event: string }[]
      const [due] = (await ask(world, 'GET', '/due')).body as { at: string; next: string }[]
      return { record: [listed?.due_at, listed?.due_event], due: [due?.at, due?.next] }
    }
    await pay(world)
    const [first, week] = ['2030-01-01T12:00:01.000Z', '2030-01-08T12:00:00.000Z']
    expect(await dueOf()).toMatchObject({ record: [first, 'queued'], due: [first, 'payout.queued'] })
    await ask(world, 'PUT', '/pace', { payouts: 'manual' })
    expect(await dueOf()).toMatchObject({ record: [week, 'expired'], due: [week, 'payout.expired'] })
    await world.clock({ advance: 'PT168H' })
    expect((await dueOf()) as object).toEqual({ record: [null, null], due: [undefined, undefined] })
  })
})

describe('POST /_sandbox/wallets', () => {
  inWorld('201 opens an empty wallet for the sandbox client, PREPAID by default', async (world) => {
    const opened = await ask(world, 'POST', '/wallets', { currency: 'KWD' })
    expect(opened).toMatchObject({ status: 201, body: { id: 6, currency: 'KWD', amount: 0 } })
    expect((await walletsOf(world)).at(-1) as object).toEqual({
      id: 6,
      currency_id: expect.any(Number),
      currency_code: 'KWD',
      amount: 0,
      reserved_amount: 0,
      type: 'PREPAID',
      credit_limit: 0,
      is_default: false,
      is_active: true,
      created_at: NOON,
      updated_at: NOON,
    })
    expect((await walletsOf(await world.limited())).map(({ id }) => id)).toEqual([5])
  })

  inWorld('POSTPAID with a credit limit can be spent up to the limit', async (world) => {
    await done(world, '/wallets', { currency: 'USD', type: 'POSTPAID', credit_limit: 50 })
    const purchase = { ...INSTANT, wallet_id: 6 }
    await place(world, purchase)
    expect(await balanceOf(world, 6)).toEqual({ amount: -48, reserved: 0 })
    expect((await world.post('/api/v1/orders', purchase)).status).toBe(400)
    await expectSoundWorld(server, world.name)
  })
})

describe('POST /_sandbox/wallets/{id}/fund', () => {
  inWorld('200 credits the wallet with a transaction; remarks may be omitted or null', async (world) => {
    const funded = await ask(world, 'POST', '/wallets/1/fund', { amount: 250.5, remarks: 'Top-up' })
    expect(funded).toMatchObject({ status: 200, body: { id: 1, currency: 'USD', amount: 100_250.5 } })
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_250.5, reserved: 0 })
    const transaction = { wallet_id: 1, transaction_type: 'CREDIT', source_type: 'funding', source_id: null }
    const facts = { amount: 250.5, balance_after: 100_250.5, remarks: 'Top-up', created_at: NOON }
    expect((await transactionsOf(world)).at(-1)).toMatchObject({ ...transaction, ...facts })
    for (const body of [{ amount: 1 }, { amount: 1, remarks: null }]) {
      await done(world, '/wallets/1/fund', body)
      expect((await transactionsOf(world)).at(-1)?.remarks).toBeNull()
    }
    await expectSoundWorld(server, world.name)
  })

  test.each([
    ['USD', 1, 0.01, 100_000.01],
    ['JPY', 4, 1, 10_000_001],
    ['USD of the limited client', 5, 0.5, 5.5],
    ['USD, as much as fits', 1, 1_000_000_000, 1_000_100_000],
  ])('accepts the smallest and largest amounts of %s', async (_, id, amount, total) => {
    expect(await done(await opened(), `/wallets/${id}/fund`, { amount })).toMatchObject({ amount: total })
  })
})

describe('POST /_sandbox/payouts/{id}/advance', () => {
  inWorld('200 makes one transition each time, to the end', async (world) => {
    const { id } = await pay(world)
    const statuses: string[] = []
    for (let step = 0; step < 5; step++) {
      const state = await done<{ id: string; status: string }>(world, `/payouts/${id}/advance`)
      expect(state).toEqual({ id, status: (await getPayout(world, id)).status })
      statuses.push(state.status)
    }
    expect(statuses).toEqual(['queued', 'processing', 'processing', 'settling', 'completed'])
    const events = ['queued', 'processing', 'submitted', 'settling', 'completed']
    expect((await getPayout(world, id)).events.slice(1)).toMatchObject(
      events.map((event_type) => ({ event_type, actor_type: 'operator' })),
    )
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_898.5, reserved: 0 })
    await expectSoundWorld(server, world.name)
  })

  test.each([
    ['queued', 1],
    ['processing', 2],
    ['settling', 4],
    ['action_required', 5],
    ['completed', 5],
  ])('200 advances to %s, through every status on the way', async (to, steps) => {
    const world = await opened()
    const { id } = await pay(world)
    expect(await done(world, `/payouts/${id}/advance`, { to })).toEqual({ id, status: to })
    const { events } = await getPayout(world, id)
    expect(events.filter(({ actor_type }) => actor_type === 'operator')).toHaveLength(steps)
    if (to === 'action_required')
      expect(await done(world, `/payouts/${id}/advance`)).toMatchObject({ status: 'settling' })
  })

  test('due work is done first', async () => {
    const world = await opened('auto')
    const { id } = await pay(world)
    await world.clock({ advance: 'PT1H' })
    const body = badRequest('Cannot go from completed to another status')
    expect(await ask(world, 'POST', `/payouts/${id}/advance`)).toMatchObject({ status: 400, body })
  })
})

test.each([
  [{ failure_code: 'account_closed', failure_reason: 'The account is closed' }, 'The account is closed'],
  [undefined, 'The payout could not be made'],
])('POST /_sandbox/payouts/{id}/fail: 200 fails a payout, and refunds it in full (%j)', async (body, message) => {
  const world = await opened()
  const { id } = await pay(world)
  await done(world, `/payouts/${id}/advance`, { to: 'processing' })
  expect(await done(world, `/payouts/${id}/fail`, body)).toEqual({ id, status: 'failed' })
  const payout = await getPayout(world, id)
  expect(payout).toMatchObject({ status: 'failed', failure_reason: message, ...body })
  expect(payout.events.at(-1)).toMatchObject({ event_type: 'failed', actor_type: 'operator', message })
  expect(await balanceOf(world, 1)).toEqual({ amount: 100_000, reserved: 0 })
})

test.each([
  [{ failure_reason: 'The account was closed' }, 'The account was closed'],
  [{ failure_code: 'account_closed' }, 'account_closed'],
  [{ failure_code: 'account_closed', failure_reason: 'Closed' }, 'account_closed: Closed'],
  [undefined, null],
])(
  'POST /_sandbox/payouts/{id}/return: 200 credits the amount; the reason is the message (%j)',
  async (body, message) => {
    const world = await opened()
    const { id } = await pay(world)
    await done(world, `/payouts/${id}/advance`, { to: 'completed' })
    expect(await done(world, `/payouts/${id}/return`, body)).toEqual({ id, status: 'completed' })
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_998.5, reserved: 0 })
    const returned = { event_type: 'returned', actor_type: 'operator', message }
    expect((await getPayout(world, id)).events.at(-1)).toMatchObject(returned)
  },
)

test.each<[verb: string, at: string, body: object | undefined, message: string]>([
  ['advance', 'processing', { to: 'queued' }, 'Cannot go from processing to queued'],
  ['advance', 'queued', { to: 'queued' }, 'Cannot go from queued to queued'],
  ['advance', 'completed', { to: 'settling' }, 'Cannot go from completed to settling'],
  ['advance', 'cancelled', undefined, 'Cannot go from cancelled to another status'],
  ['advance', 'cancelled', { to: 'completed' }, 'Cannot go from cancelled to completed'],
  ['fail', 'queued', undefined, 'Cannot go from queued to failed'],
  ['return', 'created', undefined, 'Cannot go from created to returned'],
  ['return', 'returned', undefined, 'Cannot go from completed to returned'],
])(
  'POST /_sandbox/payouts/{id}/%s: 400 for a payout that is %s, and changes nothing (%j)',
  async (verb, at, body, message) => {
    const world = await opened()
    const { id } = await pay(world)
    if (at === 'cancelled') await world.post(`/api/v1/payouts/${id}/cancel`)
    else if (at !== 'created') {
      await done(world, `/payouts/${id}/advance`, { to: at === 'returned' ? 'completed' : at })
      if (at === 'returned') await done(world, `/payouts/${id}/return`)
    }
    const before = await rowsOf(server, world.name)
    const refused = await ask(world, 'POST', `/payouts/${id}/${verb}`, body)
    expect(refused).toMatchObject({ status: 400, body: badRequest(message) })
    expect(await rowsOf(server, world.name)).toEqual(before)
  },
)

describe.each(['advance', 'fail', 'return'])('POST /_sandbox/payouts/{id}/%s', (verb) => {
  inWorld('finds the payouts of both clients', async (world) => {
    const small = { reference_id: 'small', wallet_id: 5, amount: 1, currency: 'USD', ...PAYEE }
    const { id } = await pay(await world.limited(), small)
    const to = { advance: 'queued', fail: 'processing', return: 'completed' }[verb]
    await done(world, `/payouts/${id}/advance`, { to })
    expect(await done(world, `/payouts/${id}/${verb}`)).toMatchObject({ id })
  })

  inWorld('404 for an id of nobody, and for a payout of another world', async (world) => {
    const other = await opened()
    const theirs = await pay(other)
    const unknown = ['nobody', '1', '%00', '%C3%BC', 'a%2Fb', 'a%ZZ', theirs.id.replace(/.$/, '_'), theirs.id]
    for (const id of unknown) {
      const refused = await ask(world, 'POST', `/payouts/${id}/${verb}`)
      expect({ id, ...refused }).toMatchObject({ id, status: 404, body: notFound('Payout not found') })
    }
    expect((await getPayout(other, theirs.id)).events).toHaveLength(1)
  })
})

describe('POST /_sandbox/orders/{id}/deliver', () => {
  inWorld('200 delivers a number, then the rest, and settles with the last', async (world) => {
    const { id } = await place(world, DELAYED)
    const { reserved } = await balanceOf(world, 2)
    expect(await done(world, `/orders/${id}/deliver`, { quantity: 1 })).toEqual({ id, status: 'PARTIALLY_DELIVERED' })
    const [first] = (await getOrder(world, id)).vouchers
    expect((await balanceOf(world, 2)).reserved).toBe(reserved)
    expect(await done(world, `/orders/${id}/deliver`)).toEqual({ id, status: 'DELIVERED' })
    const delivered = await getOrder(world, id)
    expect(delivered).toMatchObject({ status: 'DELIVERED', delivered_at: NOON })
    expect([delivered.vouchers.length, delivered.vouchers[0]]).toEqual([3, first])
    expect((await balanceOf(world, 2)).reserved).toBe(0)
    await expectSoundWorld(server, world.name)
  })

  test('200 delivers all if the number is too high, and the clock does not deliver again', async () => {
    const world = await opened('auto')
    const { id } = await place(world, DELAYED)
    expect(await done(world, `/orders/${id}/deliver`, { quantity: 1_000_000 })).toEqual({ id, status: 'DELIVERED' })
    const before = await getOrder(world, id)
    expect(before.vouchers).toHaveLength(3)
    await world.clock({ advance: 'PT10M' })
    expect(await getOrder(world, id)).toEqual(before)
  })
})

describe('POST /_sandbox/orders/{id}/fail', () => {
  inWorld('200 fails an undelivered order and refunds it in full', async (world) => {
    const { id } = await place(world, DELAYED)
    const reason = { failure_reason: 'Out of stock' }
    expect(await done(world, `/orders/${id}/fail`, reason)).toEqual({ id, status: 'FAILED' })
    expect(await getOrder(world, id)).toMatchObject({ status: 'FAILED', failed_at: NOON, vouchers: [], ...reason })
    expect(await balanceOf(world, 2)).toEqual({ amount: 100_000, reserved: 0 })
  })

  inWorld('200 refunds the rest of a partly delivered order, also without a body', async (world) => {
    const { id } = await place(world, DELAYED)
    await done(world, `/orders/${id}/deliver`, { quantity: 1 })
    expect(await done(world, `/orders/${id}/fail`)).toEqual({ id, status: 'PARTIALLY_DELIVERED' })
    const failed = { failure_reason: 'The order could not be delivered', failed_at: NOON }
    expect(await getOrder(world, id)).toMatchObject(failed)
    expect((await movementsOf(world))[1]).toMatchObject({ transaction_type: 'CREDIT', source_type: 'refund' })
    await expectSoundWorld(server, world.name)
  })
})

describe('POST /_sandbox/orders/{id}/refund', () => {
  inWorld('200 refunds some vouchers of a delivered order, then the rest, and keeps its status', async (world) => {
    const { id, amount } = await place(world, DELAYED)
    await done(world, `/orders/${id}/deliver`)
    const some = { vouchers: [`${id}-1`, `${id}-3`], remarks: 'Wrong brand' }
    expect(await done(world, `/orders/${id}/refund`, some)).toEqual({ id, status: 'DELIVERED' })
    const [, refund] = await movementsOf(world)
    expect(refund).toMatchObject({ transaction_type: 'CREDIT', source_type: 'refund', remarks: 'Wrong brand' })
    expect(await getOrder(world, id)).toMatchObject({ amount, refunded_amount: refund?.amount })
    expect(await done(world, `/orders/${id}/refund`)).toEqual({ id, status: 'DELIVERED' })
    expect(await getOrder(world, id)).toMatchObject({ status: 'DELIVERED', refunded_amount: amount })
    expect((await movementsOf(world)).at(-1)).toMatchObject({ remarks: 'Refunded' })
    await expectSoundWorld(server, world.name)
  })
})

/** Order 1 is delivered and refunded, 2 waits, 3 is cancelled, 4 failed in part. */
const withOrders = async (): Promise<TestWorld> => {
  const world = await opened()
  await place(world, INSTANT)
  await done(world, '/orders/1/refund')
  for (let count = 0; count < 3; count++) await place(world, DELAYED)
  await world.post('/api/v1/orders/3/cancel')
  await done(world, '/orders/4/deliver', { quantity: 1 })
  await done(world, '/orders/4/fail')
  return world
}
let prepared: Promise<TestWorld> | undefined

const CURRENCY = validation('currency', 'enum', 'must be the ISO 4217 code of a circulating currency')
const limitRefused = (rule: string, problem: string) => validation('credit_limit', rule, problem)
const amountRefused = (rule: string, problem: string) => validation('amount', rule, problem)
const postpaid = (currency: string, credit_limit: number) => ({ currency, type: 'POSTPAID', credit_limit })
const NOBODY = validation('client_id', 'enum', 'must be the id of a client of this world')
const PENDING = badRequest('Order 2 is PENDING: only a delivered order can be refunded')

test.each<[path: string, body: unknown, refusal: { error: { code: string } }]>([
  ['/wallets', {}, validation('currency', 'required', 'is required')],
  ['/wallets', { currency: 'usd' }, CURRENCY],
  ['/wallets', { currency: '' }, CURRENCY],
  ['/wallets', { currency: 'USD', client_id: 9 }, NOBODY],
  ['/wallets', { currency: 'USD', type: 'GIFT' }, validation('type', 'enum', 'must be one of PREPAID, POSTPAID')],
  ['/wallets', postpaid('USD', -1), limitRefused('min', 'must be at least 0')],
  ['/wallets', postpaid('USD', 1_000_000_001), limitRefused('max', 'must be at most 1000000000')],
  ['/wallets', postpaid('JPY', 0.5), limitRefused('format', 'must have at most the 0 decimals of JPY')],
  ['/wallets', { currency: 'USD', credit_limit: 1 }, limitRefused('max', 'must be 0 for a PREPAID wallet')],
  ['/wallets/1/fund', { amount: 0 }, amountRefused('min', 'must be more than 0')],
  ['/wallets/1/fund', { amount: -1 }, amountRefused('min', 'must be more than 0')],
  ['/wallets/1/fund', { amount: 0.001 }, amountRefused('format', 'must have at most the 2 decimals of USD')],
  ['/wallets/1/fund', { amount: 1_000_000_000.01 }, amountRefused('max', 'must be at most 1000000000')],
  [
    '/wallets/1/fund',
    { amount: 1e15 },
    invalid({ amount: [{ rule: 'max', field: 'amount', message: 'amount too large' }] }),
  ],
  ['/wallets/a%ZZ/fund', { amount: 1 }, badRequest('Invalid wallet ID')],
  ['/wallets/6/fund', { amount: 1 }, notFound('Wallet not found')],
  ['/orders/2/deliver', { quantity: 1.5 }, validation('quantity', 'integer', 'must be a whole number')],
  ['/orders/1/deliver', undefined, badRequest('Cannot go from DELIVERED to DELIVERED')],
  ['/orders/1/fail', undefined, badRequest('Cannot go from DELIVERED to FAILED')],
  ['/orders/3/deliver', undefined, badRequest('Cannot go from CANCELLED to DELIVERED')],
  ['/orders/3/fail', undefined, badRequest('Cannot go from CANCELLED to FAILED')],
  ['/orders/4/deliver', undefined, badRequest('Cannot go from PARTIALLY_DELIVERED to DELIVERED')],
  ['/orders/4/fail', undefined, badRequest('Cannot go from PARTIALLY_DELIVERED to FAILED')],
  ['/orders/1/refund', undefined, badRequest('Order 1 is already refunded')],
  ['/orders/2/refund', undefined, PENDING],
  ['/orders/1/refund', { vouchers: [] }, validation('vouchers', 'min', 'must have at least 1 item')],
  ['/orders/a%ZZ/deliver', undefined, badRequest('Invalid order ID')],
  ['/orders/2147483648/deliver', undefined, badRequest('Invalid order ID')],
])('POST /_sandbox%s with %j is refused, and nothing is written', async (path, body, refusal) => {
  prepared ??= withOrders()
  const world = await prepared
  const before = await rowsOf(server, world.name)
  const status = refusal.error.code === 'NOT_FOUND' ? 404 : 400
  expect(await ask(world, 'POST', path, body)).toMatchObject({ status, body: refusal })
  expect(await rowsOf(server, world.name)).toEqual(before)
})
