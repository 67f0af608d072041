import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv from 'ajv'
import { SHIPPED } from '../../src/sandbox/scenario/shipped.ts'
import { badRequest, UNREADABLE } from '../errors.ts'
import { forFile, startServer, TestWorld, testIn } from '../harness.ts'
import { INSTANT, NOON, PAYEE, pay, place } from '../records.ts'
import { everything } from './everything.ts'
import { control, expectSoundWorld, read, rowsOf, succeed } from './surface.ts'

/** A world as one document (contract C15, decision 57). */

const server = forFile(await startServer('--rate-limit', 'off', '--seed', '57'))
const inWorld = testIn(() => server.world())
const atNoon = testIn(() => server.world(NOON))

const YAML = { 'content-type': 'application/yaml' }
const put = (world: TestWorld, document: unknown, headers: Record<string, string> = {}) =>
  control(server, 'PUT', `/scenario?world=${world.name}`, document, headers)
const loaded = async (world: TestWorld, document: unknown, headers: Record<string, string> = {}): Promise<void> => {
  const { status, body } = await put(world, document, headers)
  if (status !== 200) throw new Error(JSON.stringify(body, null, 2))
}
const textOf = async (world: TestWorld, accept = 'application/json'): Promise<string> =>
  (await server.request(`/_sandbox/scenario?world=${world.name}`, { headers: { accept } })).text()
const documentOf = async (world: TestWorld) => JSON.parse(await textOf(world)) as Record<string, object[]>
const list = async <Row>(world: TestWorld, path: string): Promise<Row[]> => await world.read<Row[]>(`/api/v1/${path}`)

const CLOCK = { now: NOON, frozen: true }
const ADA = 'ben_0000000000000000000ada'
const SAVED = { id: ADA, email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
const ORDER_STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'PARTIALLY_DELIVERED', 'FAILED', 'CANCELLED']
const PAYOUT_STATUSES = [
  ...['created', 'queued', 'processing', 'settling', 'completed', 'failed', 'action_required', 'cancelled', 'expired'],
]
const EVERY_STATE = {
  clock: CLOCK,
  pace: { orders: 'manual', payouts: 'manual' },
  rates: { base: 'USD', rates: { EUR: '0.92', INR: '83.5' } },
  clients: [{ name: 'shop', discounts: { '2': 7.5 }, rate_limit: '500/h', max_quantity: 9 }],
  products: [
    { id: 1, active: false },
    { id: 9, stock: 2, denominations: [{ min_value: 10, max_value: 10, discount: 1 }] },
  ],
  beneficiaries: [SAVED],
  orders: [
    ...ORDER_STATUSES.map((status) => ({ product_id: 2, denomination: 50, quantity: 4, wallet_id: 2, status })),
    ...ORDER_STATUSES.map((status) => ({ product_id: 9, denomination: 10, quantity: 2, status, placed_at: '-P2D' })),
    {
      product_id: 5,
      denomination: 25,
      quantity: 3,
      status: 'PARTIALLY_DELIVERED',
      delivered_quantity: 2,
      failed_at: '-PT1H',
      placed_at: '-PT2H',
      refunded_vouchers: [2],
    },
    { product_id: 2, denomination: 50, quantity: 3, refunded_vouchers: [1, 3] },
  ],
  payouts: [
    ...PAYOUT_STATUSES.map((status) => ({ amount: 10, currency: 'USD', status, beneficiary_id: ADA })),
    ...PAYOUT_STATUSES.map((status) => ({
      ...{ amount: 99.99, currency: 'INR', status, wallet_id: 2, created_at: '-P6D' },
      ...{ beneficiary_email: 'grace@example.com', beneficiary_first_name: 'Grace', beneficiary_last_name: 'Hopper' },
    })),
    { amount: 3, currency: 'EUR', returned: true, beneficiary_id: ADA },
  ],
  faults: [{ error: 'charges.rate_failed', match: { path: '/api/v1/products/:id/charges' }, times: 1 }],
}

/** Twenty thousand people take 12 MiB in a database. */
const CROWD = {
  beneficiaries: Array.from({ length: 20_000 }, () => ({ email: 'a@example.com', first_name: 'A', last_name: 'B' })),
}

