import { describe, expect, test } from 'bun:test'
import { badRequest, invalid, notFound, UNREADABLE, validation, worldNotFound } from '../errors.ts'
import { forFile, startServer, TestWorld, testIn } from '../harness.ts'
import { DELAYED, HUNDRED, INSTANT, NOON, type Order, PAYEE, type Payout, pay, place } from '../records.ts'
import { balanceOf, movementsOf, transactionsOf, walletsOf } from '../wallets/balances.ts'
import { makeAtNoon } from './everything.ts'
import { control, expectSoundWorld, rowsOf, succeed } from './surface.ts'

/** What an operator does in live mode, at the touch of a test (contract C15). */

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
const done = <Body>(world: TestWorld, path: string, body?: unknown) =>
  succeed<Body>(server, 'POST', `${path}?world=${world.name}`, body)

const payoutOf = async (world: TestWorld, id: string) => await world.read<Payout>(`/api/v1/payouts/${id}`)
const orderOf = async (world: TestWorld, id: number) =>
  await world.read<Order & Record<string, unknown>>(`/api/v1/orders/${id}`)

interface Refusal {
  name: string
  path: string
  body?: unknown
  status: number
  refusal: object
}

/** Each refusal is as it says, and no row is written. */
const refuses = (
  method: string,
  prepare: (world: TestWorld) => Promise<unknown>,
  refusals: readonly Refusal[],
): void => {
  test.each(refusals.map((refusal) => [refusal.name, refusal] as const))(
    'refuses %s and writes nothing',
    async (_, { path, body, status, refusal }) => {
      const world = await opened()
      await prepare(world)
      const before = await rowsOf(server, world.name)
      expect(await ask(world, method, path, body)).toMatchObject({ status, body: refusal })
      expect(await rowsOf(server, world.name)).toEqual(before)
    },
  )
}
const nothing = async (): Promise<void> => {}

test.each([
  ['GET', '/pace', undefined],
  ['PUT', '/pace', {}],
  ['POST', '/wallets', { currency: 'USD' }],
  ['POST', '/wallets/1/fund', { amount: 1 }],
  ['POST', '/payouts/x/advance', undefined],
  ['POST', '/payouts/x/fail', undefined],
  ['POST', '/payouts/x/return', undefined],
  ['POST', '/orders/1/deliver', undefined],
  ['POST', '/orders/1/fail', undefined],
  ['POST', '/orders/1/refund', undefined],
] as const)('%s /_sandbox%s: 404 for an unknown world, which is not made', async (method, path, body) => {
  const { status, body: response } = await control(server, method, `${path}?world=nowhere`, body)
  expect({ status, body: response }).toEqual({ status: 404, body: worldNotFound('nowhere') })
  const names = await succeed<{ name: string }[]>(server, 'GET', '/worlds')
  expect(names.map(({ name }) => name)).not.toContain('nowhere')
})

