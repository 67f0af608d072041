import { describe, expect, test } from 'bun:test'
import { parseRate, ratesFrom } from '../../src/charges/rates.ts'
import { openProgram, sharedServer, testIn } from '../harness.ts'
import {
  getOrder,
  INSTANT,
  ORDERS,
  type Order,
  OVERNIGHT,
  PHYSICAL,
  PUBLISHED_PRICE,
  place,
  START,
} from '../records.ts'
import { balanceOf, expectUnbrokenChain, movementsOf } from '../wallets/balances.ts'

const server = await sharedServer()

const atStart = testIn(() => server.world(START))

describe('POST /api/v1/orders', () => {
  atStart('200 returns the delivered order of an instant product, with vouchers and charge', async (world) => {
    const response = await world.post(ORDERS, {
      product_id: 1,
      denomination: 100,
      quantity: 2,
      ref: 'welcome-42',
      email: 'ada@example.com',
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect([response.headers.get('idempotent-replayed'), response.headers.get('location')]).toEqual([null, null])
    const order = (await response.json()) as Order
    const voucher = (number: number) => ({
      voucher_reference_number: `1-${number}`,
      card_number: expect.stringMatching(/^TEST[0-9A-Z]{12}$/),
      pin_code: expect.stringMatching(/^[0-9A-Z]{4}$/),
      claim_url: expect.stringMatching(/^https:\/\/claim\.example\/TEST[0-9A-Z]{12}$/),
      expires_at: '2031-01-01T00:00:00.000Z',
    })
    expect(order).toEqual({
      id: 1,
      ref: 'welcome-42',
      client_reference: 'welcome-42',
      transaction_id: 6,
      product_id: 1,
      product_name: 'Kettle & Crumb India',
      denomination: 100,
      quantity: 2,
      currency_code: 'INR',
      amount: 230.1,
      refunded_amount: 0,
      discount: 5,
      charges: PUBLISHED_PRICE,
      wallet_id: 3,
      status: 'DELIVERED',
      email: 'ada@example.com',
      vouchers: [voucher(1), voucher(2)],
      placed_at: START,
      delivered_at: START,
      failed_at: null,
      cancelled_at: null,
      failure_reason: null,
    } as unknown as Order)
    expect(await getOrder(world, 1)).toEqual(order)
    expect(await movementsOf(world)).toMatchObject([
      { id: order.transaction_id, wallet_id: 3, amount: 230.1, balance_after: 4_999_769.9, source_id: '1' },
    ])
    expect(await balanceOf(world, 3)).toEqual({ amount: 4_999_769.9, reserved: 0 })
    await expectUnbrokenChain(world)
  })

  atStart('responses with voucher codes are not cached: orders, replays, lists and vouchers', async (world) => {
    const again = { 'idempotency-key': 'kept by no cache' }
    const responses = [
      await world.post(ORDERS, INSTANT, again),
      await world.post(ORDERS, INSTANT, again),
      await world.get(ORDERS),
      await world.get(`${ORDERS}/1`),
      await world.get(`${ORDERS}/1/vouchers`),
    ]
    for (const { status, headers } of responses) {
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    }
  })

  atStart('instant digital products are delivered immediately up to quantity 5', async (world) => {
    const order = await place(world, { ...INSTANT, quantity: 5 })
    expect(order).toMatchObject({ status: 'DELIVERED', delivered_at: START })
    expect(order.vouchers).toHaveLength(5)
    expect(new Set(order.vouchers.map(({ card_number }) => card_number)).size).toBe(5)
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_760, reserved: 0 })
  })

  test.each([
    ['instant ones from quantity 6', { ...INSTANT, quantity: 6 }, 1, { amount: 99_712, reserved: 288 }],
    // 9.875 KWD after discount, 0.1 and 1.5 % in fees, at 3.25945241 USD, and 0.5 % for converting
    ['delayed ones', OVERNIGHT, 1, { amount: 99_966.84, reserved: 33.16 }],
    ['physical ones', PHYSICAL, 2, { amount: 99_966.24, reserved: 33.76 }],
  ])('all others are PENDING without vouchers, with reserved money: %s', async (_, body, walletId, balance) => {
    const world = await server.world(START)
    const order = await place(world, body)
    expect(order).toMatchObject({ status: 'PENDING', vouchers: [], placed_at: START, delivered_at: null })
    expect(order.wallet_id).toBe(walletId)
    expect(await balanceOf(world, walletId)).toEqual(balance)
    expect(await getOrder(world, order.id)).toEqual(order)
    await expectUnbrokenChain(world)
  })

  atStart('converts if the named wallet has another currency, and records the conversion', async (world) => {
    const order = await place(world, { ...INSTANT, quantity: 2, wallet_id: 2 })
    // 96 USD at 0.92 are 88.32 EUR; 0.5 % of it 0.44.
    expect(order).toMatchObject({
      currency_code: 'USD',
      amount: 88.76,
      discount: 4,
      wallet_id: 2,
      charges: {
        non_discounted_total: 100,
        total_amount: 96,
        net_amount: 88.32,
        total_payable: 88.76,
        charges_details: {
          source_currency: 'USD',
          destination_currency: 'EUR',
          forex_rate: 0.92,
          conversion_fee: 0.44,
        },
      },
    })
    expect(await movementsOf(world)).toMatchObject([
      {
        wallet_id: 2,
        amount: 88.76,
        transaction_type: 'DEBIT',
        source_currency: 'USD',
        destination_currency: 'EUR',
        forex_rate: 0.92,
        conversion_charges: 0.44,
        balance_after: 99_911.24,
      },
    ])
    await expectUnbrokenChain(world)
  })

  test.each([
    ['in one currency', { ...INSTANT, quantity: 3 }],
    ['with tax', { product_id: 1, denomination: 250, quantity: 3 }],
    ['with fees, from the default wallet', { ...OVERNIGHT, quantity: 3 }],
    ['into a currency without decimals', { ...OVERNIGHT, quantity: 2, wallet_id: 4 }],
    ['where bands overlap', { product_id: 6, denomination: 500, quantity: 1 }],
  ])('costs the same as the charge: %s', async (_, body) => {
    const world = await server.world(START)
    const { product_id, ...purchase } = body
    const order = await place(world, body)
    const charged = await world.post(`/api/v1/products/${product_id}/charges`, purchase)
    expect(charged.headers.get('x-cache')).toBe('MISS')
    const charge = (await charged.json()) as { total_payable: number }
    expect(order.charges).toEqual(charge)
    expect(order.amount).toBe(charge.total_payable)
    expect((await movementsOf(world))[0]).toMatchObject({ amount: charge.total_payable, wallet_id: order.wallet_id })
  })

  atStart('treats null like an omitted member, and ignores unknown members', async (world) => {
    const order = await place(world, {
      ...INSTANT,
      quantity: 1,
      wallet_id: null,
      ref: null,
      client_reference: null,
      email: null,
      colour: 'red',
    })
    expect(order).toMatchObject({ wallet_id: 1, email: null, status: 'DELIVERED' })
  })
})