describe('PUT /_sandbox/scenario', () => {
  test('several worlds that become larger than 8 MiB are loaded at once, while other work takes turns', async () => {
    const worlds = await Promise.all([1, 2, 3].map(() => server.world()))
    const loaded = await Promise.all(worlds.map((world) => put(world, CROWD)))
    expect(loaded.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const world of worlds) {
      const response = await world.get('/api/v1/beneficiaries?limit=1')
      expect([response.status, response.headers.get('x-total-count')]).toEqual([200, '20000'])
    }
  })

  test('a world that is reset meanwhile gets the document; one that is deleted is not found, or was loaded before', async () => {
    for (const [method, statuses] of [
      ['DELETE', [200, 404]],
      ['PUT', [200]],
    ] as const) {
      const world = await server.world()
      const loading = put(world, CROWD)
      await control(server, 'GET', '/clock') // by then, it may be being loaded
      expect((await control(server, method, `/worlds/${world.name}`)).status).toBeLessThan(300)
      expect(statuses).toContain((await loading).status as never)
    }
  })

  atNoon('logins go on meanwhile, also while the clock stands still, and their tokens live on', async (world) => {
    for (let round = 0; round < 10; round++) {
      const loading = put(world, { clock: CLOCK, pace: { orders: 'auto' } })
      const during = await Promise.all([world.again(), world.again(), world.again()])
      expect((await loading).status).toBe(200)
      const after = await world.again()
      for (const session of [...during, after]) expect((await session.get('/api/v1/wallets')).status).toBe(200)
    }
  })

  atNoon('several at once for one world are loaded one after the other', async (world) => {
    const orders = Array.from({ length: 60 }, () => ({ product_id: 5, denomination: 25, quantity: 1 }))
    const loaded = await Promise.all([1, 2, 3, 4].map((count) => put(world, { orders: orders.slice(0, count * 15) })))
    expect(loaded.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect([15, 30, 45, 60]).toContain((await list<object>(world, 'orders?limit=100')).length)
    await expectSoundWorld(server, world.name)
  })

  atNoon('200 returns the world, with orders and payouts in every state and books that balance', async (world) => {
    expect(await put(world, EVERY_STATE)).toMatchObject({
      status: 200,
      body: { name: world.name, username: `sbx_${world.name}`, now: NOON },
    })
    const orders = await list<{ status: string; vouchers: object[]; amount: number; refunded_amount: number }>(
      world,
      'orders?limit=100',
    )
    expect(orders.map(({ status }) => status)).toEqual([
      'DELIVERED',
      'PARTIALLY_DELIVERED',
      ...[...ORDER_STATUSES, ...ORDER_STATUSES].reverse(),
    ])
    expect(orders.map(({ vouchers }) => vouchers.length)).toEqual([3, 2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 4, 0, 0])
    // Two vouchers of three; of the other order, the one that failed and one of the two delivered ones.
    for (const { amount, refunded_amount } of orders.slice(0, 2))
      expect(refunded_amount).toBeCloseTo((amount * 2) / 3, 1)
    const payouts = await list<{ status: string }>(world, 'payouts?limit=100&sort_order=ASC')
    expect(payouts.map(({ status }) => status).sort()).toEqual(
      [...PAYOUT_STATUSES, ...PAYOUT_STATUSES, 'completed'].sort(),
    )
    const [saved] = await list<{ total_payouts: number; total_amount: number }>(world, 'beneficiaries')
    expect(saved).toMatchObject({ total_payouts: 2, total_amount: 13.26 })
    expect((await rowsOf(server, world.name)).events).toEqual([])
    await expectSoundWorld(server, world.name)
  })

  atNoon('wallets hold what the document says, after all of the past', async (world) => {
    const wallets = [
      { id: 7, currency: 'USD', amount: 12.5, default: true },
      { id: 8, currency: 'EUR', type: 'POSTPAID', credit_limit: 100, amount: -50 },
    ]
    const orders = [
      { product_id: 2, denomination: 50, quantity: 2, wallet_id: 7, status: 'PENDING' },
      { product_id: 2, denomination: 50, quantity: 1, wallet_id: 8, status: 'FAILED' },
    ]
    await loaded(world, { clock: CLOCK, wallets, orders })
    expect(await list<object>(world, 'wallets?sort_by=id&sort_order=ASC')).toMatchObject([
      { id: 7, amount: 12.5, reserved_amount: 96, is_default: true },
      { id: 8, amount: -50, reserved_amount: 0, type: 'POSTPAID', credit_limit: 100 },
    ])
    const movements = await list<object>(world, 'transactions?wallet_id=7&sort_by=id&sort_order=ASC')
    expect(movements).toMatchObject([
      { transaction_type: 'CREDIT', amount: 108.5, source_type: 'funding', remarks: 'Opening balance' },
      { transaction_type: 'DEBIT', amount: 96, source_type: 'order', balance_after: 12.5 },
    ])
    await expectSoundWorld(server, world.name)
  })

  inWorld('sections that are left out are as they are seeded', async (world) => {
    await place(world, INSTANT)
    await loaded(world, {})
    const seeded = await server.world()
    expect(await documentOf(world)).toEqual(await documentOf(seeded))
    expect(await list(world, 'orders')).toEqual([])
  })

  atNoon('what is open goes on from where the document leaves it', async (world) => {
    await loaded(world, {
      clock: CLOCK,
      orders: [{ product_id: 5, denomination: 25, quantity: 1, status: 'PROCESSING', placed_at: '-PT3S' }],
      payouts: [{ amount: 5, currency: 'USD', status: 'queued', created_at: '-PT1S', ...PERSON }],
    })
    await world.clock({ advance: 'PT4S' })
    expect(await list<object>(world, 'orders')).toMatchObject([
      { status: 'DELIVERED', delivered_at: '2030-01-01T12:00:02.000Z' },
    ])
    expect(await list<object>(world, 'payouts')).toMatchObject([{ status: 'completed' }])
    await expectSoundWorld(server, world.name)
  })

  atNoon('tokens and passwords live on, of clients that stay', async (world) => {
    const own = { name: 'shop', password: 'open sesame' }
    await succeed(server, 'POST', `/clients?world=${world.name}`, own)
    const limited = await world.limited()
    await loaded(world, { clients: [{ name: 'shop' }, { name: 'new' }] })
    expect((await world.get('/api/v1/countries/1')).status).toBe(200)
    expect((await limited.get('/api/v1/countries/1')).status).toBe(200)
    const statuses = await Promise.all(
      [
        [`sbx_${world.name}.shop`, 'open sesame'],
        [`sbx_${world.name}.shop`, 'a password'],
        [`sbx_${world.name}.new`, 'a password'],
        [`sbx_${world.name}.new`, 'another'],
      ].map(async ([username, password]) => {
        const body = JSON.stringify({ username, password })
        return (await server.request('/auth/login', { method: 'POST', body })).status
      }),
    )
    expect(statuses).toEqual([200, 401, 200, 401])
    // The same time again, and no identifier twice.
    await loaded(world, { clock: CLOCK })
    expect((await world.again()).token).not.toBe(world.token)
  })

  atNoon('webhooks live on with their secrets, and deliver what happens from now on', async (world) => {
    const url = `${server.url}/_sandbox/inbox/shop?world=${world.name}`
    const wanted = { name: 'shop', url, events: ['order.*'] }
    await world.post('/api/v1/webhooks', wanted)
    const webhooks = await list<object>(world, 'webhooks')
    const settle = () => control(server, 'POST', `/webhooks/settle?world=${world.name}`)
    await place(world, INSTANT)
    await settle()
    await loaded(world, { clock: CLOCK })
    expect(await list<object>(world, 'webhooks')).toEqual(webhooks)
    expect(await list<object>(world, 'events')).toEqual([])
    await place(world, INSTANT)
    await settle()
    const received = await succeed<{ body: string }[]>(server, 'GET', `/inbox?world=${world.name}`)
    expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(['order.created', 'order.delivered'])
  })

  test('the default world keeps its documented credentials, and gives a client its name as password', async () => {
    await using own = await startServer('--rate-limit', 'off')
    await succeed(own, 'PUT', '/scenario', { clients: [{ name: 'shop' }] })
    for (const [username, password] of [
      ['sandbox', 'sandbox'],
      ['limited', 'limited'],
      ['sbx_default.shop', 'shop'],
    ]) {
      const response = await own.request('/auth/login', {
        method: 'POST',
        body: JSON.stringify({ username, password }),
      })
      expect([username, response.status]).toEqual([username, 200])
    }
  })

  atNoon('everything or nothing: every problem is listed with its place, and nothing changes', async (world) => {
    await place(world, INSTANT)
    const before = await rowsOf(server, world.name)
    const { status, body } = await put(world, {
      clients: [{ name: 'shop', rate_limit: 'fast' }, { name: 'shop' }],
      wallets: [
        { currency: 'XXX' },
        { currency: 'JPY', amount: 0.5 },
        { currency: 'USD', amount: -1 },
        { currency: 'USD' },
      ],
      products: [{ id: 999_999, stock: 1 }],
      beneficiaries: [
        { ...SAVED, email: 'ada@' },
        { ...SAVED, id: undefined, country: 'XX' },
      ],
      orders: [
        { product_id: 2, denomination: 999_999, quantity: 1 },
        { product_id: 2, denomination: 50, quantity: 1, status: 'PENDING', delivered_at: NOON },
        { product_id: 2, denomination: 50, quantity: 1, placed_at: '-P2D', delivered_at: '-P3D' },
        { product_id: 2, denomination: 50, quantity: 1, client: 'nobody' },
        { product_id: 2, denomination: 50, quantity: 1, wallet_id: 99 },
        { product_id: 2, denomination: 50, quantity: 2, status: 'PARTIALLY_DELIVERED', delivered_quantity: 2 },
        { product_id: 2, denomination: 50, quantity: 2, refunded_vouchers: [3] },
        { product_id: 5, denomination: 25, quantity: 2, status: 'PENDING', refunded_vouchers: [1] },
        { product_id: 2, denomination: 50, quantity: 2, refunded_vouchers: [1, 1] },
      ],
      payouts: [
        { amount: 0, currency: 'USD', ...PERSON },
        { amount: 1, currency: 'USD', beneficiary_id: 'ben_nobody' },
        {
          amount: 1,
          currency: 'USD',
          status: 'completed',
          ...PERSON,
          events: [{ event_type: 'created', created_at: '-P1D' }],
        },
        {
          ...{ amount: 1, currency: 'USD', ...PERSON },
          events: [
            { event_type: 'created', created_at: '-P1D' },
            { event_type: 'completed', created_at: '-P1D' },
          ],
        },
      ],
    })
    expect(status).toBe(400)
    expect(Object.keys((body as { error: { messages: object } }).error.messages).sort()).toEqual(
      [
        'clients.0.rate_limit',
        'clients.1.name',
        'wallets.0.currency',
        'wallets.1.amount',
        'wallets.2.amount',
        'products.0.id',
        'beneficiaries.0.email',
        'beneficiaries.1.country',
        'orders.0.denomination',
        'orders.1.delivered_at',
        'orders.2.delivered_at',
        'orders.3.client',
        'orders.4.wallet_id',
        'orders.5.delivered_quantity',
        'orders.6.refunded_vouchers',
        'orders.7.refunded_vouchers',
        'orders.8.refunded_vouchers',
        'payouts.0.amount',
        'payouts.1.beneficiary_id',
        'payouts.2.status',
        'payouts.3.events.1.event_type',
      ].sort(),
    )
    expect(await rowsOf(server, world.name)).toEqual(before)
    expect((await world.get('/api/v1/orders')).status).toBe(200)
  })

  test.each([
    ['an unknown section', { order: [] }, 'order'],
    [
      'an unknown member',
      { orders: [{ product_id: 1, denomination: 100, quantity: 1, colour: 'red' }] },
      'orders.0.colour',
    ],
    ['a member of another type', { wallets: [{ currency: 1 }] }, 'wallets.0.currency'],
    ['a status that there is not', { payouts: [{ amount: 1, currency: 'USD', status: 'gone' }] }, 'payouts.0.status'],
    ['a clock that is no time', { clock: { now: 'noon' } }, 'clock.now'],
    ['the same id twice', { orders: [ORDER_ONE(), ORDER_ONE()] }, 'orders.1.id'],
    [
      'a reference that is the id of an earlier payout, which has no other',
      { payouts: [PAYOUT({ id: TAKEN }), PAYOUT({ reference_id: TAKEN })] },
      'payouts.1.reference_id',
    ],
    [
      'the id of a payout without a reference, which an earlier one has as its reference',
      { payouts: [PAYOUT({ reference_id: TAKEN }), PAYOUT({ id: TAKEN })] },
      'payouts.1.id',
    ],
    [
      'a second default wallet',
      {
        wallets: [
          { currency: 'USD', default: true },
          { currency: 'EUR', default: true },
        ],
      },
      'wallets.1.default',
    ],
    [
      'a time in the future',
      { clock: CLOCK, orders: [{ ...ORDER_ONE(), placed_at: '2031-01-01T00:00:00Z' }] },
      'orders.0.placed_at',
    ],
    [
      'a charge that there is not',
      { orders: [{ ...ORDER_ONE(), charges: { ...CHARGES(0), tip: 1 } }] },
      'orders.0.charges.tip',
    ],
    ['a rate that is none', { rates: { base: 'USD', rates: { EUR: 'much' } } }, 'rates.rates.EUR'],
    ['a fault that does not exist', { faults: [{ error: 'nothing' }] }, 'faults.0.error'],
    ['NUL', { beneficiaries: [{ ...SAVED, first_name: 'A\0' }] }, 'beneficiaries.0'],
    ['more vouchers than a world makes', { orders: [{ ...ORDER_ONE(), quantity: 1_000_000 }] }, 'orders.0'],
    [
      'charges that do not add up',
      { orders: [{ ...ORDER_ONE(), product_name: 'x', charges: CHARGES(1) }] },
      'orders.0.charges.total_payable',
    ],
  ])('400 names %s', async (_, document, field) => {
    const world = await server.world()
    const { status, body } = await put(world, document)
    expect(status).toBe(400)
    expect(Object.keys((body as { error: { messages: object } }).error.messages)).toContain(field)
  })

  test.each([
    ['JSON', {}, (depth: number) => `{"beneficiaries":${'['.repeat(depth)}${']'.repeat(depth)}}`],
    ['metadata', {}, (depth: number) => DEEP_METADATA(depth)],
    ['YAML', YAML, (depth: number) => `orders: ${'['.repeat(depth)}${']'.repeat(depth)}`],
  ])('400 refuses %s that is nested a hundred thousand deep', async (_, headers, textOfDepth) => {
    const world = await server.world()
    expect((await put(world, textOfDepth(100_000), headers)).status).toBe(400)
    expect((await world.get('/api/v1/countries/1')).status).toBe(200)
  })

  test.each([
    ['no JSON', '{"orders":'],
    ['a list', '[]'],
    ['nothing', ''],
  ])('400 refuses %s', async (_, text) => {
    const world = await server.world()
    expect(await put(world, text)).toMatchObject({ status: 400, body: UNREADABLE })
  })

  test('404 for an unknown world, which is not made', async () => {
    expect((await control(server, 'PUT', '/scenario?world=nowhere', {})).status).toBe(404)
    expect((await control(server, 'GET', '/scenario?world=nowhere')).status).toBe(404)
  })
})

const PERSON = { ...PAYEE }
const TAKEN = `pyt_${'0'.repeat(25)}`
function PAYOUT(name: object) {
  return { amount: 1, currency: 'USD', ...PERSON, ...name }
}
function DEEP_METADATA(depth: number) {
  const metadata = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  return `{"beneficiaries":[{"email":"ada@example.com","first_name":"A","last_name":"L","metadata":${metadata}}]}`
}
function ORDER_ONE() {
  return { id: 1, product_id: 2, denomination: 50, quantity: 1 }
}
function CHARGES(missing: number) {
  return {
    ...{ non_discounted_total: 50, discount_amount: 2, total_amount: 48, discount: 4, gst_amount: 0 },
    ...{ total_payable: 48 - missing, max_quantity: 100, net_amount: 48, handling_fee_amount: 0 },
    charges_details: { source_currency: 'USD', destination_currency: 'USD', forex_rate: null, conversion_fee: null },
  }
}

describe('GET /_sandbox/scenario', () => {
  test.each(['application/json', 'application/yaml'])(
    'as %s: loaded and read again, it is the same bytes',
    async (type) => {
      const [world, other] = [await server.world(), await server.world()]
      await loaded(world, EVERY_STATE)
      const text = await textOf(world, type)
      await loaded(other, text, { 'content-type': type })
      expect(await textOf(other, type)).toBe(text)
      await loaded(world, text, { 'content-type': type })
      expect(await textOf(world, type)).toBe(text)
      await expectSoundWorld(server, other.name)
    },
  )

  test('a world that has lived is the same to its clients, but for codes and transactions', async () => {
    await succeed(server, 'PUT', '/worlds/lived')
    await succeed(server, 'POST', '/clock?world=lived', CLOCK)
    await everything(server, 'lived')
    await succeed(server, 'DELETE', '/faults?world=lived')
    const lived = await TestWorld.open(server, 'lived')
    const copy = await server.world()
    await loaded(copy, await textOf(lived))
    expect(await textOf(copy)).toBe(await textOf(lived))
    const again = await copy.again()
    for (const path of [
      'orders?limit=100',
      'payouts?limit=100',
      'beneficiaries?limit=100',
      'wallets',
      'products?limit=10000',
    ]) {
      const seen = async (world: TestWorld) =>
        JSON.parse(await (await world.get(`/api/v1/${path}`)).text(), (name, value: unknown) =>
          MADE_ANEW.has(name) ? undefined : value,
        ) as unknown
      expect(await seen(again)).toEqual(await seen(lived))
    }
    await expectSoundWorld(server, copy.name)
  })

  inWorld('has no world name, token, password or code', async (world) => {
    const { vouchers } = await place(world, INSTANT)
    const rows = await rowsOf(server, world.name)
    const text = await textOf(world)
    const [{ card_number = '' } = {}] = vouchers
    const secrets = [
      world.name,
      world.token,
      card_number,
      ...(rows.logins ?? []).map((login) => (login as { id: string }).id),
    ]
    const digests = (rows.clients ?? []).map((client) => (client as { password_sha256: string }).password_sha256)
    for (const secret of [...secrets, ...digests]) expect(text).not.toContain(secret)
  })

  inWorld('a clock that runs is told by how far it is ahead, so that the document does not age', async (world) => {
    await world.clock({ advance: 'P1D' })
    const text = await textOf(world)
    expect(JSON.parse(text)).toMatchObject({ clock: { offset_ms: expect.any(Number) } })
    await loaded(world, text)
    expect(await textOf(world)).toBe(text)
  })

  test('rules that have struck as often as they should are left out, and the others go on counting', async () => {
    const world = await server.world()

    const post = (rule: object) => world.control('/faults', rule)
    await post({ error: 'countries.not_found', times: 1 })
    await post({ error: 'currencies.not_found', times: 2 })
    await world.get('/api/v1/countries/1')
    await world.get('/api/v1/currencies/1')
    expect((await documentOf(world)).faults).toMatchObject([{ error: 'currencies.not_found', times: 1 }])
    await loaded(world, await textOf(world))
    const statuses = [await world.get('/api/v1/currencies/1'), await world.get('/api/v1/currencies/1')]
    expect(statuses.map(({ status }) => status)).toEqual([404, 200])
  })
})

/** What a world that was loaded makes anew. */
const MADE_ANEW = new Set(['card_number', 'pin_code', 'claim_url', 'transaction_id', 'updated_at'])

describe('as YAML', () => {
  atNoon('comments, anchors and times before the present are read', async (world) => {
    await loaded(
      world,
      `# Two orders alike
clock: { now: ${NOON}, frozen: true }
pace: { orders: manual }
orders:
  - &late { product_id: 5, denomination: 25, quantity: 1, status: PENDING, placed_at: -P3D }
  - *late
`,
      YAML,
    )
    expect(await list<object>(world, 'orders')).toMatchObject([
      { id: 2, status: 'PENDING', placed_at: '2029-12-29T12:00:00.000Z' },
      { id: 1, status: 'PENDING', placed_at: '2029-12-29T12:00:00.000Z' },
    ])
  })

  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...[...'bcdefghi'].map((name, index) => {
      const before = 'abcdefghi'[index]
      return `${name}: &${name} [${`*${before},`.repeat(9).slice(0, -1)}]`
    }),
  ].join('\n')
  test.each([
    ['a tag', 'orders: !!set {}', 'tag'],
    ['a tag of somebody', 'clock: !mine { frozen: true }', 'tag'],
    ['aliases that grow without end', bomb, 'alias'],
    ['a member twice', 'orders: []\norders: []', 'unique'],
    ['two documents', 'orders: []\n---\norders: []', 'not YAML'],
    ['no YAML', 'orders: [', 'not YAML'],
    ['no object', '- 1', 'object'],
    ['nothing', '', 'object'],
    ['a comment alone', '# nothing', 'object'],
    ['a number that JSON does not have', 'orders:\n  - { product_id: .nan, denomination: 50, quantity: 1 }', 'integer'],
    ['brackets without end', '['.repeat(100_000), 'nested too deep'],
    ['a list in a list without end', `orders:\n  ${'- '.repeat(100_000)}`, 'nested too deep'],
    ['keys in keys without end', '? '.repeat(100_000), 'nested too deep'],
  ])('400 refuses %s', async (_, text, what) => {
    const world = await server.world()
    const { status, body } = await put(world, text, YAML)
    expect([status, JSON.stringify(body).toLowerCase()]).toEqual([400, expect.stringContaining(what.toLowerCase())])
  })

  inWorld('brackets in texts and comments are not nesting', async (world) => {
    const brackets = '['.repeat(500)
    const yaml = `# ${brackets}\ndescription: "${brackets}"\nbeneficiaries:\n  - email: ada@example.com\n    first_name: Ada [[[\n    last_name: |-\n      [\n`
    expect(await put(world, yaml, YAML)).toMatchObject({ status: 200 })
  })

  inWorld('what cannot be written is told by record', async (world) => {
    const person = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
    const beneficiaries = [person, { ...person, first_name: '\ud800' }]
    const message = 'line 1, beneficiaries.1: must not hold NUL or half a surrogate pair'
    expect(await put(world, { beneficiaries })).toMatchObject({
      status: 400,
      body: { error: { messages: { 'beneficiaries.1': [{ message }] } } },
    })
  })

  inWorld('JSON that is nested deep is refused', async (world) => {
    const deep = JSON.stringify({ beneficiaries: [{ ...SAVED, metadata: { note: 'NOTE' } }] })
    expect(await put(world, deep.replace('"NOTE"', '['.repeat(70_000) + ']'.repeat(70_000)))).toMatchObject({
      status: 400,
      body: { error: { messages: { scenario: [{ message: 'scenario: is nested too deep' }] } } },
    })
  })

  inWorld('problems are told with their lines, in JSON too', async (world) => {
    const messageOf = ({ body }: { body: unknown }) =>
      (body as { error: { messages: Record<string, { message: string }[]> } }).error.messages[
        'orders.1.product_id'
      ]?.[0]?.message
    const yaml =
      'orders:\n  - { product_id: 2, denomination: 50, quantity: 1 }\n  - product_id: 999999\n    denomination: 1\n    quantity: 1\n'
    expect(messageOf(await put(world, yaml, YAML))).toBe(
      'line 3, orders.1.product_id: the catalog has no product 999999',
    )
    const json =
      '{"orders": [\n{"product_id": 2, "denomination": 50, "quantity": 1},\n{"product_id": 999999, "denomination": 1,\n"quantity": 1}]}'
    expect(messageOf(await put(world, json))).toBe('line 3, orders.1.product_id: the catalog has no product 999999')
  })
})