describe('PUT /_sandbox/pace', () => {
  test('200 returns the new pace; omitted members stay', async () => {
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
  })

  inWorld("manual stops the clock's transitions; auto continues them", async (world) => {
    const [payout, order] = [await pay(world), await place(world, DELAYED)]
    await world.clock({ advance: 'PT30M' })
    expect([(await payoutOf(world, payout.id)).status, (await orderOf(world, order.id)).status]).toEqual([
      'created',
      'PENDING',
    ])
    await ask(world, 'PUT', '/pace', { payouts: 'auto', orders: 'auto' })
    await world.clock({ advance: 'PT1S' })
    expect([(await payoutOf(world, payout.id)).status, (await orderOf(world, order.id)).status]).toEqual([
      'completed',
      'DELIVERED',
    ])
    await expectSoundWorld(server, world.name)
  })

  test('a payout that the clock does not move expires after 7 days, and its record says so', async () => {
    const world = await opened('auto')
    const dueOf = async () => {
      const [listed] = (await ask(world, 'GET', '/payouts')).body as {
        due_at: string | null
        due_event: string | null
      }[]
      const [due] = (await ask(world, 'GET', '/due')).body as { at: string; next: string }[]
      return { record: [listed?.due_at, listed?.due_event], due: [due?.at, due?.next] }
    }
    await pay(world)
    const [first, week] = ['2030-01-01T12:00:01.000Z', '2030-01-08T12:00:00.000Z']
    expect(await dueOf()).toEqual({ record: [first, 'queued'], due: [first, 'payout.queued'] })
    await ask(world, 'PUT', '/pace', { payouts: 'manual' })
    expect(await dueOf()).toEqual({ record: [week, 'expired'], due: [week, 'payout.expired'] })
    await world.clock({ advance: 'PT168H' })
    expect(await dueOf()).toEqual({ record: [null, null], due: [undefined, undefined] })
  })

  test.each(['payouts', 'orders'] as const)(
    'auto again for %s alone, they go on without the others',
    async (moving) => {
      const world = await opened()
      const [payout, order] = [await pay(world), await place(world, DELAYED)]
      await ask(world, 'PUT', '/pace', { [moving]: 'auto' })
      await world.clock({ advance: 'PT1M' })
      expect([(await payoutOf(world, payout.id)).status, (await orderOf(world, order.id)).status]).toEqual(
        moving === 'payouts' ? ['completed', 'PENDING'] : ['created', 'DELIVERED'],
      )
    },
  )

  refuses('PUT', nothing, [
    {
      name: 'another pace',
      path: '/pace',
      body: { payouts: 'fast', orders: 'manual' },
      status: 400,
      refusal: validation('payouts', 'enum', 'must be one of auto, manual'),
    },
    {
      name: 'an unknown member',
      path: '/pace',
      body: { payout: 'auto' },
      status: 400,
      refusal: validation('payout', 'enum', 'is not a known member; known are payouts, orders'),
    },
    { name: 'no body', path: '/pace', status: 400, refusal: UNREADABLE },
  ])

  inWorld('an error does not change the pace', async (world) => {
    await ask(world, 'PUT', '/pace', { payouts: 'auto', orders: 'fast' })
    expect((await ask(world, 'GET', '/pace')).body).toEqual({ payouts: 'manual', orders: 'manual' })
  })
})

describe('POST /_sandbox/wallets', () => {
  inWorld('201 opens an empty wallet for the sandbox client, PREPAID by default', async (world) => {
    expect(await ask(world, 'POST', '/wallets', { currency: 'KWD' })).toMatchObject({
      status: 201,
      body: { id: 6, currency: 'KWD', amount: 0 },
    })
    expect((await walletsOf(world)).at(-1)).toEqual({
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
    } as never)
    expect((await walletsOf(await world.limited())).map(({ id }) => id)).toEqual([5])
    await expectSoundWorld(server, world.name)
  })

  inWorld('POSTPAID with a credit limit can be spent up to the limit', async (world) => {
    await done(world, '/wallets', { currency: 'USD', type: 'POSTPAID', credit_limit: 50 })
    const purchase = { ...INSTANT, wallet_id: 6 }
    await place(world, purchase)
    expect(await balanceOf(world, 6)).toEqual({ amount: -48, reserved: 0 })
    expect((await world.post('/api/v1/orders', purchase)).status).toBe(400)
    await expectSoundWorld(server, world.name)
  })

  const CURRENCY = 'must be the ISO 4217 code of a circulating currency'
  refuses(
    'POST',
    nothing,
    (
      [
        ['no currency', {}, validation('currency', 'required', 'is required')],
        ['a currency that there is not', { currency: 'XXX' }, validation('currency', 'enum', CURRENCY)],
        ['a currency in lower case', { currency: 'usd' }, validation('currency', 'enum', CURRENCY)],
        ['an empty currency', { currency: '' }, validation('currency', 'enum', CURRENCY)],
        ['a number as currency', { currency: 1 }, validation('currency', 'string', 'must be a string')],
        [
          'another type',
          { currency: 'USD', type: 'GIFT' },
          validation('type', 'enum', 'must be one of PREPAID, POSTPAID'),
        ],
        [
          'a credit limit below 0',
          { currency: 'USD', type: 'POSTPAID', credit_limit: -1 },
          validation('credit_limit', 'min', 'must be at least 0'),
        ],
        [
          'a credit limit above 1,000,000,000',
          { currency: 'USD', type: 'POSTPAID', credit_limit: 1_000_000_001 },
          validation('credit_limit', 'max', 'must be at most 1000000000'),
        ],
        [
          'a credit limit with more decimals than the currency has',
          { currency: 'JPY', type: 'POSTPAID', credit_limit: 0.5 },
          validation('credit_limit', 'format', 'must have at most the 0 decimals of JPY'),
        ],
        [
          'a credit limit of a PREPAID wallet',
          { currency: 'USD', credit_limit: 1 },
          validation('credit_limit', 'max', 'must be 0 for a PREPAID wallet'),
        ],
        [
          'an unknown member',
          { currency: 'USD', limit: 1 },
          validation('limit', 'enum', 'is not a known member; known are currency, client_id, type, credit_limit'),
        ],
        ['no JSON', 'USD', UNREADABLE],
      ] as const
    ).map(([name, body, refusal]) => ({ name, path: '/wallets', body, status: 400, refusal })),
  )
})

