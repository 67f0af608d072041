import type { Tx } from '../db/database.ts'
import type { EventContext } from '../events/publish.ts'
import { badRequest, DomainError, type Failure, foundOr } from '../kernel/failure.ts'
import { shareOf } from '../kernel/money.ts'
import { WALLET_NOT_FOUND } from '../wallets/contract.ts'
import { moveWallet } from '../wallets/ledger.ts'
import { findWallet } from '../wallets/queries.ts'
import { publishOrder } from './publish.ts'
import { markRefunded, type Order, updateOrder, vouchersOf } from './queries.ts'
import { conversionOf, conversionShare, earned } from './settlement.ts'
import type { Voucher } from './tables.ts'

/** Refunds of delivered vouchers (contract C17). The order keeps its status, and codes do not return to the stock. */

type Shared = Pick<Order, 'payableMinor' | 'quantity' | 'deliveredQuantity'>

/** The remarks of a refund, unless others are given. */
export const REFUNDED_REMARKS = 'Refunded'

/**
 * Refunds some vouchers of a delivered order, or all that are left, at the order's own price and rate. Returns the updated
 * order.
 * @throws DomainError refund_refused
 */
export const refundVouchers = (
  tx: Tx,
  context: EventContext,
  order: Order,
  references: readonly string[] | undefined,
  remarks: string,
  nowMs: number,
): Order => {
  if (order.status !== 'DELIVERED' && order.failedAtMs === null) {
    throw new DomainError(refundRefused(`Order ${order.id} is ${order.status}: only a delivered order can be refunded`))
  }
  const vouchers = vouchersOf(tx, order)
  const refundedBefore = vouchers.filter(({ refundedAtMs }) => refundedAtMs !== null).length
  const toRefund = wantedOf(order, vouchers, references)
  const [booked, refunded] = [bookedOf(order, refundedBefore), bookedOf(order, refundedBefore + toRefund.length)]
  const [before, after] = [costOf(order, booked), costOf(order, refunded)]
  markRefunded(tx, toRefund, nowMs)
  if (after === before) return order // a share of nothing
  const wallet = foundOr(findWallet(tx, order.clientId, order.walletId), WALLET_NOT_FOUND)
  const kept = earned(order, wallet, before, booked)
  // Takes back from each account what it has earned with the vouchers.
  const lines = earned(order, wallet, after, refunded).map((line, index) => ({
    ...line,
    amountMinor: (kept[index]?.amountMinor ?? 0) - line.amountMinor,
  }))
  const conversion = conversionOf(tx, order, conversionShare(order, refunded) - conversionShare(order, booked))
  const cause = { sourceType: 'refund', sourceId: String(order.id), remarks, nowMs, conversion } as const
  moveWallet(tx, context, wallet, cause, after - before, lines)
  const updated = updateOrder(tx, order, { refundedMinor: order.refundedMinor + after - before })
  publishOrder(tx, context, updated, 'refunded', nowMs)
  return updated
}

const wantedOf = (
  order: Order,
  vouchers: readonly Voucher[],
  references: readonly string[] | undefined,
): readonly Voucher[] => {
  const left = vouchers.filter(({ refundedAtMs }) => refundedAtMs === null)
  if (left.length === 0) throw new DomainError(refundRefused(`Order ${order.id} is already refunded`))
  if (references === undefined) return left
  return [...new Set(references)].map((reference) => {
    const voucher = vouchers.find((candidate) => candidate.reference === reference)
    if (!voucher) throw new DomainError(refundRefused(`Order ${order.id} has no voucher ${reference}`))
    if (voucher.refundedAtMs !== null) throw new DomainError(refundRefused(`Voucher ${reference} is already refunded`))
    return voucher
  })
}

export const refundRefused = (message: string): Failure => badRequest('refund_refused', message)

/** The refund of some of the delivered vouchers, rounded once, after that of those that were not delivered. */
const costOf = ({ payableMinor, quantity, deliveredQuantity }: Shared, vouchers: number): number => {
  const undelivered = quantity - deliveredQuantity
  return shareOf(payableMinor, undelivered + vouchers, quantity) - shareOf(payableMinor, undelivered, quantity)
}

/**
 * The number of vouchers with which the ledger agrees: the most that cost no more than these, because a share of nothing
 * writes no entry.
 */
const bookedOf = (order: Shared, vouchers: number): number => {
  const cost = costOf(order, vouchers)
  if (cost === 0) return 0
  let booked = vouchers
  while (booked < order.deliveredQuantity && costOf(order, booked + 1) === cost) booked += 1
  return booked
}
