// Runs in process alone: it reads what no response tells.

import { expect, test } from 'bun:test'
import { CHECKS } from '../../src/commands/data/checks.ts'
import type { Query, Tx } from '../../src/db/database.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { deliver, failOrder } from '../../src/orders/delivery.ts'
import { findAnyOrder, type Order, vouchersOf } from '../../src/orders/queries.ts'
import { refundVouchers } from '../../src/orders/refund.ts'
import { importedSupply } from '../../src/orders/supply.ts'
import type { World } from '../../src/worlds/world.ts'
import { forFile } from '../harness.ts'
import { openLive } from './live.ts'

/** Never more than was paid (contract C17), when a client and operators ask for 200 refunds and cancellations at once. */

const ALL = 200
const PAID = 10_000 // minor units of 1,000,000

const live = forFile(await openLive())
const operator = live.database
const world = live.deps.worlds.default
await live.stock(2, ...Array.from({ length: 20 }, (_, number) => `CARD-${number}`))

const spendable = (): number =>
  live.database.sqlite.query<{ amount: number }, []>('SELECT amount_minor AS amount FROM wallets').get()?.amount ?? 0
const delivering = () => ({
  reference: live.deps.reference,
  seals: live.deps.seals,
  supply: importedSupply({ seals: live.deps.seals, onDamaged: () => undefined }),
})
const orderIn = (query: Query, id: number): Order => {
  const order = findAnyOrder(query, id)
  if (!order) throw new Error(`no order ${id}`)
  return order
}
/** Asks for everything at once, and counts what was done. */
const countDone = async (work: (tx: Tx, world: World, number: number) => unknown): Promise<number> => {
  const results = Array.from({ length: ALL }, (_, number) => operator.write((tx) => work(tx, world, number)))
  return (await Promise.allSettled(results)).filter(({ status }) => status === 'fulfilled').length
}
const expectSound = () => {
  for (const { name, sql } of CHECKS) expect([name, live.database.sqlite.query(sql).all()]).toEqual([name, []])
}

test('refunds of a delivered order, whole and by voucher', async () => {
  const before = spendable()
  const { id } = await live.order(2, 10)
  await operator.write((tx) => deliver(tx, world, delivering(), orderIn(tx, id), 10, systemClock.nowMs()))
  expect(spendable()).toBe(before - PAID)
  const references = vouchersOf(operator.query, orderIn(operator.query, id)).map(({ reference }) => reference)
  const done = await countDone((tx, where, number) => {
    const wanted = number % 50 === 49 ? undefined : [references[number % 10] ?? '']
    const context = { world: where, reference: live.deps.reference }
    return refundVouchers(tx, context, orderIn(tx, id), wanted, 'Refunded', systemClock.nowMs())
  })
  expect(done).toBe(10)
  expect(spendable()).toBe(before)
  expect(orderIn(live.database.query, id).refundedMinor).toBe(PAID)
  expectSound()
})

test('cancellations by the client, and failures by operators, of one order', async () => {
  const before = spendable()
  const { id } = await live.order(2, 10)
  const cancelled = Promise.all(
    Array.from({ length: ALL }, () => live.request(`/orders/${id}/cancel`, { method: 'POST' })),
  )
  const failed = countDone((tx, where) =>
    failOrder(tx, where, delivering(), orderIn(tx, id), 'Sold out', systemClock.nowMs()),
  )
  const statuses = (await cancelled).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length + (await failed)).toBe(1)
  expect(spendable()).toBe(before)
  expectSound()
})