describe('POST /_sandbox/wallets/{id}/fund', () => {
  inWorld('200 credits the wallet with a transaction', async (world) => {
    expect(await ask(world, 'POST', '/wallets/1/fund', { amount: 250.5, remarks: 'Top-up' })).toMatchObject({
      status: 200,
      body: { id: 1, currency: 'USD', amount: 100_250.5 },
    })
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_250.5, reserved: 0 })
    expect((await transactionsOf(world)).at(-1)).toMatchObject({
      wallet_id: 1,
      amount: 250.5,
      transaction_type: 'CREDIT',
      balance_after: 100_250.5,
      source_type: 'funding',
      source_id: null,
      remarks: 'Top-up',
      created_at: NOON,
    })
    await expectSoundWorld(server, world.name)
  })

  test.each([
    ['USD', 1, 0.01, 100_000.01],
    ['JPY', 4, 1, 10_000_001],
    ['USD of the limited client', 5, 0.5, 5.5],
    ['USD, as much as fits', 1, 1_000_000_000, 1_000_100_000],
  ])('accepts the smallest and largest amounts of %s', async (_, id, amount, total) => {
    const world = await opened()
    expect((await done<{ amount: number }>(world, `/wallets/${id}/fund`, { amount })).amount).toBe(total)
    await expectSoundWorld(server, world.name)
  })

  inWorld('remarks may be omitted or null', async (world) => {
    for (const body of [{ amount: 1 }, { amount: 1, remarks: null }]) {
      await done(world, '/wallets/1/fund', body)
      expect((await transactionsOf(world)).at(-1)?.remarks).toBeNull()
    }
  })

  refuses(
    'POST',
    nothing,
    (
      [
        ['no amount', '1', {}, 400, validation('amount', 'required', 'is required')],
        ['an amount of 0', '1', { amount: 0 }, 400, validation('amount', 'min', 'must be at least 0.01')],
        ['an amount below 0', '1', { amount: -1 }, 400, validation('amount', 'min', 'must be at least 0.01')],
        ['an amount of 0 yen', '4', { amount: 0 }, 400, validation('amount', 'min', 'must be at least 1')],
        [
          'an amount that cannot be exact',
          '1',
          { amount: 1e15 },
          400,
          invalid({ amount: [{ rule: 'max', field: 'amount', message: 'amount too large' }] }),
        ],
        [
          'an amount above 1,000,000,000',
          '1',
          { amount: 1_000_000_000.01 },
          400,
          validation('amount', 'max', 'must be at most 1000000000'),
        ],
        [
          'a fraction of a cent',
          '1',
          { amount: 0.001 },
          400,
          validation('amount', 'format', 'must have at most the 2 decimals of USD'),
        ],
        ['an amount as text', '1', { amount: '1' }, 400, validation('amount', 'number', 'must be a number')],
        [
          'remarks of more than 1,000 characters',
          '1',
          { amount: 1, remarks: 'x'.repeat(1_001) },
          400,
          validation('remarks', 'max', 'must be at most 1000 characters long'),
        ],
        [
          'an unknown member',
          '1',
          { amount: 1, note: 'x' },
          400,
          validation('note', 'enum', 'is not a known member; known are amount, remarks'),
        ],
        ['no body', '1', undefined, 400, UNREADABLE],
        ['0 as an id', '0', { amount: 1 }, 400, badRequest('Invalid wallet ID')],
        ['a word as an id', 'USD', { amount: 1 }, 400, badRequest('Invalid wallet ID')],
        ['an id whose encoding is broken', 'a%ZZ', { amount: 1 }, 400, badRequest('Invalid wallet ID')],
        ['a wallet that is not there', '6', { amount: 1 }, 404, notFound('Wallet not found')],
      ] as const
    ).map(([name, id, body, status, refusal]) => ({ name, path: `/wallets/${id}/fund`, body, status, refusal })),
  )
})