describe('ref and client_reference', () => {
  test.each([
    ['ref alone', { ref: 'a-1' }],
    ['client_reference alone', { client_reference: 'a-1' }],
    ['both alike', { ref: 'a-1', client_reference: 'a-1' }],
    ['both, one of them null', { ref: null, client_reference: 'a-1' }],
  ])('are two names of one member: %s', async (_, names) => {
    const world = await server.world()
    const order = await place(world, { ...INSTANT, ...names })
    expect(order).toMatchObject({ ref: 'a-1', client_reference: 'a-1' })
    expect(await getOrder(world, order.id)).toMatchObject({ ref: 'a-1', client_reference: 'a-1' })
  })

  test('are generated if omitted, and unique', async () => {
    const world = await server.world()
    const references = new Set<string>()
    for (let count = 0; count < 5; count++) {
      const { ref, client_reference } = await place(world, INSTANT)
      expect(ref).toMatch(/^[\x21-\x7e]{1,255}$/)
      expect(client_reference).toBe(ref)
      references.add(ref)
    }
    expect(references.size).toBe(5)
  })

  test.each([
    ['255 characters', 'x'.repeat(255)],
    ['one character', '~'],
    ['every kind of printable character', ' !"#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~'],
  ])('accept %s', async (_, ref) => {
    const world = await server.world()
    expect((await place(world, { ...INSTANT, ref })).ref).toBe(ref)
  })

  test('are case-sensitive', async () => {
    const world = await server.world()
    await place(world, { ...INSTANT, ref: 'a' })
    expect((await place(world, { ...INSTANT, ref: 'A' })).ref).toBe('A')
  })
})

describe('a held charge', () => {
  atStart('is the price of an order for the same purchase', async (world) => {
    const { product_id, ...purchase } = { ...OVERNIGHT, quantity: 2, wallet_id: 2 }
    const quoted = await world.post(`/api/v1/products/${product_id}/charges`, purchase)
    const charge = (await quoted.json()) as { total_payable: number }
    const order = await place(world, { product_id, ...purchase })
    expect(order.charges).toEqual(charge)
    expect(order.amount).toBe(charge.total_payable)
    const again = await world.post(`/api/v1/products/${product_id}/charges`, purchase)
    expect(again.headers.get('x-cache')).toBe('HIT')
    await expectUnbrokenChain(world)
  })

  atStart('does not skip the checks of an order', async (world) => {
    const purchase = { denomination: 10, quantity: 4 }
    expect((await world.post('/api/v1/products/9/charges', purchase)).status).toBe(200)
    const response = await world.post(ORDERS, { product_id: 9, ...purchase })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: 'Insufficient stock' } })
    expect(await movementsOf(world)).toEqual([])
  })

  test('is held for five minutes while the rates change', async () => {
    let eurPerUsd = '0.92'
    await using program = openProgram({
      outside: { rates: () => ratesFrom((code) => Number(parseRate(code === 'USD' ? '1' : eurPerUsd))) },
    })
    const { client } = await program.open(START)
    const { product_id, ...purchase } = { ...INSTANT, quantity: 2, wallet_id: 2 }
    const charged = await client.post(`/api/v1/products/${product_id}/charges`, purchase)
    expect(((await charged.json()) as { total_payable: number }).total_payable).toBe(88.76)
    eurPerUsd = '0.5'
    await client.clock({ advance: 'PT4M59.999S' })
    expect((await place(client, { product_id, ...purchase })).amount).toBe(88.76)
    // The price of three was not requested.
    expect((await place(client, { product_id, ...purchase, quantity: 3 })).amount).toBe(72.36)
    await client.clock({ advance: 'PT0.001S' })
    expect((await place(client, { product_id, ...purchase })).amount).toBe(48.24)
    expect((await movementsOf(client)).map(({ amount, forex_rate }) => [amount, forex_rate])).toEqual([
      [88.76, 0.92],
      [72.36, 0.5],
      [48.24, 0.5],
    ])
  })
})