describe('The length of a document', () => {
  const MIB = 1_048_576
  /** Of so many bytes, with nothing in it. */
  const json = (bytes: number) => `{"description":"${'x'.repeat(bytes - 18)}"}`
  const yaml = (bytes: number) => `description: ${'x'.repeat(bytes - 13)}`

  test.each([
    ['JSON', '8 MiB', json, 8 * MIB, {}],
    ['YAML', '1 MiB', yaml, MIB, YAML],
  ] as const)('%s has at most %s', async (_, _size, make, bytes, headers) => {
    const world = await server.world()
    expect(make(bytes)).toHaveLength(bytes)
    expect(await put(world, make(bytes), headers)).toMatchObject({ status: 200 })
    expect(await put(world, make(bytes + 1), headers)).toMatchObject({ status: 400, body: UNREADABLE })
  })

  inWorld('400 for a world whose document would be longer, which names snapshots', async (world) => {
    const payout = { amount: 1, currency: 'USD', beneficiary_id: ADA }
    await loaded(world, { beneficiaries: [SAVED], payouts: Array.from({ length: 10_000 }, () => payout) })
    for (const [type, size] of [
      ['application/json', '8 MiB'],
      ['application/yaml', '1 MiB'],
    ] as const) {
      const refused = await control(server, 'GET', `/scenario?world=${world.name}`, undefined, { accept: type })
      const message = `The document would be longer than ${size}. Take a snapshot instead: PUT /_sandbox/snapshots/{name}`
      expect(refused).toMatchObject({ status: 400, body: badRequest(message) })
    }
  })
})

