// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { type Delivering, deliver, failOrder } from '../../src/orders/delivery.ts'
import { findOrder, vouchersOf } from '../../src/orders/queries.ts'
import type { Order } from '../../src/orders/tables.ts'
import { generatedSupply } from '../../src/sandbox/seed/vouchers.ts'
import type { World } from '../../src/work/world.ts'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { failureOf } from '../errors.ts'
import { forFile, found, openProgram, type TestWorld, testIn } from '../harness.ts'
import { getOrder, ORDERS, place, START } from '../records.ts'
import { balanceOf, movementsOf } from '../wallets/balances.ts'
import { expectSoundBooks, lastEntryOf, linesSince } from '../wallets/books.ts'

/** The acts of an operator on an order (contract C12), with the ledger entry of each step. */

const SUPPLY = generatedSupply(() => undefined)

const entries = [
  // 10 cards of 10 USD less 2.5 %: 97.5, GST 17.55, fee 1.48, together 116.53.
  catalogEntry({
    delivery_time: '48 hours',
    gst_percent: 18,
    stock: 10,
    handling_fee: { fixed: 0.5, percent: 1 },
    denominations: [{ min_value: 10, max_value: 10, discount: 2.5 }],
  }),
]
const program = forFile(openProgram({ flags: ['--catalog', fileOf({ products: entries })] }))
const delivering: Delivering = { supply: SUPPLY, ciphers: program.deps.ciphers, reference: program.deps.reference }

const atStart = testIn(() => program.open(START))
const NOW_MS = 1_893_456_001_000
const TEN = { product_id: 1, denomination: 10, quantity: 10 }

const rowOf = (world: World, id: number): Order => found(findOrder(world.db.query, 1, id))
const delivered = (world: World, id: number, quantity: number, nowMs = NOW_MS) =>
  world.db.write((tx) => deliver(tx, world, delivering, rowOf(world, id), quantity, nowMs))
const failed = (world: World, id: number, reason = 'The supplier has none', nowMs = NOW_MS) =>
  world.db.write((tx) => failOrder(tx, world, delivering, rowOf(world, id), reason, nowMs))
const available = async (client: TestWorld, quantity: number) => {
  const response = await client.post('/api/v1/products/1/availability', { denomination: 10, quantity })
  return ((await response.json()) as { is_available: boolean }).is_available
}
const accountsOf = (world: World, since: number) =>
  linesSince(world.db.sqlite, since).map(({ account, currency, amount }) => `${account} ${currency} ${amount}`)