/** The payout is what its operator has made of it: the event says who, the books what. */
const eventsOf = async (world: TestWorld, id: string) =>
  (await payoutOf(world, id)).events.map(({ event_type, actor_type }) => `${event_type} by ${actor_type}`)

describe('POST /_sandbox/payouts/{id}/advance', () => {
  inWorld('200 makes one transition each time, to the end', async (world) => {
    const { id } = await pay(world)
    const statuses: string[] = []
    for (let step = 0; step < 5; step++) {
      const state = await done<{ id: string; status: string }>(world, `/payouts/${id}/advance`)
      expect(state).toEqual({ id, status: (await payoutOf(world, id)).status })
      statuses.push(state.status)
    }
    expect(statuses).toEqual(['queued', 'processing', 'processing', 'settling', 'completed'])
    expect((await eventsOf(world, id)).slice(1)).toEqual(
      ['queued', 'processing', 'submitted', 'settling', 'completed'].map((event) => `${event} by operator`),
    )
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_898.5, reserved: 0 })
    expect(await movementsOf(world)).toHaveLength(1)
    await expectSoundWorld(server, world.name)
  })

  test.each([
    ['queued', 1],
    ['processing', 2],
    ['settling', 4],
    ['action_required', 5],
    ['completed', 5],
  ])('200 advances to %s', async (to, steps) => {
    const world = await opened()
    const { id } = await pay(world)
    expect(await done<object>(world, `/payouts/${id}/advance`, { to })).toEqual({ id, status: to })
    expect((await eventsOf(world, id)).filter((event) => event.endsWith(' by operator'))).toHaveLength(steps)
  })

  inWorld('200 resumes after a required action', async (world) => {
    const { id } = await pay(world)
    await done(world, `/payouts/${id}/advance`, { to: 'action_required' })
    expect(await done<object>(world, `/payouts/${id}/advance`)).toEqual({ id, status: 'settling' })
    expect(await done<object>(world, `/payouts/${id}/advance`, { to: 'completed' })).toEqual({
      id,
      status: 'completed',
    })
  })

  test('due work is done first', async () => {
    const world = await opened('auto')
    const { id } = await pay(world)
    await world.clock({ advance: 'PT1H' })
    expect(await ask(world, 'POST', `/payouts/${id}/advance`)).toMatchObject({
      status: 400,
      body: badRequest('Cannot go from completed to another status'),
    })
  })

  refuses('POST', nothing, [
    {
      name: 'another status',
      path: '/payouts/x/advance',
      body: { to: 'failed' },
      status: 400,
      refusal: validation('to', 'enum', 'must be one of queued, processing, settling, action_required, completed'),
    },
    { name: 'a list', path: '/payouts/x/advance', body: [], status: 400, refusal: UNREADABLE },
  ])
})

describe('POST /_sandbox/payouts/{id}/fail', () => {
  test.each([
    ['a reason', { failure_code: 'account_closed', failure_reason: 'The account is closed' }],
    ['no body, with a default reason', undefined],
  ])('200 fails a payout with %s, and refunds it in full', async (_, body) => {
    const world = await opened()
    const { id } = await pay(world)
    await done(world, `/payouts/${id}/advance`, { to: 'processing' })
    expect(await done<object>(world, `/payouts/${id}/fail`, body)).toEqual({ id, status: 'failed' })
    const payout = await payoutOf(world, id)
    const said = body ?? { failure_reason: 'The payout could not be made' }
    expect(payout).toMatchObject({ status: 'failed', ...said })
    expect(payout.events.at(-1)).toMatchObject({
      event_type: 'failed',
      actor_type: 'operator',
      message: said.failure_reason,
    })
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_000, reserved: 0 })
    await expectSoundWorld(server, world.name)
  })

  refuses(
    'POST',
    nothing,
    (['failure_code', 'failure_reason'] as const).flatMap((field) =>
      (
        [
          [`an empty ${field}`, '', validation(field, 'min', 'must be at least 1 character long')],
          [`a number as ${field}`, 1, validation(field, 'string', 'must be a string')],
        ] as const
      ).map(([name, value, refusal]) => ({
        name,
        path: '/payouts/x/fail',
        body: { [field]: value },
        status: 400,
        refusal,
      })),
    ),
  )
})

