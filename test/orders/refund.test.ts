// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { deliver, failOrder } from '../../src/orders/delivery.ts'
import { findOrder } from '../../src/orders/queries.ts'
import { refundVouchers } from '../../src/orders/refund.ts'
import type { Order } from '../../src/orders/tables.ts'
import { generatedSupply } from '../../src/sandbox/seed/vouchers.ts'
import type { World } from '../../src/work/world.ts'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { failureOf } from '../errors.ts'
import { forFile, found, openProgram, testIn } from '../harness.ts'
import { getOrder, type PublishedEvent, place, START } from '../records.ts'
import { balanceOf, movementsOf } from '../wallets/balances.ts'
import { expectSoundBooks, lastEntryOf, linesSince } from '../wallets/books.ts'

/** Refunds of delivered orders (contract C17). */

const SUPPLY = generatedSupply(() => undefined)
const NOW_MS = 1_893_456_001_000
const TEN = { product_id: 1, denomination: 10, quantity: 10 }

const entries = [
  // 10 cards of 10 USD less 2.5 %: 97.5, GST 17.55, fee 1.48, together 116.53; the n-th gives back n/10 of it, less what came back.
  catalogEntry({
    delivery_time: '48 hours',
    gst_percent: 18,
    handling_fee: { fixed: 0.5, percent: 1 },
    denominations: [{ min_value: 10, max_value: 10, discount: 2.5 }],
  }),
  // 4 cards cost 0.02 together.
  catalogEntry({
    id: 2,
    delivery_time: '48 hours',
    denominations: [{ min_value: 0.01, max_value: 0.01, discount: 50 }],
  }),
  // 50 cards cost 0.74 together.
  catalogEntry({
    id: 3,
    delivery_time: '48 hours',
    max_quantity: 50,
    denominations: [{ min_value: 0.02, max_value: 0.02, discount: 26 }],
  }),
  catalogEntry({
    id: 4,
    delivery_time: '48 hours',
    max_quantity: 50,
    gst_percent: 18,
    handling_fee: { fixed: 0.01, percent: 0 },
    denominations: [{ min_value: 0.01, max_value: 0.01, discount: 50 }],
  }),
]
const program = forFile(openProgram({ flags: ['--catalog', fileOf({ products: entries })] }))
const atStart = testIn(() => program.open(START))

const rowOf = (world: World, id: number): Order => found(findOrder(world.db.query, 1, id))
const delivering = () => ({ supply: SUPPLY, ciphers: program.deps.ciphers, reference: program.deps.reference })
const delivered = (world: World, id: number, quantity: number) =>
  world.db.write((tx) => deliver(tx, world, delivering(), rowOf(world, id), quantity, NOW_MS))
const refunded = (world: World, id: number, references?: string[]) =>
  world.db.write((tx) =>
    refundVouchers(
      tx,
      { world, reference: program.deps.reference },
      rowOf(world, id),
      references,
      'Wrong brand',
      NOW_MS,
    ),
  )
const refusalOf = async (work: Promise<unknown>): Promise<string> => (await failureOf(work)).message
const sumsSince = (world: World, since: number): Record<string, number> => {
  const sums: Record<string, number> = {}
  for (const { account, currency, amount } of linesSince(world.db.sqlite, since)) {
    sums[`${account} ${currency}`] = (sums[`${account} ${currency}`] ?? 0) + amount
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0))
}

