import type { Tx } from '../db/database.ts'
import { shareOf } from '../kernel/money.ts'
import { type Cause, type Conversion, type Line, refund, settle } from '../wallets/ledger.ts'
import type { Wallet } from '../wallets/queries.ts'
import type { Order } from './tables.ts'

interface Ending {
  deliveredQuantity: number
  nowMs: number
  remarks: string
}

/** Settles what was delivered with supplier, tax and fees, and refunds the rest. */
export const settleOrder = (
  tx: Tx,
  wallet: Wallet,
  order: Order,
  /** Called only for a refund. */
  conversionOf: () => Conversion | undefined,
  { deliveredQuantity, nowMs, remarks }: Ending,
): void => {
  const cause = { sourceId: String(order.id), nowMs }
  const undelivered = order.quantity - deliveredQuantity
  const refundMinor = shareOf(order.payableMinor, undelivered, order.quantity)
  if (deliveredQuantity > 0) {
    const keptMinor = order.payableMinor - refundMinor
    settle(
      tx,
      wallet,
      { sourceType: 'order', ...cause },
      keptMinor,
      earned(order, wallet, keptMinor, deliveredQuantity),
    )
  }
  if (refundMinor > 0) {
    const why: Cause = { sourceType: 'refund', ...cause, remarks }
    const conversion = conversionOf()
    refund(
      tx,
      wallet,
      why,
      refundMinor,
      conversion && { ...conversion, conversionMinor: conversionShare(order, undelivered) },
    )
  }
}

const conversionShare = (order: Order, quantity: number): number =>
  shareOf(order.conversionMinor ?? 0, quantity, order.quantity)

/** Splits the money for some vouchers. The net part is derived, so that the lines add up. */
const earned = (order: Order, wallet: Wallet, keptMinor: number, quantity: number): Line[] => {
  const gstMinor = shareOf(order.gstMinor, quantity, order.quantity)
  const feeMinor = shareOf(order.feeMinor, quantity, order.quantity)
  const conversionMinor = conversionShare(order, quantity)
  const netMinor = keptMinor - gstMinor - feeMinor - conversionMinor
  const own: Line[] = [
    { account: 'tax', currencyId: wallet.currencyId, amountMinor: gstMinor },
    { account: 'fees', currencyId: wallet.currencyId, amountMinor: feeMinor },
    { account: 'conversion', currencyId: wallet.currencyId, amountMinor: conversionMinor },
  ]
  if (wallet.currencyId === order.currencyId) {
    return [...own, { account: 'supplier', currencyId: order.currencyId, amountMinor: netMinor }]
  }
  const totalMinor = shareOf(order.totalMinor, quantity, order.quantity)
  return [
    ...own,
    { account: 'exchange', currencyId: wallet.currencyId, amountMinor: netMinor },
    { account: 'exchange', currencyId: order.currencyId, amountMinor: -totalMinor },
    { account: 'supplier', currencyId: order.currencyId, amountMinor: totalMinor },
  ]
}