describe('POST /_sandbox/payouts/{id}/return', () => {
  inWorld(
    '200 credits the amount without the fees; the payout stays completed, and the reason is the message',
    async (world) => {
      for (const [body, message] of [
        [{ failure_reason: 'The account was closed' }, 'The account was closed'],
        [{ failure_code: 'account_closed' }, 'account_closed'],
        [{ failure_code: 'account_closed', failure_reason: 'Closed' }, 'account_closed: Closed'],
        [undefined, null],
      ] as const) {
        const { id } = await pay(world, { ...HUNDRED, reference_id: `bonus ${message}` })
        await done(world, `/payouts/${id}/advance`, { to: 'completed' })
        const { amount } = await balanceOf(world, 1)
        expect(await done<object>(world, `/payouts/${id}/return`, body)).toEqual({ id, status: 'completed' })
        expect(await balanceOf(world, 1)).toEqual({ amount: amount + 100, reserved: 0 })
        expect((await payoutOf(world, id)).events.at(-1)).toMatchObject({
          event_type: 'returned',
          actor_type: 'operator',
          message,
        })
      }
      await expectSoundWorld(server, world.name)
    },
  )
})

test.each<[verb: string, at: string, body: object | undefined, message: string]>([
  ['advance', 'processing', { to: 'queued' }, 'Cannot go from processing to queued'],
  ['advance', 'queued', { to: 'queued' }, 'Cannot go from queued to queued'],
  ['advance', 'completed', { to: 'settling' }, 'Cannot go from completed to settling'],
  ['advance', 'cancelled', undefined, 'Cannot go from cancelled to another status'],
  ['advance', 'cancelled', { to: 'completed' }, 'Cannot go from cancelled to completed'],
  ...['created', 'queued', 'action_required', 'completed'].map((at): [string, string, undefined, string] => [
    'fail',
    at,
    undefined,
    `Cannot go from ${at} to failed`,
  ]),
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
    expect(await ask(world, 'POST', `/payouts/${id}/${verb}`, body)).toMatchObject({
      status: 400,
      body: badRequest(message),
    })
    expect(await rowsOf(server, world.name)).toEqual(before)
  },
)

describe.each(['advance', 'fail', 'return'])('POST /_sandbox/payouts/{id}/%s', (verb) => {
  inWorld('finds the payouts of both clients', async (world) => {
    const limited = await world.limited()
    const { id } = (await (
      await limited.post('/api/v1/payouts', {
        reference_id: 'small',
        wallet_id: 5,
        amount: 1,
        currency: 'USD',
        ...PAYEE,
      })
    ).json()) as { id: string }
    if (verb !== 'advance') {
      await done(world, `/payouts/${id}/advance`, { to: verb === 'fail' ? 'processing' : 'completed' })
    }
    expect(await done<object>(world, `/payouts/${id}/${verb}`)).toMatchObject({ id })
  })

  test.each(['nobody', '1', 'pyt_0mjvbk3w000000b8g4l0r3ya', '%00', '%C3%BC', 'a%2Fb', 'a%ZZ'])(
    '404 for %s, and for a payout of another world',
    async (id) => {
      const [world, other] = [await opened(), await opened()]
      const theirs = await pay(other)
      for (const unknown of [id, theirs.id.replace(/.$/, '_')]) {
        expect(await ask(world, 'POST', `/payouts/${unknown}/${verb}`)).toMatchObject({
          status: 404,
          body: notFound('Payout not found'),
        })
      }
      expect((await ask(world, 'POST', `/payouts/${theirs.id}/${verb}`)).status).toBe(404)
      expect((await payoutOf(other, theirs.id)).events).toHaveLength(1)
    },
  )
})