describe('PUT /_sandbox/worlds/{name} with a scenario', () => {
  test('makes the world, and puts back one that there is', async () => {
    const orders = [{ product_id: 5, denomination: 25, quantity: 2, status: 'PENDING' }]
    for (const time of [1, 2]) {
      await succeed(server, 'PUT', '/worlds/of-scenario', { scenario: { clock: CLOCK, orders } })
      const world = await TestWorld.open(server, 'of-scenario')
      expect(await list<object>(world, 'orders')).toMatchObject([{ id: 1, status: 'PENDING', quantity: 2 }])
      if (time === 1) await place(world, INSTANT)
    }
    await expectSoundWorld(server, 'of-scenario')
  })

  test('400 lists what is wrong, and makes no world', async () => {
    const response = await control(server, 'PUT', '/worlds/never', { scenario: { orders: [{}] } })
    expect(response).toMatchObject({ status: 400, body: { error: { messages: { 'orders.0.product_id': [{}] } } } })
    expect((await control(server, 'GET', '/clock?world=never')).status).toBe(404)
    const both = await control(server, 'PUT', '/worlds/never', { scenario: {}, from: 'default' })
    expect(both).toMatchObject({ status: 400, body: { error: { messages: { scenario: [{}] } } } })
  })

  inWorld('of a world whose clock was set before its clients were made is loaded again', async (world) => {
    await succeed(server, 'POST', `/clock?world=${world.name}`, { now: '2000-01-01T00:00:00Z', frozen: true })
    const written = await textOf(world)
    await loaded(world, JSON.parse(written))
    expect(await textOf(world)).toBe(written)
  })

  test('with the same --seed, codes and identifiers are the same bytes', async () => {
    const texts: string[] = []
    for (const _ of [1, 2]) {
      await using own = await startServer('--seed', 'same')
      await succeed(own, 'PUT', '/worlds/same', { scenario: EVERY_STATE })
      const world = await TestWorld.open(own, 'same')
      texts.push(
        await (await world.get('/api/v1/orders?limit=100')).text(),
        await (await world.get('/api/v1/payouts')).text(),
      )
    }
    expect(texts.slice(2)).toEqual(texts.slice(0, 2))
    expect(texts[0]).toContain('"card_number":"TEST')
  })
})