describe('a refund of a whole order', () => {
  test('gives back what was paid, takes it back from each account, and leaves the status and the codes', async () => {
    const { client, world } = await program.open(START)

    const before = lastEntryOf(world.db.sqlite)
    await place(client, TEN)
    await delivered(world, 1, 10)
    const { vouchers } = await getOrder(client, 1)
    await refunded(world, 1)
    expect(await getOrder(client, 1)).toMatchObject({
      status: 'DELIVERED',
      amount: 116.53,
      refunded_amount: 116.53,
      vouchers,
    })
    expect(await balanceOf(client, 1)).toEqual({ amount: 100_000, reserved: 0 })
    expect(sumsSince(world, before)).toEqual({})
    expect((await movementsOf(client)).at(-1)).toMatchObject({
      transaction_type: 'CREDIT',
      amount: 116.53,
      source_type: 'refund',
      source_id: '1',
      remarks: 'Wrong brand',
    })
    expectSoundBooks(world.db.sqlite)
  })

  atStart('is refused a second time, and nothing moves', async ({ client, world }) => {
    await place(client, TEN)
    await delivered(world, 1, 10)
    await refunded(world, 1)
    const last = lastEntryOf(world.db.sqlite)
    expect(await refusalOf(refunded(world, 1))).toBe('Order 1 is already refunded')
    expect(lastEntryOf(world.db.sqlite)).toBe(last)
  })

  atStart('happens once, however many ask for it at the same time', async ({ client, world }) => {
    await place(client, TEN)
    await delivered(world, 1, 10)
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => refunded(world, 1)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await balanceOf(client, 1)).toEqual({ amount: 100_000, reserved: 0 })
    expectSoundBooks(world.db.sqlite)
  })

  atStart('is refused while something can still be delivered', async ({ client, world }) => {
    await place(client, TEN)
    expect(await refusalOf(refunded(world, 1))).toBe('Order 1 is PENDING: only a delivered order can be refunded')
    await delivered(world, 1, 4)
    expect(await refusalOf(refunded(world, 1))).toBe(
      'Order 1 is PARTIALLY_DELIVERED: only a delivered order can be refunded',
    )
  })
})

