import { describe, expect, test } from 'bun:test'
import type { Noun } from '../../src/acts/kind.ts'
import { NOUNS } from '../../src/commands/acts/table.ts'
import { badRequest, invalid, notFound, validation } from '../errors.ts'
import { forFile, startServer, TestWorld, testIn } from '../harness.ts'
import { DELAYED, getOrder, getPayout, INSTANT, NOON, PAYEE, pay, place } from '../records.ts'
import { balanceOf, movementsOf, transactionsOf, walletsOf } from '../wallets/balances.ts'
import { makeAtNoon } from './everything.ts'
import { control, expectSoundWorld, rowsOf, succeed } from './surface.ts'

/** A test performs the acts of a live operator (contract C15). The tests of payouts and orders prove the effect of each step. */

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

test('an act or a list that does the same as an operation names one that exists', async () => {
  const { paths } = (await (await server.request('/openapi.json')).json()) as { paths: Record<string, object> }
  const nouns = await Promise.all(Object.values<() => Promise<Noun>>(NOUNS).map((load) => load()))
  const named = nouns.flatMap((noun) =>
    Object.values(noun).flatMap((said) => ('inSandbox' in said && said.inSandbox) || []),
  )
  expect(named.length).toBeGreaterThan(20)
  for (const route of named) {
    const [method = '', path = ''] = route.split(' ')
    expect({ route, methods: Object.keys(paths[`/_sandbox${path}`] ?? {}) }).toEqual({
      route,
      methods: expect.arrayContaining([method.toLowerCase()]),
    })
  }
})

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

  test('a payout that the clock does not move expires after 7 days, and shows it', async () => {
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
    expect(opened.headers.get('location')).toBe('/api/v1/wallets/6')
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

  inWorld('201 takes a currency in upper or lower case', async (world) => {
    expect(await ask(world, 'POST', '/wallets', { currency: 'usd' })).toMatchObject({
      status: 201,
      body: { id: 6, currency: 'USD', amount: 0 },
    })
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
      statuses.push((await done<{ status: string }>(world, `/payouts/${id}/advance`)).status)
    }
    expect(statuses).toEqual(['queued', 'processing', 'processing', 'settling', 'completed'])
    const events = ['queued', 'processing', 'submitted', 'settling', 'completed']
    expect((await getPayout(world, id)).events.slice(1)).toMatchObject(
      events.map((event_type) => ({ event_type, actor_type: 'operator' })),
    )
    await expectSoundWorld(server, world.name)
  })

  test('due work is done first', async () => {
    const world = await opened('auto')
    const { id } = await pay(world)
    await world.clock({ advance: 'PT1H' })
    const body = badRequest('Cannot go from completed to another status')
    expect(await ask(world, 'POST', `/payouts/${id}/advance`)).toMatchObject({ status: 400, body })
  })
})

const CLOSED = { failure_code: 'account_closed', failure_reason: 'Closed' }

test.each<[verb: string, at: string, body: object | undefined, status: string, last: object]>([
  ['advance', 'queued', { to: 'settling' }, 'settling', { event_type: 'settling' }],
  ['advance', 'queued', { to: 'action_required' }, 'action_required', { event_type: 'action_required' }],
  ['advance', 'action_required', undefined, 'settling', { event_type: 'resumed' }],
  ['fail', 'processing', CLOSED, 'failed', { event_type: 'failed', message: 'Closed' }],
  ['fail', 'processing', undefined, 'failed', { message: 'The payout could not be made' }],
  ['return', 'completed', CLOSED, 'completed', { event_type: 'returned', message: 'account_closed: Closed' }],
  ['return', 'completed', { failure_code: 'account_closed' }, 'completed', { message: 'account_closed' }],
  ['return', 'completed', undefined, 'completed', { event_type: 'returned', message: null }],
])('POST /_sandbox/payouts/{id}/%s: 200 for a payout that is %s (%j)', async (verb, at, body, status, last) => {
  const world = await opened()
  const { id } = await pay(world)
  await done(world, `/payouts/${id}/advance`, { to: at })
  expect(await done(world, `/payouts/${id}/${verb}`, body)).toEqual({ id, status })
  expect((await getPayout(world, id)).events.at(-1)).toMatchObject({ actor_type: 'operator', ...last })
  await expectSoundWorld(server, world.name)
})

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