/** A test adds records to a document that a world has told, and loads it into a fresh world of the same seed. */
describe('a document that names records', () => {
  const RECORDS = {
    beneficiaries: [{ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }],
    orders: [{ product_id: 2, denomination: 50, quantity: 1 }],
    payouts: [PAYOUT({})],
  }
  const told = async () => {
    await succeed(server, 'PUT', '/worlds/told', { scenario: { clock: CLOCK, ...RECORDS } })
    return documentOf(await TestWorld.open(server, 'told'))
  }

  test('takes more without names, which get others', async () => {
    const { beneficiaries = [], orders = [], payouts = [], ...rest } = await told()
    const scenario = {
      ...rest,
      beneficiaries: [...beneficiaries, ...RECORDS.beneficiaries],
      orders: [...orders, ...RECORDS.orders],
      payouts: [...payouts, ...RECORDS.payouts],
    }
    await succeed(server, 'PUT', '/worlds/more', { scenario })
    const more = await documentOf(await TestWorld.open(server, 'more'))
    for (const list of ['beneficiaries', 'orders', 'payouts']) expect(more[list]).toHaveLength(2)
    await expectSoundWorld(server, 'more')
  })

  test('leaves to later records names that it does not have', async () => {
    const scenario = await told()
    await succeed(server, 'PUT', '/worlds/later', { scenario })
    const later = await TestWorld.open(server, 'later')
    await place(later, INSTANT)
    await pay(later)
    const { orders = [], payouts = [] } = (await documentOf(later)) as Record<string, Record<string, unknown>[]>
    expect(new Set(orders.map(({ client_reference }) => client_reference)).size).toBe(2)
    expect(new Set(payouts.map(({ id }) => id)).size).toBe(2)
  })
})

