import type { Static } from '@sinclair/typebox'
import type { ChargeSchema } from '../charges/schemas.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { OrderSchema } from './operations.ts'
import type { Order } from './tables.ts'

/** An order with its vouchers, which an event shows without their codes. */
export const orderWire = <Voucher>(
  order: Order,
  vouchers: Voucher[],
  reference: Reference,
): Omit<Static<typeof OrderSchema>, 'vouchers'> & { vouchers: Voucher[] } => {
  const currency = reference.getCurrency(order.currencyId)
  const charges = JSON.parse(order.charges) as Static<typeof ChargeSchema>
  const paidIn = reference.findCurrencyByCode(charges.charges_details.destination_currency)
  return {
    id: order.id,
    ref: order.reference,
    client_reference: order.reference,
    transaction_id: order.transactionId,
    product_id: order.productId,
    product_name: order.productName,
    denomination: toMajor(order.denominationMinor, currency.precision),
    quantity: order.quantity,
    currency_code: currency.currency,
    amount: charges.total_payable,
    refunded_amount: toMajor(order.refundedMinor, paidIn?.precision ?? currency.precision),
    discount: charges.discount_amount,
    charges,
    wallet_id: order.walletId,
    status: order.status,
    email: order.email,
    vouchers,
    placed_at: toTimestamp(order.placedAtMs),
    delivered_at: toTimestampOrNull(order.deliveredAtMs),
    failed_at: toTimestampOrNull(order.failedAtMs),
    cancelled_at: toTimestampOrNull(order.cancelledAtMs),
    failure_reason: order.failureReason,
  }
}
