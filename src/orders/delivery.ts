import type { Tx } from '../db/database.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { DomainError, transitionRefused } from '../kernel/failure.ts'
import { type DueSource, schedule } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import { orderNotCancellable } from './errors.ts'
import {
  allOrders,
  countDue,
  findNextDue,
  findNextDueMs,
  insertVoucher,
  type Order,
  type OrderStatus,
  updateOrder,
} from './queries.ts'
import { placeInOrder } from './seal.ts'
import { settleOrder } from './settlement.ts'
import type { VoucherSupply } from './supply.ts'
import type { SealSource } from './voucher-key.ts'

/** When the clock delivers an order, after it was placed (contract C12). */
export const PROCESSING_AFTER_MS = 2 * SECOND_MS
const DELIVERED_AFTER_MS = 5 * SECOND_MS

/** Why an order failed, where nobody says more. */
export const FAILED_REASON = 'The order could not be delivered'

export interface Delivering {
  supply: VoucherSupply
  seals: SealSource
}

/** Delivers some vouchers of an open order; the last one settles it. @throws DomainError transition_refused */
export const deliver = (
  tx: Tx,
  world: World,
  { supply, seals }: Delivering,
  order: Order,
  quantity: number,
  nowMs: number,
): Order => {
  refuseEnded(order, 'DELIVERED')
  const count = Math.min(quantity, order.quantity - order.deliveredQuantity)
  const supplied = supply.deliver(tx, world, order, count)
  const seal = seals(tx)
  supplied.forEach(({ code, expiresAtMs, stockId }, index) => {
    const voucher = { orderId: order.id, reference: `${order.id}-${order.deliveredQuantity + index + 1}` }
    const sealed = seal.close(code, placeInOrder(order, voucher))
    insertVoucher(tx, { id: null, ...voucher, sealed, expiresAtMs, stockId })
  })
  const deliveredQuantity = order.deliveredQuantity + count
  if (deliveredQuantity < order.quantity) {
    return updateOrder(tx, order, { deliveredQuantity, status: 'PARTIALLY_DELIVERED', dueAtMs: null })
  }
  settleOrder(tx, { ...order, deliveredQuantity }, nowMs, order.productName)
  return updateOrder(tx, order, { deliveredQuantity, status: 'DELIVERED', deliveredAtMs: nowMs, dueAtMs: null })
}

/** Ends an order and refunds what is not delivered. @throws DomainError transition_refused */
export const failOrder = (tx: Tx, supply: VoucherSupply, order: Order, reason: string, nowMs: number): Order => {
  refuseEnded(order, 'FAILED')
  giveUp(tx, supply, order, nowMs, reason)
  const status: OrderStatus = order.deliveredQuantity > 0 ? 'PARTIALLY_DELIVERED' : 'FAILED'
  return updateOrder(tx, order, { status, failureReason: reason, failedAtMs: nowMs, dueAtMs: null })
}

/** @throws DomainError order_not_cancellable */
export const cancelOrder = (tx: Tx, world: World, supply: VoucherSupply, order: Order): Order => {
  if (order.status !== 'PENDING') throw new DomainError(orderNotCancellable(order.status))
  const nowMs = world.clock.nowMs()
  giveUp(tx, supply, order, nowMs, 'Cancelled')
  return updateOrder(tx, order, { status: 'CANCELLED', cancelledAtMs: nowMs, dueAtMs: null })
}

const giveUp = (tx: Tx, supply: VoucherSupply, order: Order, nowMs: number, remarks: string): void => {
  supply.giveBack(tx, order)
  settleOrder(tx, order, nowMs, remarks)
}

/** A partial delivery has ended once the rest was refunded, which sets `failedAtMs`. */
const hasEnded = ({ status, failedAtMs }: Order): boolean =>
  status === 'DELIVERED' || status === 'FAILED' || status === 'CANCELLED' || failedAtMs !== null

const refuseEnded = (order: Order, to: OrderStatus): void => {
  if (hasEnded(order)) throw new DomainError(transitionRefused(order.status, to))
}

/** Sets the due times again after the pace of a world has changed. */
export const repaceOrders = (tx: Tx, byClock: (world: World) => boolean, world: World): void => {
  const nowMs = world.clock.nowMs()
  const moved = byClock(world)
  for (const order of allOrders(tx, ['PENDING', 'PROCESSING'])) {
    const dueAtMs = moved ? dueTimeOf(order, nowMs) : null
    updateOrder(tx, order, { dueAtMs })
    if (dueAtMs !== null) schedule(world, dueAtMs)
  }
}

/** When the clock takes the next step of an order, not before the present; null if it takes none. */
const dueTimeOf = ({ status, placedAtMs }: Pick<Order, 'status' | 'placedAtMs'>, nowMs: number): number | null => {
  if (status !== 'PENDING' && status !== 'PROCESSING') return null
  return Math.max(placedAtMs + (status === 'PENDING' ? PROCESSING_AFTER_MS : DELIVERED_AFTER_MS), nowMs)
}

/** Orders whose next step the clock takes: processing, then delivery (contract C12). */
export const dueOrders = (delivering: Delivering): DueSource => ({
  nextMs: findNextDueMs,
  waiting: countDue,
  step: (tx, world) => {
    const order = findNextDue(tx)
    if (!order?.dueAtMs) return
    if (order.status === 'PENDING') {
      const dueAtMs = Math.max(order.placedAtMs + DELIVERED_AFTER_MS, order.dueAtMs)
      updateOrder(tx, order, { status: 'PROCESSING', dueAtMs })
    } else {
      deliver(tx, world, delivering, order, order.quantity, order.dueAtMs)
    }
  },
})