describe('a refund of some vouchers', () => {
  atStart('gives back n/N of what was paid after the n-th voucher, rounded once', async ({ client, world }) => {
    const before = lastEntryOf(world.db.sqlite)
    await place(client, TEN)
    await delivered(world, 1, 10)
    for (let voucher = 1; voucher <= 10; voucher++) await refunded(world, 1, [`1-${voucher}`])
    const amounts = (await movementsOf(client)).slice(1).map(({ amount }) => amount)
    expect(amounts).toEqual([11.65, 11.66, 11.65, 11.65, 11.66, 11.65, 11.65, 11.65, 11.66, 11.65])
    expect(await getOrder(client, 1)).toMatchObject({ refunded_amount: 116.53 })
    expect(sumsSince(world, before)).toEqual({})
    expectSoundBooks(world.db.sqlite)
  })

  atStart('comes to 74 cents of 50 vouchers in steps of one and two', async ({ client, world }) => {
    await place(client, { product_id: 3, denomination: 0.02, quantity: 50 })
    await delivered(world, 1, 50)
    const sums: number[] = []
    for (let voucher = 1; voucher <= 50; voucher++)
      sums.push((await refunded(world, 1, [`1-${voucher}`])).refundedMinor)
    expect(sums).toEqual(Array.from(sums, (_, index) => Math.round(((index + 1) * 74) / 50)))
    expect(await getOrder(client, 1)).toMatchObject({ amount: 0.74, refunded_amount: 0.74 })
    expectSoundBooks(world.db.sqlite)
  })

  atStart('writes no entry and no event for a share of nothing, and its voucher counts', async ({ client, world }) => {
    const before = lastEntryOf(world.db.sqlite)
    // 50 cards of 0.01 at half the price: 0.25, GST 0.05 and a fee of 0.01.
    await place(client, { product_id: 4, denomination: 0.01, quantity: 50 })
    await delivered(world, 1, 50)
    const trace = async (references: string[]) => {
      const last = lastEntryOf(world.db.sqlite)
      const { refundedMinor } = await refunded(world, 1, references)
      return { refundedMinor, entries: lastEntryOf(world.db.sqlite) - last }
    }
    expect(await trace(['1-1'])).toEqual({ refundedMinor: 1, entries: 1 })
    expect(await trace(['1-2'])).toEqual({ refundedMinor: 1, entries: 0 })
    expect(await refusalOf(refunded(world, 1, ['1-2']))).toBe('Voucher 1-2 is already refunded')
    expect(await trace(['1-3', '1-4', '1-5'])).toEqual({ refundedMinor: 3, entries: 1 })
    for (let voucher = 6; voucher <= 50; voucher++) await refunded(world, 1, [`1-${voucher}`])
    expect(await getOrder(client, 1)).toMatchObject({ amount: 0.31, refunded_amount: 0.31 })
    expect(sumsSince(world, before)).toEqual({})
    const events = await client.read<PublishedEvent[]>('/api/v1/events?type=order.refunded&limit=100')
    const returned = (await movementsOf(client)).slice(1)
    expect(events).toHaveLength(returned.length)
    expect(returned.map(({ amount }) => amount).sort()).toEqual([...Array<number>(29).fill(0.01), 0.02])
    expectSoundBooks(world.db.sqlite)
  })

  atStart('gives back no more than was paid where a share rounds up', async ({ client, world }) => {
    await place(client, { product_id: 2, denomination: 0.01, quantity: 4 })
    await delivered(world, 1, 4)
    for (let voucher = 1; voucher <= 4; voucher++) await refunded(world, 1, [`1-${voucher}`])
    expect(await getOrder(client, 1)).toMatchObject({ amount: 0.02, refunded_amount: 0.02 })
    expect((await movementsOf(client)).slice(1).map(({ amount }) => amount)).toEqual([0.01, 0.01])
    expectSoundBooks(world.db.sqlite)
  })

  test('counts a reference once, and refuses one that is unknown or refunded, naming it', async () => {
    const { client, world } = await program.open(START)

    await place(client, TEN)
    await delivered(world, 1, 10)
    await refunded(world, 1, ['1-2', '1-2'])
    expect(await getOrder(client, 1)).toMatchObject({ refunded_amount: 11.65 })
    expect(await refusalOf(refunded(world, 1, ['1-3', '1-2']))).toBe('Voucher 1-2 is already refunded')
    expect(await refusalOf(refunded(world, 1, ['2-1']))).toBe('Order 1 has no voucher 2-1')
    expect(await getOrder(client, 1)).toMatchObject({ refunded_amount: 11.65 })
  })

  atStart('of what was delivered before the rest failed adds up to what was paid', async ({ client, world }) => {
    await place(client, TEN)
    await delivered(world, 1, 3)
    await world.db.write((tx) => failOrder(tx, world, delivering(), rowOf(world, 1), 'Sold out', NOW_MS))
    expect(await getOrder(client, 1)).toMatchObject({ status: 'PARTIALLY_DELIVERED', refunded_amount: 81.57 })
    await refunded(world, 1, ['1-1'])
    await refunded(world, 1)
    expect(await getOrder(client, 1)).toMatchObject({ status: 'PARTIALLY_DELIVERED', refunded_amount: 116.53 })
    expect(await balanceOf(client, 1)).toEqual({ amount: 100_000, reserved: 0 })
    expectSoundBooks(world.db.sqlite)
  })

  atStart('paid in another currency goes back at the rate of the order', async ({ client, world }) => {
    await place(client, { ...TEN, wallet_id: 2 })
    const paid = await getOrder(client, 1)
    await delivered(world, 1, 10)
    await refunded(world, 1, ['1-1'])
    await refunded(world, 1)
    expect(await getOrder(client, 1)).toMatchObject({ refunded_amount: paid.amount })
    expect(await balanceOf(client, 2)).toEqual({ amount: 100_000, reserved: 0 })
    const [{ forex_rate } = {}, ...refunds] = await movementsOf(client)
    expect(forex_rate).toBeGreaterThan(0)
    for (const refund of refunds)
      expect(refund).toMatchObject({ forex_rate, source_currency: 'USD', destination_currency: 'EUR' })
    expectSoundBooks(world.db.sqlite)
  })
})
