import type { Tx } from '../db/database.ts'
import type { EventContext } from '../events/publish.ts'
import { foundOr } from '../kernel/failure.ts'
import { keptRate, shareOf } from '../kernel/money.ts'
import { WALLET_NOT_FOUND } from '../wallets/contract.ts'
import { type Conversion, type Line, refund, settle } from '../wallets/ledger.ts'
import { findTransaction, findWallet, type Wallet } from '../wallets/queries.ts'
import type { Order } from './tables.ts'

/**
 * Settles the delivered vouchers with supplier, tax and fees, and refunds the rest. Returns the refunded amount.
 * @param wallet the wallet of the order, if the caller has read it
 */
export const settleOrder = (
  tx: Tx,
  context: EventContext,
  order: Order,
  nowMs: number,
  remarks: string,
  wallet: Wallet = foundOr(findWallet(tx, order.clientId, order.walletId), WALLET_NOT_FOUND),
): number => {
  const { deliveredQuantity } = order
  const cause = { sourceId: String(order.id), nowMs }
  const undelivered = order.quantity - deliveredQuantity
  const refundMinor = shareOf(order.payableMinor, undelivered, order.quantity)
  const settledMinor = order.payableMinor - refundMinor
  const lines = earned(order, wallet, settledMinor, deliveredQuantity)
  const paid =
    deliveredQuantity > 0 ? settle(tx, wallet, { sourceType: 'order', ...cause }, settledMinor, lines) : wallet
  if (refundMinor > 0) {
    const conversion = conversionOf(tx, order, conversionShare(order, undelivered))
    refund(tx, context, paid, { sourceType: 'refund', ...cause, remarks, conversion }, refundMinor)
  }
  return refundMinor
}

/** A conversion at the rate of the original payment, not at the present one. */
export const conversionOf = (tx: Tx, order: Order, conversionMinor: number): Conversion | undefined => {
  if (order.conversionMinor === null) return undefined
  const paid = findTransaction(tx, order.clientId, order.transactionId)
  const rate = paid && keptRate(paid)
  if (!rate || paid.sourceCurrency === null || paid.destinationCurrency === null) return undefined
  const { sourceCurrency, destinationCurrency } = paid
  return { sourceCurrency, destinationCurrency, rate, conversionMinor }
}

export const conversionShare = (order: Order, quantity: number): number =>
  shareOf(order.conversionMinor ?? 0, quantity, order.quantity)

/** Splits the money for some vouchers. The net part is derived, so that the lines add up. */
export const earned = (order: Order, wallet: Wallet, settledMinor: number, quantity: number): Line[] => {
  const gstMinor = shareOf(order.gstMinor, quantity, order.quantity)
  const feeMinor = shareOf(order.feeMinor, quantity, order.quantity)
  const conversionMinor = conversionShare(order, quantity)
  const netMinor = settledMinor - gstMinor - feeMinor - conversionMinor
  const withheld: Line[] = [
    { account: 'tax', currencyId: wallet.currencyId, amountMinor: gstMinor },
    { account: 'fees', currencyId: wallet.currencyId, amountMinor: feeMinor },
    { account: 'conversion', currencyId: wallet.currencyId, amountMinor: conversionMinor },
  ]
  if (wallet.currencyId === order.currencyId) {
    return [...withheld, { account: 'supplier', currencyId: order.currencyId, amountMinor: netMinor }]
  }
  const totalMinor = shareOf(order.totalMinor, quantity, order.quantity)
  return [
    ...withheld,
    { account: 'exchange', currencyId: wallet.currencyId, amountMinor: netMinor },
    { account: 'exchange', currencyId: order.currencyId, amountMinor: -totalMinor },
    { account: 'supplier', currencyId: order.currencyId, amountMinor: totalMinor },
  ]
}