/** In this order, to three orders of three cards each. */
const ORDER_ACTS: [act: string, body: object | undefined, status: string, seen: object][] = [
  ['1/deliver', { quantity: 1 }, 'PARTIALLY_DELIVERED', { vouchers: [{}], delivered_at: null }],
  ['1/deliver', undefined, 'DELIVERED', { vouchers: [{}, {}, {}], delivered_at: NOON }],
  ['1/refund', { vouchers: ['1-1', '1-3'], remarks: 'Wrong brand' }, 'DELIVERED', { vouchers: [{}, {}, {}] }],
  ['1/refund', undefined, 'DELIVERED', { status: 'DELIVERED' }],
  ['2/fail', { failure_reason: 'Out of stock' }, 'FAILED', { failure_reason: 'Out of stock', vouchers: [] }],
  ['3/deliver', { quantity: 1 }, 'PARTIALLY_DELIVERED', { vouchers: [{}] }],
  ['3/fail', undefined, 'PARTIALLY_DELIVERED', { failure_reason: 'The order could not be delivered' }],
]

inWorld('POST /_sandbox/orders/{id}/deliver, /fail and /refund: 200 does it', async (world) => {
  for (let count = 0; count < 3; count++) await place(world, DELAYED)
  for (const [act, body, status, seen] of ORDER_ACTS) {
    const id = Number(act[0])
    expect(await done(world, `/orders/${act}`, body)).toEqual({ id, status })
    expect({ act, ...(await getOrder(world, id)) }).toMatchObject({ act, status, ...seen })
  }
  const refunds = (await movementsOf(world)).filter(({ source_type }) => source_type === 'refund')
  expect(refunds.map(({ remarks }) => remarks)).toEqual([
    'Wrong brand',
    'Refunded',
    'Out of stock',
    'The order could not be delivered',
  ])
  await expectSoundWorld(server, world.name)
})

test('POST /_sandbox/orders/{id}/deliver: 200 delivers all if the number is too high, and the clock none again', async () => {
  const world = await opened('auto')
  const { id } = await place(world, DELAYED)
  expect(await done(world, `/orders/${id}/deliver`, { quantity: 1_000_000 })).toEqual({ id, status: 'DELIVERED' })
  const before = await getOrder(world, id)
  expect(before.vouchers).toHaveLength(3)
  await world.clock({ advance: 'PT10M' })
  expect(await getOrder(world, id)).toEqual(before)
})

/** Asks for every verb in a copy of the world of its own, and returns those that are done. */
const allowedOf = async (world: TestWorld, path: string, verbs: readonly string[]): Promise<string[]> => {
  const allowed: string[] = []
  for (const verb of verbs) {
    const copy = `${world.name}-${verb}`
    await succeed(server, 'PUT', `/worlds/${copy}`, { from: world.name })
    const { status } = await control(server, 'POST', `${path}/${verb}?world=${copy}`)
    if (status === 200) allowed.push(verb)
    else expect({ verb, status }).toEqual({ verb, status: 400 })
  }
  return allowed
}

