import { describe, expect, test } from 'bun:test'
import { sharedServer } from '../harness.ts'
import { getPayout, HUNDRED, PAYOUTS, type Payout, pay, START, saveGrace } from '../records.ts'
import { balanceOf, expectUnbrokenChain, movementsOf } from '../wallets/balances.ts'

const server = await sharedServer()

describe('POST /api/v1/payouts', () => {
  test('201 returns the created payout with its first event', async () => {
    const world = await server.world(START)
    const response = await world.post(PAYOUTS, {
      ...HUNDRED,
      beneficiary_first_name: '  Ada ',
      beneficiary_country: 'gb',
      beneficiary_phone: '+44 (20) 7946-0958',
      beneficiary_identifiers: { employee: 'E-1815' },
      description: 'A bonus',
      metadata: { team: 'engines', rank: 1 },
      notify_beneficiary: true,
    })
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const payout = (await response.json()) as Payout
    expect(response.headers.get('location')).toBe(`${PAYOUTS}/${payout.id}`)
    expect(payout).toEqual({
      id: expect.stringMatching(/^pyt_[0-9a-z]{20,}$/),
      reference_id: 'bonus',
      status: 'created',
      amount: 100,
      currency: 'USD',
      fees: 1.5,
      total_amount: 101.5,
      wallet_id: 1,
      beneficiary: {
        id: null,
        email: 'ada@example.com',
        first_name: 'Ada',
        last_name: 'Lovelace',
        country: 'GB',
        phone: '+442079460958',
      },
      description: 'A bonus',
      metadata: { team: 'engines', rank: 1 },
      failure_code: null,
      failure_reason: null,
      events: [
        {
          event_type: 'created',
          from_status: null,
          to_status: 'created',
          actor_type: 'client',
          message: null,
          created_at: START,
        },
      ],
      created_at: START,
      queued_at: null,
      submitted_at: null,
      completed_at: null,
      failed_at: null,
      cancelled_at: null,
    } as unknown as Payout)
    expect(await getPayout(world, payout.id)).toEqual(payout)
    expect(await movementsOf(world)).toMatchObject([
      { wallet_id: 1, transaction_type: 'DEBIT', amount: 101.5, source_type: 'payout', source_id: payout.id },
    ])
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_898.5, reserved: 101.5 })
    await expectUnbrokenChain(world)
  })

  test('returns null for omitted or null members, and an empty object for metadata', async () => {
    const world = await server.world()
    for (const [reference_id, rest] of Object.entries({
      'left-out': {},
      nulls: {
        beneficiary_id: null,
        beneficiary_country: null,
        beneficiary_phone: null,
        beneficiary_identifiers: null,
        description: null,
        metadata: null,
        notify_beneficiary: null,
        colour: 'red',
      },
    })) {
      const payout = await pay(world, { ...HUNDRED, ...rest, reference_id })
      expect(payout).toMatchObject({
        beneficiary: { id: null, country: null, phone: null },
        description: null,
        metadata: {},
      })
    }
  })

  test('copies a saved beneficiary', async () => {
    const world = await server.world()
    const id = await saveGrace(world, { country: 'US', phone: '+12025550123', metadata: { badge: 1 } })
    const { beneficiary_email, beneficiary_first_name, beneficiary_last_name, ...rest } = HUNDRED
    const payout = await pay(world, { ...rest, beneficiary_id: id })
    expect(payout.beneficiary).toEqual({
      id,
      email: 'grace@example.com',
      first_name: 'Grace',
      last_name: 'Hopper',
      country: 'US',
      phone: '+12025550123',
    })
  })

  test('keeps the copy if the saved beneficiary is deleted, and completes', async () => {
    const world = await server.world(START)
    const beneficiary_id = await saveGrace(world)
    const payout = await pay(world, { reference_id: 'bonus', wallet_id: 1, amount: 1, currency: 'USD', beneficiary_id })
    expect((await world.delete(`/api/v1/beneficiaries/${beneficiary_id}`)).status).toBe(204)
    expect(await getPayout(world, payout.id)).toEqual(payout)
    await world.clock({ advance: 'PT5S' })
    const completed = await getPayout(world, payout.id)
    expect(completed).toMatchObject({ status: 'completed', beneficiary: payout.beneficiary })
    expect((await world.get(`/api/v1/beneficiaries/${beneficiary_id}`)).status).toBe(404)
  })

  test.each([
    ['USD', 1, 0.01, 0.01, 0.02], // 0.00015 comes to the smallest unit at least
    ['USD', 1, 0.33, 0.01, 0.34], // 0.00495
    ['USD', 1, 0.34, 0.01, 0.35], // 0.0051
    ['USD', 1, 1, 0.02, 1.02], // 0.015 rounds away from zero
    ['USD', 1, 33.33, 0.5, 33.83], // 0.49995
    ['JPY', 4, 33, 1, 34], // 0.495
    ['JPY', 4, 34, 1, 35], // 0.51
    ['JPY', 4, 100, 2, 102], // 1.5 rounds away from zero
    ['JPY', 4, 1_000_000, 15_000, 1_015_000],
  ])(
    'fees are 1.5 %% of the amount, rounded once, and never zero: %s from wallet %i: %d',
    async (currency, wallet_id, amount, fees, total) => {
      const world = await server.world()
      const before = await balanceOf(world, wallet_id)
      const payout = await pay(world, { ...HUNDRED, currency, wallet_id, amount })
      expect([payout.amount, payout.fees, payout.total_amount]).toEqual([amount, fees, total])
      const after = await balanceOf(world, wallet_id)
      expect(after.reserved).toBe(total)
      expect(after.amount).toBeCloseTo(before.amount - total, 6)
      await expectUnbrokenChain(world)
    },
  )

  // amount and fees together convert once, and 0.5 % of that is the conversion fee.
  test.each([
    // 101.5 USD × 0.92 = 93.38 EUR, 0.4669 for converting
    ['USD', 100, 2, 'EUR', { fees: 1.5, total_amount: 101.5, paid: 93.85, conversion: 0.47, rate: 0.92 }],
    // 101.5 EUR ÷ 0.92 = 110.33 USD (110.326), 0.55165
    ['EUR', 100, 1, 'USD', { fees: 1.5, total_amount: 101.5, paid: 110.88, conversion: 0.55, rate: 1.08695652174 }],
    // 10,150 JPY ÷ 152.35 = 66.62 USD (66.6228), 0.3331
    [
      'JPY',
      10_000,
      1,
      'USD',
      { fees: 150, total_amount: 10_150, paid: 66.95, conversion: 0.33, rate: 0.00656383327863 },
    ],
    // 1.02 USD × 152.35 = 155 JPY (155.397), 0.775
    ['USD', 1, 4, 'JPY', { fees: 0.02, total_amount: 1.02, paid: 156, conversion: 1, rate: 152.35 }],
    // 10.15 KWD ÷ 0.3068 = 33.08 USD (33.0834), 0.1654
    ['KWD', 10, 1, 'USD', { fees: 0.15, total_amount: 10.15, paid: 33.25, conversion: 0.17, rate: 3.25945241199 }],
    // 0.335 KWD × 152.35 ÷ 0.3068 = 166 JPY (166.353), 0.83
    ['KWD', 0.33, 4, 'JPY', { fees: 0.005, total_amount: 0.335, paid: 167, conversion: 1, rate: 496.577574967 }],
  ])(
    'converts %s %d for wallet %i in %s, and records the conversion',
    async (currency, amount, wallet_id, wallet, expected) => {
      const world = await server.world()
      const before = await balanceOf(world, wallet_id)
      const payout = await pay(world, { ...HUNDRED, currency, amount, wallet_id })
      expect(payout).toMatchObject({ amount, currency, fees: expected.fees, total_amount: expected.total_amount })
      expect(await movementsOf(world)).toMatchObject([
        {
          wallet_id,
          transaction_type: 'DEBIT',
          amount: expected.paid,
          source_currency: currency,
          destination_currency: wallet,
          forex_rate: expected.rate,
          conversion_charges: expected.conversion,
        },
      ])
      const after = await balanceOf(world, wallet_id)
      expect(after.reserved).toBe(expected.paid)
      expect(after.amount).toBeCloseTo(before.amount - expected.paid, 6)
      await expectUnbrokenChain(world)
    },
  )

  test('converts by both given rates, however small their quotient, and a return by those of the payout', async () => {
    const world = await server.world(START)
    const give = async (rates: Record<string, string>) => {
      const init = { method: 'PUT', body: JSON.stringify({ base: 'USD', rates }) }
      expect((await server.request(`/_sandbox/rates?world=${world.name}`, init)).status).toBe(200)
    }
    await give({ KWD: '0.3075', IRR: '1100000' })
    const opened = await world.control('/wallets', { currency: 'KWD' })
    const { id: wallet_id } = (await opened.json()) as { id: number }
    await world.control(`/wallets/${wallet_id}/fund`, { amount: 1_000 })
    const beneficiary_id = await saveGrace(world)
    const paid = await pay(world, {
      ...{ reference_id: 'bonus', wallet_id, amount: 1_000_000_000, currency: 'IRR', beneficiary_id },
    })
    await world.clock({ advance: 'PT10S' })
    await give({ KWD: '0.3', IRR: '900000' })
    expect((await world.control(`/payouts/${paid.id}/return`, {})).status).toBe(200)
    const exchange = { source_currency: 'IRR', destination_currency: 'KWD', forex_rate: 2.79545454545e-7 }
    // 1,015,000,000 × 0.3075 ÷ 1,100,000 = 283.738636…, and half a percent of it; without the fee 279.545454…
    expect(await movementsOf(world)).toMatchObject([
      { wallet_id, transaction_type: 'DEBIT', amount: 285.158, conversion_charges: 1.419, ...exchange },
      { wallet_id, transaction_type: 'CREDIT', amount: 279.545, conversion_charges: 0, ...exchange },
    ])
    // In dollars, the currency of the default wallet: 1,000,000,000 ÷ 1,100,000.
    const saved = await world.read<object>(`/api/v1/beneficiaries/${beneficiary_id}`)
    expect(saved).toMatchObject({ total_payouts: 1, total_amount: 909.09 })
    await expectUnbrokenChain(world)
  })

  test.each([
    ['a reference_id of 255 characters', { reference_id: '注'.repeat(255) }],
    ['a reference_id of letters beyond the basic plane', { reference_id: '🎁'.repeat(255) }],
    ['a description of 1,000 characters', { description: 'x'.repeat(1_000) }],
    ['names in any script', { beneficiary_first_name: '愛', beneficiary_last_name: "O'Ñandú-Żółć" }],
  ])('accepts %s unchanged', async (_, change) => {
    const world = await server.world()
    const sent = { ...HUNDRED, ...change }
    const payout = await pay(world, sent)
    expect(payout).toMatchObject({ reference_id: sent.reference_id, ...('description' in change && change) })
    expect(payout.beneficiary).toMatchObject({
      first_name: sent.beneficiary_first_name,
      last_name: sent.beneficiary_last_name,
    })
  })
})
