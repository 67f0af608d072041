import type { Tx } from '../db/database.ts'
import type { EventContext } from '../events/publish.ts'
import { DomainError, transitionRefused } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import type { Wallet } from '../wallets/queries.ts'
import { type DueSource, schedule } from '../work/due.ts'
import type { World } from '../work/world.ts'
import { associatedDataInOrder } from './cipher.ts'
import { type OrderChange, orderNotCancellable } from './contract.ts'
import { publishOrder } from './publish.ts'
import {
  allOrders,
  countDue,
  findFirstDue,
  insertVoucher,
  type Order,
  type OrderUpdate,
  updateOrder,
} from './queries.ts'
import { settleOrder } from './settlement.ts'
import { canHappen, MOVED_BY_CLOCK, nextAfterMs } from './states.ts'
import type { SuppliedVoucher, VoucherSupply } from './supply.ts'
import type { CipherSource } from './voucher-key.ts'

export const FAILED_REASON = 'The order could not be delivered'

export interface Delivering {
  reference: Reference
  supply: VoucherSupply
  ciphers: CipherSource
}

/** Delivers some vouchers of an open order; the last one settles it. @throws DomainError transition_refused */
export const deliver = (
  tx: Tx,
  world: World,
  delivering: Delivering,
  order: Order,
  quantity: number,
  nowMs: number,
): Order => {
  if (!canHappen('delivered', order)) throw new DomainError(transitionRefused(order.status, 'DELIVERED'))
  const count = Math.min(quantity, order.quantity - order.deliveredQuantity)
  handOver(tx, world, delivering, order, delivering.supply.deliver(tx, world, order, count), nowMs)
  const update = updateOfDelivery(order, count, nowMs)
  const published = update.status === 'DELIVERED' ? 'delivered' : 'partially_delivered'
  return change(tx, { world, reference: delivering.reference }, order, update, published, nowMs)
}

/** The change of an order when some of its vouchers are delivered. */
export const updateOfDelivery = (order: Order, count: number, nowMs: number): OrderUpdate => {
  const deliveredQuantity = order.deliveredQuantity + count
  return deliveredQuantity < order.quantity
    ? { deliveredQuantity, status: 'PARTIALLY_DELIVERED', dueAtMs: null }
    : { deliveredQuantity, status: 'DELIVERED', deliveredAtMs: nowMs, dueAtMs: null }
}

/**
 * Writes vouchers of an order, and settles it with the last one.
 * @param order the order before their delivery
 * @param wallet the wallet of the order, if the caller has read it
 */
export const handOver = (
  tx: Tx,
  world: World,
  { ciphers, reference }: Delivering,
  order: Order,
  supplied: readonly SuppliedVoucher[],
  nowMs: number,
  wallet?: Wallet,
): void => {
  const cipher = ciphers(tx)
  supplied.forEach(({ code, expiresAtMs, stockId }, index) => {
    const voucher = { orderId: order.id, reference: `${order.id}-${order.deliveredQuantity + index + 1}` }
    const sealed = cipher.encryptCode(code, associatedDataInOrder(order, voucher))
    insertVoucher(tx, { id: null, ...voucher, sealed, expiresAtMs, stockId, refundedAtMs: null })
  })
  const deliveredQuantity = order.deliveredQuantity + supplied.length
  if (deliveredQuantity === order.quantity)
    settleOrder(tx, { world, reference }, { ...order, deliveredQuantity }, nowMs, order.productName, wallet)
}

/** Updates an order and publishes it. */
const change = (
  tx: Tx,
  context: EventContext,
  order: Order,
  update: OrderUpdate,
  published: OrderChange,
  nowMs: number,
): Order => {
  const changed = updateOrder(tx, order, update)
  publishOrder(tx, context, changed, published, nowMs)
  return changed
}

/** Ends an order and refunds its undelivered vouchers. @throws DomainError transition_refused */
export const failOrder = (
  tx: Tx,
  world: World,
  delivering: Delivering,
  order: Order,
  reason: string,
  nowMs: number,
): Order => {
  const isPartly = canHappen('rest_refunded', order)
  if (!isPartly && !canHappen('failed', order)) throw new DomainError(transitionRefused(order.status, 'FAILED'))
  const status = isPartly ? order.status : 'FAILED'
  const update = { status, failureReason: reason, failedAtMs: nowMs, dueAtMs: null }
  return giveUp(tx, world, delivering, order, { update, remarks: reason, nowMs })
}

/** @throws DomainError order_not_cancellable */
export const cancelOrder = (tx: Tx, world: World, delivering: Delivering, order: Order): Order => {
  if (!canHappen('cancelled', order)) throw new DomainError(orderNotCancellable(order.status))
  const nowMs = world.clock.nowMs()
  const update = { status: 'CANCELLED', cancelledAtMs: nowMs, dueAtMs: null } as const
  return giveUp(tx, world, delivering, order, { update, remarks: 'Cancelled', nowMs })
}

/** Refunds undelivered vouchers. A partly delivered order keeps its status, and only its refund is published. */
const giveUp = (
  tx: Tx,
  world: World,
  { supply, reference }: Delivering,
  order: Order,
  { update, remarks, nowMs }: { update: OrderUpdate; remarks: string; nowMs: number },
): Order => {
  supply.giveBack(tx, order)
  const context = { world, reference }
  const refundedMinor = settleOrder(tx, context, order, nowMs, remarks)
  const ended = updateOrder(tx, order, { ...update, refundedMinor })
  if (ended.status === 'FAILED') publishOrder(tx, context, ended, 'failed', nowMs)
  if (ended.status === 'CANCELLED') publishOrder(tx, context, ended, 'cancelled', nowMs)
  if (refundedMinor > 0) publishOrder(tx, context, ended, 'refunded', nowMs)
  return ended
}

/** Sets the due times again after the pace of a world has changed. */
export const repaceOrders = (tx: Tx, byClock: (world: World) => boolean, world: World): void => {
  const nowMs = world.clock.nowMs()
  const moved = byClock(world)
  for (const order of allOrders(tx, MOVED_BY_CLOCK)) {
    const dueAtMs = moved ? dueTimeOf(order, nowMs) : null
    updateOrder(tx, order, { dueAtMs })
    if (dueAtMs !== null) schedule(world, 'orders', dueAtMs)
  }
}

/** The time of the clock's next step for an order, not before the present; null if it takes none. */
export const dueTimeOf = (order: Pick<Order, 'status' | 'placedAtMs'>, nowMs: number): number | null => {
  const afterMs = nextAfterMs(order)
  return afterMs === undefined ? null : Math.max(order.placedAtMs + afterMs, nowMs)
}

/** Orders whose next step the clock takes: processing, then delivery (contract C12). */
export const dueOrders = (delivering: Delivering): DueSource => ({
  kind: 'orders',
  waiting: countDue,
  first: (query, quarantined) => {
    const order = findFirstDue(query, quarantined)
    return order && { id: order.id, dueMs: order.dueAtMs, step: (tx, world) => step(tx, world, delivering, order) }
  },
})

const step = (tx: Tx, world: World, delivering: Delivering, order: Order & { dueAtMs: number }): void => {
  if (order.status !== 'PENDING') {
    deliver(tx, world, delivering, order, order.quantity, order.dueAtMs)
    return
  }
  const dueAtMs = dueTimeOf({ ...order, status: 'PROCESSING' }, order.dueAtMs)
  const context = { world, reference: delivering.reference }
  change(tx, context, order, { status: 'PROCESSING', dueAtMs }, 'processing', order.dueAtMs)
}
