import type { Tx } from '../db/database.ts'
import { type EventContext, publish } from '../events/publish.ts'
import { toTimestampOrNull } from '../kernel/clock.ts'
import { type OrderChange, orderWire } from './contract.ts'
import { type Order, vouchersOf } from './queries.ts'

/** Writes an event with the present state of an order. Its vouchers have no codes (contract C16). */
export const publishOrder = (
  tx: Tx,
  { world, reference }: EventContext,
  order: Order,
  change: OrderChange,
  createdAtMs: number,
): void => {
  const vouchers = vouchersOf(tx, order).map((voucher) => ({
    voucher_reference_number: voucher.reference,
    expires_at: toTimestampOrNull(voucher.expiresAtMs),
  }))
  const { id, clientId } = order
  const data = orderWire(order, vouchers, reference)
  publish(tx, world, { clientId, type: `order.${change}`, record: `order ${id}`, data, createdAtMs })
}