describe('the operations that a record allows stand in its list', () => {
  test.each<[at: string, can: string[], next: string[]]>([
    ['created', ['advance'], ['queued']],
    ['queued', ['advance'], ['processing']],
    ['processing', ['advance', 'fail'], ['processing']],
    ['settling', ['advance', 'fail'], ['completed', 'action_required']],
    ['action_required', ['advance'], ['settling']],
    ['completed', ['return'], []],
    ['returned', [], []],
    ['failed', [], []],
    ['cancelled', [], []],
  ])('GET /_sandbox/payouts: a payout that is %s', async (at, can, next) => {
    const world = await opened()
    const { id } = await pay(world)
    const [to = at, verb] = { returned: ['completed', 'return'], failed: ['processing', 'fail'] }[at] ?? []
    if (at === 'cancelled') await world.post(`/api/v1/payouts/${id}/cancel`)
    else if (at !== 'created') await done(world, `/payouts/${id}/advance`, { to })
    if (verb) await done(world, `/payouts/${id}/${verb}`)
    const [listed] = (await ask(world, 'GET', '/payouts')).body as object[]
    expect(listed).toMatchObject({ can, next })
    expect(await allowedOf(world, `/payouts/${id}`, ['advance', 'fail', 'return'])).toEqual(can)
  })

  test.each<[at: string, acts: [verb: string, body?: object][], can: string[]]>([
    ['PENDING', [], ['deliver', 'fail']],
    ['PARTIALLY_DELIVERED', [['deliver', { quantity: 1 }]], ['deliver', 'fail']],
    ['PARTIALLY_DELIVERED, its rest refunded', [['deliver', { quantity: 1 }], ['fail']], ['refund']],
    ['DELIVERED', [['deliver']], ['refund']],
    ['DELIVERED and refunded', [['deliver'], ['refund']], []],
    ['FAILED', [['fail']], []],
  ])('GET /_sandbox/orders: an order that is %s', async (_, acts, can) => {
    const world = await opened()
    const { id } = await place(world, DELAYED)
    for (const [verb, body] of acts) await done(world, `/orders/${id}/${verb}`, body)
    const [listed] = (await ask(world, 'GET', '/orders')).body as object[]
    expect(listed).toMatchObject({ can })
    expect(await allowedOf(world, `/orders/${id}`, ['deliver', 'fail', 'refund'])).toEqual(can)
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
const notAboveZero = (field: string, amount: number) =>
  invalid({ [field]: [{ rule: 'min', field, message: `${amount} is not above zero` }] })
const postpaid = (currency: string, credit_limit: number) => ({ currency, type: 'POSTPAID', credit_limit })
const NOBODY = validation('client_id', 'enum', 'must be the id of a client of this world')
const PENDING = badRequest('Order 2 is PENDING: only a delivered order can be refunded')

test.each<[path: string, body: unknown, refusal: { error: { code: string } }]>([
  ['/wallets', {}, validation('currency', 'required', 'is required')],
  ['/wallets', { currency: '' }, CURRENCY],
  ['/wallets', { currency: 'USD', client_id: 9 }, NOBODY],
  ['/wallets', { currency: 'USD', type: 'GIFT' }, validation('type', 'enum', 'must be one of PREPAID, POSTPAID')],
  ['/wallets', postpaid('USD', -1), notAboveZero('credit_limit', -1)],
  ['/wallets', postpaid('USD', 0), notAboveZero('credit_limit', 0)],
  ['/wallets', { currency: 'USD', type: 'POSTPAID' }, notAboveZero('credit_limit', 0)],
  ['/wallets', postpaid('USD', 1_000_000_001), limitRefused('max', 'must be at most 1000000000')],
  ['/wallets', postpaid('JPY', 0.5), limitRefused('format', 'must have at most the 0 decimals of JPY')],
  ['/wallets', { currency: 'USD', credit_limit: 1 }, limitRefused('max', 'must be 0 for a PREPAID wallet')],
  ['/wallets/1/fund', { amount: 0 }, notAboveZero('amount', 0)],
  ['/wallets/1/fund', { amount: -1 }, notAboveZero('amount', -1)],
  ['/wallets/1/fund', { amount: 0.001 }, amountRefused('format', 'must have at most the 2 decimals of USD')],
  ['/wallets/1/fund', { amount: 1_000_000_000.01 }, amountRefused('max', 'must be at most 1000000000')],
  [
    '/wallets/1/fund',
    { amount: 1e15 },
    invalid({ amount: [{ rule: 'max', field: 'amount', message: 'amount too large' }] }),
  ],
  ['/wallets/a%ZZ/fund', { amount: 1 }, badRequest('Invalid wallet ID')],
  ['/wallets/6/fund', { amount: 1 }, notFound('Wallet not found')],
  ['/wallets/6/fund', { amount: 1_000_000_001 }, amountRefused('max', 'must be at most 1000000000')],
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