describe('POST /_sandbox/orders/{id}/deliver', () => {
  inWorld('200 delivers a number, then the rest, and settles with the last', async (world) => {
    const { id, amount } = await place(world, DELAYED)
    const reserved = (await balanceOf(world, 2)).reserved
    expect(reserved).toBeGreaterThan(0)
    expect(await done<object>(world, `/orders/${id}/deliver`, { quantity: 1 })).toEqual({
      id,
      status: 'PARTIALLY_DELIVERED',
    })
    expect(await orderOf(world, id)).toMatchObject({ status: 'PARTIALLY_DELIVERED', amount, delivered_at: null })
    expect((await orderOf(world, id)).vouchers).toHaveLength(1)
    expect((await balanceOf(world, 2)).reserved).toBe(reserved)
    await expectSoundWorld(server, world.name)
    const [first] = (await orderOf(world, id)).vouchers
    expect(await done<object>(world, `/orders/${id}/deliver`)).toEqual({ id, status: 'DELIVERED' })
    const delivered = await orderOf(world, id)
    expect(delivered).toMatchObject({ status: 'DELIVERED', delivered_at: NOON })
    expect(delivered.vouchers).toHaveLength(3)
    expect(delivered.vouchers[0]).toEqual(first as Order['vouchers'][number])
    expect((await balanceOf(world, 2)).reserved).toBe(0)
    expect(await movementsOf(world)).toHaveLength(1)
    await expectSoundWorld(server, world.name)
  })

  inWorld('200 delivers all if the number is too high', async (world) => {
    const { id } = await place(world, DELAYED)
    expect(await done<object>(world, `/orders/${id}/deliver`, { quantity: 1_000_000 })).toEqual({
      id,
      status: 'DELIVERED',
    })
    expect((await orderOf(world, id)).vouchers).toHaveLength(3)
  })

  test('the clock does not deliver again', async () => {
    const world = await opened('auto')
    const { id } = await place(world, DELAYED)
    await done(world, `/orders/${id}/deliver`)
    const before = await orderOf(world, id)
    await world.clock({ advance: 'PT10M' })
    expect(await orderOf(world, id)).toEqual(before)
  })

  refuses(
    'POST',
    (world) => place(world, DELAYED),
    (
      [
        ['a quantity of 0', { quantity: 0 }, validation('quantity', 'min', 'must be at least 1')],
        ['half of one', { quantity: 1.5 }, validation('quantity', 'integer', 'must be a whole number')],
        ['a quantity as text', { quantity: '1' }, validation('quantity', 'integer', 'must be a whole number')],
        ['an unknown member', { count: 1 }, validation('count', 'enum', 'is not a known member; known are quantity')],
        ['no JSON', 'all', UNREADABLE],
      ] as const
    ).map(([name, body, refusal]) => ({ name, path: '/orders/1/deliver', body, status: 400, refusal })),
  )
})

describe('POST /_sandbox/orders/{id}/fail', () => {
  inWorld('200 fails an undelivered order and refunds it in full', async (world) => {
    const { id } = await place(world, DELAYED)
    expect(await done<object>(world, `/orders/${id}/fail`, { failure_reason: 'Out of stock' })).toEqual({
      id,
      status: 'FAILED',
    })
    expect(await orderOf(world, id)).toMatchObject({
      status: 'FAILED',
      failure_reason: 'Out of stock',
      failed_at: NOON,
      vouchers: [],
    })
    expect(await balanceOf(world, 2)).toEqual({ amount: 100_000, reserved: 0 })
    await expectSoundWorld(server, world.name)
  })

  inWorld('200 refunds the rest of a partly delivered order, also without a body', async (world) => {
    const { id } = await place(world, DELAYED)
    const paidFor = 100_000 - (await balanceOf(world, 2)).amount
    await done(world, `/orders/${id}/deliver`, { quantity: 1 })
    expect(await done<object>(world, `/orders/${id}/fail`)).toEqual({ id, status: 'PARTIALLY_DELIVERED' })
    const order = await orderOf(world, id)
    expect(order).toMatchObject({ failure_reason: 'The order could not be delivered', failed_at: NOON })
    expect(order.vouchers).toHaveLength(1)
    const [, refund] = await movementsOf(world)
    expect(refund).toMatchObject({ transaction_type: 'CREDIT', source_type: 'refund' })
    expect(Math.abs((refund?.amount ?? 0) - (paidFor * 2) / 3)).toBeLessThan(0.02)
    expect((await balanceOf(world, 2)).reserved).toBe(0)
    await expectSoundWorld(server, world.name)
    for (const verb of ['deliver', 'fail']) {
      expect((await ask(world, 'POST', `/orders/${id}/${verb}`)).status).toBe(400)
    }
  })

  refuses('POST', (world) => place(world, DELAYED), [
    {
      name: 'an empty reason',
      path: '/orders/1/fail',
      body: { failure_reason: '' },
      status: 400,
      refusal: validation('failure_reason', 'min', 'must be at least 1 character long'),
    },
    {
      name: 'an unknown member',
      path: '/orders/1/fail',
      body: { reason: 'x' },
      status: 400,
      refusal: validation('reason', 'enum', 'is not a known member; known are failure_reason'),
    },
  ])
})