describe('the published schema', () => {
  test('is a JSON Schema that every document of the program fits', async () => {
    const schema = await succeed<object>(server, 'GET', '/scenario/schema')
    const fits = new Ajv({ strict: false }).compile(schema)
    const world = await server.world()
    await loaded(world, EVERY_STATE)
    for (const document of [EVERY_STATE, await documentOf(world)]) {
      expect([fits(JSON.parse(JSON.stringify(document))), fits.errors]).toEqual([true, null])
    }
    expect(fits({ orders: [{ product_id: 1 }] })).toBe(false)
  })
})

describe('the scenarios that come with the program', () => {
  test('are ten, each with a description', () => {
    expect(SHIPPED.size).toBe(10)
    for (const [name, text] of SHIPPED)
      expect([name, text]).toEqual([name, expect.stringMatching(/^description: .{30,}\n/)])
  })

  test.each([...SHIPPED])('%s loads, with books that balance', async (name, text) => {
    const world = await server.world()
    await loaded(world, text, YAML)
    await succeed(server, 'DELETE', `/faults?world=${world.name}`)
    await expectSoundWorld(server, world.name)
    const once = await textOf(world)
    await loaded(world, once)
    expect([name, await textOf(world)]).toEqual([name, once])
  })

  test('do what they are called', async () => {
    const open = async (name: string) => {
      const world = await server.world()
      await loaded(world, SHIPPED.get(name), YAML)
      return world
    }
    const statusOf = async (world: TestWorld, body: object) => (await world.post('/api/v1/orders', body)).status
    expect(await statusOf(await open('no-money'), INSTANT)).toBe(400)
    const soldOut = await open('sold-out')
    expect(await statusOf(soldOut, { ...INSTANT, quantity: 2 })).toBe(400)
    expect(await statusOf(soldOut, INSTANT)).toBe(200)
    expect((await soldOut.get('/api/v1/products/3')).status).toBe(404)
    expect(await list<object>(await open('pending-orders'), 'orders?status=PENDING')).toHaveLength(2)
    const refunds = await list<object>(await open('refunds'), 'transactions?source_type=refund')
    expect(refunds).toHaveLength(5)
    const busy = await (await open('busy-month')).get('/api/v1/orders?limit=1')
    expect(busy.headers.get('x-total-count')).toBe('60')
  })
})

