// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { deliver, failOrder } from '../../src/orders/delivery.ts'
import { findOrder } from '../../src/orders/queries.ts'
import { refundVouchers } from '../../src/orders/refund.ts'
import type { Order } from '../../src/orders/tables.ts'
import { generatedSupply } from '../../src/sandbox/seed/vouchers.ts'
import type { World } from '../../src/worlds/world.ts'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { failureOf } from '../errors.ts'
import { forFile, found, openProgram, testIn } from '../harness.ts'
import { getOrder, place, START } from '../records.ts'
import { balanceOf, movementsOf } from '../wallets/balances.ts'
import { expectSoundBooks, lastEntryOf, linesSince } from '../wallets/books.ts'

/** Refunds of delivered orders (contract C17). */

const SUPPLY = generatedSupply(() => undefined)
const NOW_MS = 1_893_456_001_000
const TEN = { product_id: 1, denomination: 10, quantity: 10 }

const entries = [
  // 10 cards of 10 USD less 2.5 %: 97.5, GST 17.55, fee 1.48, together 116.53; each 11.65, the last one 11.68.
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
  atStart('gives back the same for each, and the last one takes what rounding has left', async ({ client, world }) => {
    const before = lastEntryOf(world.db.sqlite)
    await place(client, TEN)
    await delivered(world, 1, 10)
    for (let voucher = 1; voucher <= 10; voucher++) await refunded(world, 1, [`1-${voucher}`])
    const amounts = (await movementsOf(client)).slice(1).map(({ amount }) => amount)
    expect(amounts).toEqual([...Array<number>(9).fill(11.65), 11.68])
    expect(await getOrder(client, 1)).toMatchObject({ refunded_amount: 116.53 })
    expect(sumsSince(world, before)).toEqual({})
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