describe.each([
  ['deliver', 'DELIVERED'],
  ['fail', 'FAILED'],
])('POST /_sandbox/orders/{id}/%s', (verb, to) => {
  refuses('POST', (world) => place(world, INSTANT), [
    {
      name: 'what was delivered',
      path: `/orders/1/${verb}`,
      status: 400,
      refusal: badRequest(`Cannot go from DELIVERED to ${to}`),
    },
    {
      name: 'an order that is not there',
      path: `/orders/2/${verb}`,
      status: 404,
      refusal: notFound('Order not found'),
    },
    ...['0', '01', 'x', '-1', '2147483648', 'a%ZZ'].map((id) => ({
      name: `${id} as an id`,
      path: `/orders/${id}/${verb}`,
      status: 400,
      refusal: badRequest('Invalid order ID'),
    })),
  ])

  inWorld('400 refuses a cancelled order, which is refunded once', async (world) => {
    const { id } = await place(world, DELAYED)
    await world.post(`/api/v1/orders/${id}/cancel`)
    expect(await ask(world, 'POST', `/orders/${id}/${verb}`)).toMatchObject({
      status: 400,
      body: badRequest(`Cannot go from CANCELLED to ${to}`),
    })
    expect(await balanceOf(world, 2)).toEqual({ amount: 100_000, reserved: 0 })
    await expectSoundWorld(server, world.name)
  })
})

describe('POST /_sandbox/orders/{id}/refund', () => {
  inWorld('200 refunds some vouchers of a delivered order, then the rest, and keeps its status', async (world) => {
    const { id, amount } = await place(world, DELAYED)
    await done(world, `/orders/${id}/deliver`)
    const some = { vouchers: [`${id}-1`, `${id}-3`], remarks: 'Wrong brand' }
    expect(await done<object>(world, `/orders/${id}/refund`, some)).toEqual({ id, status: 'DELIVERED' })
    const [, refund] = await movementsOf(world)
    expect(refund).toMatchObject({ transaction_type: 'CREDIT', source_type: 'refund', remarks: 'Wrong brand' })
    expect(await orderOf(world, id)).toMatchObject({ status: 'DELIVERED', amount, refunded_amount: refund?.amount })
    expect(await done<object>(world, `/orders/${id}/refund`)).toEqual({ id, status: 'DELIVERED' })
    expect(await orderOf(world, id)).toMatchObject({ status: 'DELIVERED', refunded_amount: amount })
    expect(await balanceOf(world, 2)).toEqual({ amount: 100_000, reserved: 0 })
    expect((await movementsOf(world)).at(-1)).toMatchObject({ remarks: 'Refunded' })
    await expectSoundWorld(server, world.name)
  })

  inWorld('200 refunds what was delivered of an order that failed', async (world) => {
    const { id } = await place(world, DELAYED)
    await done(world, `/orders/${id}/deliver`, { quantity: 1 })
    await done(world, `/orders/${id}/fail`)
    expect(await done<object>(world, `/orders/${id}/refund`)).toEqual({ id, status: 'PARTIALLY_DELIVERED' })
    expect(await balanceOf(world, 2)).toEqual({ amount: 100_000, reserved: 0 })
    await expectSoundWorld(server, world.name)
  })

  refuses(
    'POST',
    async (world) => {
      await place(world, INSTANT)
      await done(world, '/orders/1/refund')
      await place(world, DELAYED)
    },
    [
      {
        name: 'what is already refunded',
        path: '/orders/1/refund',
        status: 400,
        refusal: badRequest('Order 1 is already refunded'),
      },
      {
        name: 'what is not delivered',
        path: '/orders/2/refund',
        status: 400,
        refusal: badRequest('Order 2 is PENDING: only a delivered order can be refunded'),
      },
      {
        name: 'no voucher at all',
        path: '/orders/1/refund',
        body: { vouchers: [] },
        status: 400,
        refusal: validation('vouchers', 'min', 'must have at least 1 item'),
      },
      {
        name: 'an order that is not there',
        path: '/orders/3/refund',
        status: 404,
        refusal: notFound('Order not found'),
      },
    ],
  )
})
