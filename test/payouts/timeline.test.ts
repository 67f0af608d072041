import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer, type TestWorld, testIn } from '../harness.ts'
import { type Beneficiary, getPayout, HUNDRED, PAYOUTS, type PayoutEvent, pay, START, saveGrace } from '../records.ts'
import { balanceOf, expectUnbrokenChain, movementsOf } from '../wallets/balances.ts'

const server = await sharedServer()

const atStart = testIn(() => server.world(START))
const at = (time: string) => `2030-01-01T00:00:0${time}Z`

/** An event that the clock brought. */
const event = (event_type: string, from_status: string, to_status: string, second: number): PayoutEvent => ({
  event_type,
  from_status,
  to_status,
  actor_type: 'system',
  message: null,
  created_at: at(`${second}.000`),
})
const CREATED: PayoutEvent = {
  event_type: 'created',
  from_status: null,
  to_status: 'created',
  actor_type: 'client',
  message: null,
  created_at: at('0.000'),
}
/** The steps of a payout of START, and the status after each. */
const WAY = [
  event('queued', 'created', 'queued', 1),
  event('processing', 'queued', 'processing', 2),
  event('submitted', 'processing', 'processing', 3),
  event('settling', 'processing', 'settling', 4),
  event('completed', 'settling', 'completed', 5),
]
const STAMPS = { queued: 'queued_at', submitted: 'submitted_at', completed: 'completed_at' } as const
const stampsOf = (events: readonly PayoutEvent[]) =>
  Object.fromEntries(
    events.flatMap(({ event_type, created_at }) =>
      event_type in STAMPS ? [[STAMPS[event_type as keyof typeof STAMPS], created_at]] : [],
    ),
  )

const moveTo = async (world: TestWorld, time: string) => world.clock({ now: at(time) })

describe('at the pace of the sandbox', () => {
  test('a payout is queued, processed, submitted, settled and completed, one second each, without requests', async () => {
    const world = await server.world(START)

    const created = await pay(world)
    const expected = { ...created }
    for (let second = 1; second <= 5; second++) {
      await moveTo(world, `${second - 1}.999`)
      expect(await getPayout(world, created.id)).toEqual(expected)
      await moveTo(world, `${second}.000`)
      const events = WAY.slice(0, second)
      Object.assign(expected, { ...stampsOf(events), status: events.at(-1)?.to_status, events: [CREATED, ...events] })
      expect(await getPayout(world, created.id)).toEqual(expected)
      expect((await balanceOf(world, 1)).reserved).toBe(second < 5 ? 101.5 : 0)
    }
    expect(expected).toMatchObject({
      status: 'completed',
      queued_at: at('1.000'),
      submitted_at: at('3.000'),
      completed_at: at('5.000'),
      failed_at: null,
      cancelled_at: null,
    })
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_898.5, reserved: 0 })
    expect(await movementsOf(world)).toHaveLength(1)
    await expectUnbrokenChain(world)
  })
})