describe('an order that is delivered in parts', () => {
  test('is PARTIALLY_DELIVERED, keeps all its money reserved, and is not moved by the clock', async () => {
    const { client, world } = await program.open(START)

    await place(client, TEN)
    await delivered(world, 1, 3)
    const partly = await getOrder(client, 1)
    expect(partly).toMatchObject({ status: 'PARTIALLY_DELIVERED', delivered_at: null, amount: 116.53 })
    expect(partly.vouchers.map(({ voucher_reference_number }) => voucher_reference_number)).toEqual([
      '1-1',
      '1-2',
      '1-3',
    ])
    expect(await balanceOf(client, 1)).toEqual({ amount: 99_883.47, reserved: 116.53 })
    await client.clock({ advance: 'PT30M' })
    expect(await getOrder(client, 1)).toEqual(partly)
    expectSoundBooks(world.db.sqlite)
  })

  atStart('is DELIVERED with the last code, and settled completely', async ({ client, world }) => {
    await place(client, TEN)
    await delivered(world, 1, 3)
    const last = lastEntryOf(world.db.sqlite)
    await delivered(world, 1, 99, NOW_MS + 1_000)
    const order = await getOrder(client, 1)
    expect(order).toMatchObject({ status: 'DELIVERED', delivered_at: '2030-01-01T00:00:02.000Z' })
    expect(order.vouchers.map(({ voucher_reference_number }) => voucher_reference_number)).toEqual(
      Array.from({ length: 10 }, (_, index) => `1-${index + 1}`),
    )
    expect(new Set(order.vouchers.map(({ card_number }) => card_number)).size).toBe(10)
    expect(accountsOf(world, last)).toEqual([
      'reserved USD -11653',
      'tax USD 1755',
      'fees USD 148',
      'supplier USD 9750',
    ])
    expect(await movementsOf(client)).toHaveLength(1)
    expectSoundBooks(world.db.sqlite)
  })

  atStart('is refunded for the rest if it fails, and the codes return to the stock', async ({ client, world }) => {
    await place(client, TEN)
    expect(await available(client, 1)).toBe(false)
    await delivered(world, 1, 3)
    const last = lastEntryOf(world.db.sqlite)
    await failed(world, 1)
    expect(await getOrder(client, 1)).toMatchObject({
      status: 'PARTIALLY_DELIVERED',
      failure_reason: 'The supplier has none',
      failed_at: '2030-01-01T00:00:01.000Z',
      delivered_at: null,
    })
    // 7 tenths of 116.53 are 81.571: 81.57 go back, 34.96 stay; tax, fee and net are shared alike.
    expect(accountsOf(world, last)).toEqual([
      'reserved USD -3496',
      'tax USD 527',
      'fees USD 44',
      'supplier USD 2925',
      'wallet USD 8157',
      'reserved USD -8157',
    ])
    expect((await movementsOf(client))[1]).toMatchObject({
      transaction_type: 'CREDIT',
      source_type: 'refund',
      source_id: '1',
      amount: 81.57,
      remarks: 'The supplier has none',
    })
    expect(await balanceOf(client, 1)).toEqual({ amount: 99_965.04, reserved: 0 })
    expect(await available(client, 7)).toBe(true)
    expect(await available(client, 8)).toBe(false)
    expectSoundBooks(world.db.sqlite)
  })

  atStart('is then final: no more deliveries, refunds or cancellations', async ({ client, world }) => {
    await place(client, TEN)
    await delivered(world, 1, 3)
    await failed(world, 1)
    const last = lastEntryOf(world.db.sqlite)
    expect(await failureOf(delivered(world, 1, 1))).toMatchObject({ code: 'transition_refused' })
    expect(await failureOf(failed(world, 1))).toMatchObject({ code: 'transition_refused' })
    expect((await client.post(`${ORDERS}/1/cancel`)).status).toBe(400)
    expect(lastEntryOf(world.db.sqlite)).toBe(last)
    expect(vouchersOf(world.db.query, { id: 1, deliveredQuantity: 3 })).toHaveLength(3)
  })

  atStart('is settled and refunded at the recorded rate', async ({ client, world }) => {
    // 97.5 USD at 152.35: 14,854 JPY; GST 2,674; fee 76.175 + 148.54 = 225; conversion 74; together 17,827.
    await place(client, { ...TEN, wallet_id: 4 })
    expect((await movementsOf(client))[0]).toMatchObject({ amount: 17_827, conversion_charges: 74 })
    await delivered(world, 1, 3)
    const last = lastEntryOf(world.db.sqlite)
    await failed(world, 1)
    expect(accountsOf(world, last)).toEqual([
      'reserved JPY -5348',
      'tax JPY 802',
      'fees JPY 68',
      'conversion JPY 22',
      'exchange JPY 4456',
      'exchange USD -2925',
      'supplier USD 2925',
      'wallet JPY 12479',
      'reserved JPY -12479',
    ])
    expect((await movementsOf(client))[1]).toMatchObject({
      amount: 12_479,
      source_currency: 'USD',
      destination_currency: 'JPY',
      forex_rate: 152.35,
      conversion_charges: 52,
    })
    expectSoundBooks(world.db.sqlite)
  })
})

describe('an order that fails', () => {
  test.each([
    ['PENDING', 0],
    ['PROCESSING', 2_000],
  ])('from %s refunds all of it', async (status, afterMs) => {
    const { client, world } = await program.open(START)
    await place(client, TEN)
    await client.clock({ advance: `PT${afterMs / 1_000}S` })
    expect((await getOrder(client, 1)).status).toBe(status)
    await failed(world, 1, 'No more such cards', NOW_MS + 2_000)
    const order = await getOrder(client, 1)
    expect(order).toMatchObject({
      status: 'FAILED',
      failed_at: '2030-01-01T00:00:03.000Z',
      failure_reason: 'No more such cards',
      delivered_at: null,
      cancelled_at: null,
      vouchers: [],
    })
    expect(await balanceOf(client, 1)).toEqual({ amount: 100_000, reserved: 0 })
    expect(await available(client, 10)).toBe(true)
    await client.clock({ advance: 'PT10M' })
    expect(await getOrder(client, 1)).toEqual(order)
    expectSoundBooks(world.db.sqlite)
  })
})

describe('an order in a final status', () => {
  const endings: Record<string, (client: TestWorld, world: World) => Promise<unknown>> = {
    DELIVERED: (client) => client.clock({ advance: 'PT5S' }),
    FAILED: (_, world) => failed(world, 1),
    CANCELLED: (client) => client.post(`${ORDERS}/1/cancel`),
  }
  test.each(Object.keys(endings))('has no further transition: %s', async (status) => {
    const { client, world } = await program.open(START)
    await place(client, TEN)
    await endings[status]?.(client, world)
    const before = await getOrder(client, 1)
    expect(before.status).toBe(status)
    const last = lastEntryOf(world.db.sqlite)
    expect(await failureOf(delivered(world, 1, 1))).toMatchObject({ message: `Cannot go from ${status} to DELIVERED` })
    expect(await failureOf(failed(world, 1))).toMatchObject({ message: `Cannot go from ${status} to FAILED` })
    expect(await getOrder(client, 1)).toEqual(before)
    expect(lastEntryOf(world.db.sqlite)).toBe(last)
  })
})