describe('--scenario', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-scenario-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const fileOf = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  test('every world begins with it, and goes back to it', async () => {
    const file = fileOf(
      'begin.yaml',
      `clients: [{ name: shop }]
orders: [{ product_id: 5, denomination: 25, quantity: 1, status: CANCELLED }]
faults: [{ error: currencies.not_found, times: 1 }]
`,
    )
    await using own = await startServer('--rate-limit', 'off', '--scenario', file)
    const shop = await TestWorld.open(own, 'fresh', 'sbx_fresh.shop')
    const world = await TestWorld.open(own, 'fresh')
    expect(shop.name).toBe('fresh')
    const seen = async (client: TestWorld) => [
      (await list<object>(client, 'orders')).length,
      (await client.get('/api/v1/currencies/1')).status,
      (await client.get('/api/v1/currencies/1')).status,
    ]
    expect(await seen(world)).toEqual([1, 404, 200])
    await world.control('/reset')
    expect(await seen(await world.again())).toEqual([1, 404, 200])
    const body = JSON.stringify({ username: 'sandbox', password: 'sandbox' })
    const login = await read(await own.request('/auth/login', { method: 'POST', body }))
    const { access_token } = login.body as { access_token: string }
    expect(await seen(TestWorld.of(own, 'default', access_token))).toEqual([1, 404, 200])
    await expectSoundWorld(own, 'fresh')
  })

  test('a new data folder begins with it, and keeps its own data afterwards', async () => {
    const dataDir = join(folder, 'data')
    for (const amount of [250, 350]) {
      await using own = await startServer(
        '--data-dir',
        dataDir,
        '--scenario',
        fileOf('rich.json', '{"wallets":[{"currency":"USD","amount":250}]}'),
      )
      const { wallets } = await succeed<{ wallets: object[] }>(own, 'GET', '/scenario')
      expect(wallets).toMatchObject([{ amount }])
      if (amount === 250) await succeed(own, 'POST', '/wallets/1/fund', { amount: 100 })
    }
  })

  test('a name without a dot or slash is one that comes with the program', async () => {
    await using own = await startServer('--scenario', 'busy-month')
    const { now } = await succeed<{ now: string }>(own, 'GET', '/clock')
    expect(now).toBe('2026-03-31T12:00:00.000Z')
  })
})