describe('POST /api/v1/payouts/{id}/cancel', () => {
  test.each([
    ['created', '0.000', 0],
    ['created', '0.999', 0],
    ['queued', '1.000', 1],
    ['processing', '2.000', 2],
    ['processing', '2.999', 2],
  ])('200 cancels a payout that is %s at %s s, and refunds amount and fees', async (status, time, steps) => {
    const world = await server.world(START)
    const created = await pay(world)
    await moveTo(world, time)
    const response = await world.post(`${PAYOUTS}/${created.id}/cancel`)
    expect(response.status).toBe(200)
    const cancelled = (await response.json()) as typeof created
    expect(cancelled).toEqual({
      ...created,
      ...stampsOf(WAY.slice(0, steps)),
      status: 'cancelled',
      cancelled_at: at(time),
      events: [
        CREATED,
        ...WAY.slice(0, steps),
        {
          event_type: 'cancelled',
          from_status: status,
          to_status: 'cancelled',
          actor_type: 'client',
          message: null,
          created_at: at(time),
        },
      ],
    })
    expect(await getPayout(world, created.id)).toEqual(cancelled)
    const [paid, refund, ...others] = await movementsOf(world)
    expect(others).toEqual([])
    expect(refund).toEqual({
      ...paid,
      id: 7,
      transaction_type: 'CREDIT',
      balance_after: 100_000,
      source_type: 'refund',
      remarks: 'bonus cancelled',
      created_at: at(time),
    } as typeof refund)
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_000, reserved: 0 })
    await expectUnbrokenChain(world)
  })

  test.each([
    ['processing', '3.000'],
    ['processing', '3.999'],
    ['settling', '4.000'],
    ['settling', '4.999'],
    ['completed', '5.000'],
  ])('400 refuses a payout that is %s and submitted at %s s, and refunds nothing', async (status, time) => {
    const world = await server.world(START)
    const { id } = await pay(world)
    await moveTo(world, time)
    const before = await getPayout(world, id)
    expect(before).toMatchObject({ status, submitted_at: at('3.000') })
    await expectResponse(world.post(`${PAYOUTS}/${id}/cancel`), 400, {
      error: 'BadRequest',
      message: `Payout cannot be cancelled in status ${status}`,
    })
    expect(await getPayout(world, id)).toEqual(before)
    expect(await movementsOf(world)).toHaveLength(1)
  })

  atStart('400 refuses to cancel twice, and refunds once', async (world) => {
    const { id } = await pay(world)
    const responses = await Promise.all(Array.from({ length: 10 }, () => world.post(`${PAYOUTS}/${id}/cancel`)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
    const refused = responses.find(({ status }) => status === 400)
    expect(await refused?.json()).toEqual({
      error: 'BadRequest',
      message: 'Payout cannot be cancelled in status cancelled',
    })
    expect((await getPayout(world, id)).events).toHaveLength(2)
    expect(await movementsOf(world)).toHaveLength(2)
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_000, reserved: 0 })
  })

  atStart('needs no body and reads none', async (world) => {
    const { id } = await pay(world)
    expect((await world.post(`${PAYOUTS}/${id}/cancel`, '{"status":')).status).toBe(200)
  })
})

describe('the totals of a beneficiary', () => {
  const totalsOf = async (world: TestWorld, id: string) => {
    const { total_payouts, total_amount, last_payout_at } = await world.read<Beneficiary>(`/api/v1/beneficiaries/${id}`)
    return { total_payouts, total_amount, last_payout_at }
  }
  const NOTHING = { total_payouts: 0, total_amount: 0, last_payout_at: null }

  atStart('count a payout on completion, without its fees', async (world) => {
    const beneficiary_id = await saveGrace(world)
    const body = { reference_id: 'a', wallet_id: 1, amount: 100, currency: 'USD', beneficiary_id }
    await pay(world, body)
    await moveTo(world, '4.999')
    expect(await totalsOf(world, beneficiary_id)).toEqual(NOTHING)
    await moveTo(world, '5.000')
    expect(await totalsOf(world, beneficiary_id)).toEqual({
      total_payouts: 1,
      total_amount: 100,
      last_payout_at: at('5.000'),
    })
  })

  atStart("are in the default wallet's currency, whichever wallet pays", async (world) => {
    const beneficiary_id = await saveGrace(world)
    const sent = [
      { wallet_id: 2, amount: 100, currency: 'EUR' }, // 108.70 USD (108.695652)
      { wallet_id: 4, amount: 1_000, currency: 'JPY' }, // 6.56 USD (6.56383)
      { wallet_id: 3, amount: 7.777, currency: 'KWD' }, // 25.35 USD (25.3487...)
      { wallet_id: 2, amount: 0.01, currency: 'USD' },
    ]
    for (const [index, payout] of sent.entries())
      await pay(world, { ...payout, reference_id: `r${index}`, beneficiary_id })
    await world.clock({ advance: 'PT1H' })
    expect(await totalsOf(await world.again(), beneficiary_id)).toEqual({
      total_payouts: 4,
      total_amount: 140.62,
      last_payout_at: at('5.000'),
    })
  })

  atStart('count neither cancelled payouts nor those to a person of the same name', async (world) => {
    const beneficiary_id = await saveGrace(world, { email: HUNDRED.beneficiary_email, first_name: 'Ada' })
    const { id } = await pay(world, { reference_id: 'a', wallet_id: 1, amount: 1, currency: 'USD', beneficiary_id })
    await world.post(`${PAYOUTS}/${id}/cancel`)
    await pay(world)
    await moveTo(world, '9.000')
    expect(await totalsOf(world, beneficiary_id)).toEqual(NOTHING)
  })
})
