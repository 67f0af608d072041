import type { Static } from '@sinclair/typebox'
import { findOffer, type Product, quantityMaxFor } from '../../catalog/product.ts'
import { type ChargeSchema, chargeWire, DENOMINATION_NOT_OFFERED } from '../../charges/contract.ts'
import { priceIn } from '../../charges/quote.ts'
import type { Tx } from '../../db/database.ts'
import { SECOND_MS } from '../../kernel/clock.ts'
import { convert, RATE_ONE, shareOf } from '../../kernel/money.ts'
import { dueTimeOf, FAILED_REASON } from '../../orders/delivery.ts'
import { insertOrder, insertVoucher, type Order, vouchersOf } from '../../orders/queries.ts'
import { bookRefund, costOf, REFUNDED_REMARKS } from '../../orders/refund.ts'
import { placeInOrder } from '../../orders/seal.ts'
import { settleOrder } from '../../orders/settlement.ts'
import type { SuppliedVoucher } from '../../orders/supply.ts'
import type { Currency } from '../../reference/reference.ts'
import { type Conversion, reserve } from '../../wallets/ledger.ts'
import type { Wallet } from '../../wallets/queries.ts'
import { generatedVoucher } from '../seed/vouchers.ts'
import type { Place, ScenarioSources } from './loading.ts'
import type { OrderDocument } from './schema.ts'

/** The orders of a document: each with its payment, its vouchers, and its settlement or refund. */

type Charges = Static<typeof ChargeSchema>

/** How long a delivery takes if the document does not say. */
const DELIVERY_MS = 5 * SECOND_MS

export const loadOrder = (at: Place, entry: OrderDocument, id: number): void => {
  const { loading } = at
  const product = loading.products.get(entry.product_id)
  const clientId = at.clientOf(entry.client)
  if (clientId === undefined) return
  at.isNew('id', 'orders', entry.id)
  at.isNew('client_reference', `references of orders of ${clientId}`, entry.client_reference)
  const currency = currencyOf(at, entry, product)
  if (!currency) return
  const paying = at.walletOf(clientId, entry.wallet_id, currency.id)
  if (!paying) return
  const charges = entry.charges ?? chargesOf(at, entry, clientId, product, paying.currency)
  if (!charges) return
  const amounts = amountsOf(at, entry, charges, currency, paying.currency)
  const { order: moved, endMs, remarks } = courseOf(at, entry)
  const base: Omit<Order, 'transactionId'> = {
    id,
    clientId,
    reference: entry.client_reference ?? `ord-${loading.ids.letters(20)}`,
    productId: entry.product_id,
    productName: entry.product_name ?? product?.name ?? '',
    currencyId: currency.id,
    quantity: entry.quantity,
    email: entry.email ?? null,
    walletId: paying.wallet.id,
    charges: JSON.stringify(charges),
    ...amounts,
    ...moved,
    refundedMinor: 0,
    dueAtMs: null,
  }
  const refunded = refundedOf(at, entry, endMs === undefined ? 0 : base.deliveredQuantity)
  const refundedMinor = endMs === undefined ? 0 : refundOf(base) + costOf(base, refunded.length)
  const dueAtMs = loading.pace.orders === 'auto' ? dueTimeOf(base, loading.nowMs) : null
  const order = { ...base, refundedMinor, dueAtMs }
  loading.take(order.productId, endMs === undefined ? order.quantity : order.deliveredQuantity)
  paying.pastMinor -= order.payableMinor - refundedMinor
  const voucher = () => generatedVoucher(loading.ids, order.placedAtMs, product?.validity)
  const vouchers = Array.from({ length: at.takeVouchers(order.deliveredQuantity) }, voucher)
  let transactionId = 0
  const pay = (own: Tx): void => {
    transactionId = place(own, loading.sources, paying.wallet, order, charges, vouchers)
  }
  loading.happened({ atMs: order.placedAtMs, at, apply: pay })
  if (endMs === undefined) return
  const settle = (own: Tx) =>
    settleOrder(own, loading.sources, { ...order, transactionId }, endMs, remarks ?? order.productName, paying.wallet)
  loading.happened({ atMs: endMs, at, apply: settle })
  if (refunded.length === 0) return
  const refund = (own: Tx): void => {
    const delivered = vouchersOf(own, id)
    const chosen = refunded.flatMap((number) => delivered[number - 1] ?? [])
    bookRefund(own, loading.sources, { ...order, transactionId }, 0, chosen, REFUNDED_REMARKS, loading.nowMs)
  }
  loading.happened({ atMs: loading.nowMs, at, apply: refund })
}

/** Writes the payment, the order and its vouchers. Returns the id of the transaction. */
const place = (
  tx: Tx,
  sources: ScenarioSources,
  wallet: Wallet,
  order: Omit<Order, 'transactionId'>,
  charges: Charges,
  vouchers: readonly SuppliedVoucher[],
): number => {
  const conversion = conversionOf(charges, order.conversionMinor ?? 0)
  const cause = { sourceType: 'order', sourceId: String(order.id), remarks: order.productName } as const
  const paid = { ...cause, nowMs: order.placedAtMs, conversion }
  const { transactionId } = reserve(tx, sources, wallet, paid, order.payableMinor)
  insertOrder(tx, { ...order, transactionId })
  const seal = sources.seals(tx)
  for (const [index, { code, expiresAtMs }] of vouchers.entries()) {
    const voucher = { orderId: order.id, reference: `${order.id}-${index + 1}` }
    const sealed = seal.close(code, placeInOrder(order, voucher))
    insertVoucher(tx, { id: null, ...voucher, sealed, expiresAtMs, stockId: null, refundedAtMs: null })
  }
  return transactionId
}

const currencyOf = (at: Place, entry: OrderDocument, product: Product | undefined): Currency | undefined => {
  const { charges, product_id: productId, product_name: productName } = entry
  if (!charges || productName === undefined) {
    at.check(product !== undefined, 'product_id', `the catalog has no product ${productId}`)
    return product?.currency
  }
  const code = charges.charges_details.source_currency
  const currency = at.loading.sources.reference.findCurrencyByCode(code)
  const member = 'charges/charges_details/source_currency'
  at.check(currency !== undefined, member, `unknown currency ${code}`)
  return currency
}

/** The charges by the catalog. */
const chargesOf = (
  at: Place,
  { denomination, quantity }: OrderDocument,
  clientId: number,
  product: Product | undefined,
  destination: Currency,
): Charges | undefined => {
  if (!product) return undefined
  const { discounts, rates, sources } = at.loading
  const offer = findOffer(product, denomination, discounts.get(clientId)?.get(product.id) ?? 0)
  if (!offer) {
    at.wrong('denomination', DENOMINATION_NOT_OFFERED.message)
    return undefined
  }
  const pricing = { rates, conversionBasisPoints: sources.conversionBasisPoints }
  return at.attempt(() => {
    const price = priceIn(destination, pricing, product, offer, quantity)
    return chargeWire({ price, quantityMax: quantityMaxFor(product, null) })
  })
}

const rateOf = (charges: Charges): number | undefined => {
  const { forex_rate } = charges.charges_details
  return forex_rate === null ? undefined : Math.round(forex_rate * RATE_ONE)
}

const conversionOf = (charges: Charges, conversionMinor: number): Conversion | undefined => {
  const { source_currency: sourceCurrency, destination_currency: destinationCurrency } = charges.charges_details
  const rateE8 = rateOf(charges)
  if (rateE8 === undefined) return undefined
  return { sourceCurrency, destinationCurrency, rateE8, conversionMinor }
}

/** The parts of a price in minor units. A part that does not add up is a problem. */
const amountsOf = (
  order: Place,
  { denomination, quantity }: OrderDocument,
  charges: Charges,
  source: Currency,
  destination: Currency,
) => {
  const at = order.in('charges')
  const details = at.in('charges_details')
  const { conversion_fee: fee } = charges.charges_details
  const inSource = (name: keyof Charges) => at.minorOf(name, Number(charges[name]), source)
  const inDestination = (name: keyof Charges) => at.minorOf(name, Number(charges[name]), destination)
  const denominationMinor = order.minorOf('denomination', denomination, source)
  const wholeMinor = inSource('non_discounted_total')
  const discountMinor = inSource('discount_amount')
  const totalMinor = inSource('total_amount')
  const netMinor = inDestination('net_amount')
  const gstMinor = inDestination('gst_amount')
  const feeMinor = inDestination('handling_fee_amount')
  const payableMinor = inDestination('total_payable')
  const conversionMinor = fee === null ? null : details.minorOf('conversion_fee', fee, destination)
  checkCurrencies(details, charges, source, destination)
  const parts = [discountMinor, totalMinor, netMinor, gstMinor, feeMinor, conversionMinor ?? 0]
  const isWhole = wholeMinor === denominationMinor * quantity
  at.check(isWhole, 'non_discounted_total', 'must be denomination multiplied by quantity')
  const isTotal = totalMinor === wholeMinor - discountMinor
  at.check(isTotal, 'total_amount', 'must be non_discounted_total without discount_amount')
  const isNet = netMinor === netOf(at, charges, totalMinor, source, destination)
  at.check(isNet, 'net_amount', 'must be total_amount at the rate')
  const isSum = payableMinor === netMinor + gstMinor + feeMinor + (conversionMinor ?? 0)
  const summands = 'net_amount, gst_amount, handling_fee_amount and conversion_fee'
  at.check(isSum, 'total_payable', `must be the sum of ${summands}`)
  at.check(!parts.some((minor) => minor < 0), '', 'must hold no negative amount')
  at.check(payableMinor > 0, 'total_payable', 'must be greater than 0')
  return { denominationMinor, totalMinor, discountMinor, netMinor, gstMinor, feeMinor, conversionMinor, payableMinor }
}

const checkCurrencies = (at: Place, charges: Charges, source: Currency, destination: Currency): void => {
  const { source_currency: from, destination_currency: to } = charges.charges_details
  const hasRate = rateOf(charges) !== undefined
  at.check(from === source.currency, 'source_currency', `must be ${source.currency}, the currency of the product`)
  const isPaid = to === destination.currency
  at.check(isPaid, 'destination_currency', `must be ${destination.currency}, the currency of the wallet`)
  const isExchanged = source.id !== destination.id
  at.check(hasRate === isExchanged, 'forex_rate', 'must be null when both currencies are the same, and only then')
}

/** The total in the currency of the wallet; undefined if it is too large. */
const netOf = (at: Place, charges: Charges, totalMinor: number, source: Currency, destination: Currency) => {
  const rateE8 = rateOf(charges)
  if (rateE8 === undefined) return totalMinor
  return at.attempt(() => convert(totalMinor, rateE8, source.precision, destination.precision))
}

/** The times by the status that has them. */
const TIMES = { DELIVERED: 'delivered_at', FAILED: 'failed_at', CANCELLED: 'cancelled_at' } as const

/** How far the order has come, and when it ended, if it has. */
const courseOf = (at: Place, entry: OrderDocument) => {
  const { status = 'DELIVERED', failure_reason: reason = null } = entry
  const { nowMs } = at.loading
  const isFailedInPart = status === 'PARTIALLY_DELIVERED' && (entry.failed_at ?? reason) !== null
  const age = status === 'PENDING' ? 0 : DELIVERY_MS
  const placedAtMs = at.timeOf('placed_at', entry.placed_at, Math.max(0, nowMs - age))
  const ended = isFailedInPart ? 'failed_at' : status in TIMES ? TIMES[status as keyof typeof TIMES] : undefined
  for (const name of Object.values(TIMES)) {
    at.check(name === ended || (entry[name] ?? null) === null, name, `does not belong to a ${status} order`)
  }
  const endMs = ended && at.timeOf(ended, entry[ended], Math.min(placedAtMs + DELIVERY_MS, nowMs))
  if (ended) at.check(endMs === undefined || endMs >= placedAtMs, ended, 'must not be before placed_at')
  const hasFailed = ended === 'failed_at'
  at.check(hasFailed || reason === null, 'failure_reason', `does not belong to a ${status} order`)
  const failureReason = hasFailed ? (reason ?? FAILED_REASON) : null
  const endOf = (name: typeof ended) => (name === ended ? (endMs ?? null) : null)
  return {
    order: {
      status,
      failureReason,
      deliveredQuantity: deliveredOf(at, entry, status),
      placedAtMs,
      deliveredAtMs: endOf('delivered_at'),
      failedAtMs: endOf('failed_at'),
      cancelledAtMs: endOf('cancelled_at'),
    },
    endMs,
    remarks: status === 'CANCELLED' ? 'Cancelled' : failureReason,
  }
}

const deliveredOf = (at: Place, { delivered_quantity: sent, quantity }: OrderDocument, status: Order['status']) => {
  const member = 'delivered_quantity'
  if (status !== 'PARTIALLY_DELIVERED') {
    const whole = status === 'DELIVERED' ? quantity : 0
    at.check(sent === undefined || sent === whole, member, `must be ${whole} of a ${status} order`)
    return whole
  }
  const delivered = sent ?? 1
  at.check(delivered >= 1 && delivered < quantity, member, 'must be at least 1, and less than quantity')
  return Math.min(delivered, quantity)
}

/** The numbers of refunded vouchers. */
const refundedOf = (at: Place, { refunded_vouchers: numbers = [] }: OrderDocument, delivered: number): number[] => {
  const member = 'refunded_vouchers'
  at.check(new Set(numbers).size === numbers.length, member, 'must not name a voucher twice')
  const isDelivered = numbers.every((number) => number <= delivered)
  at.check(isDelivered, member, `must be numbers of the ${delivered} delivered vouchers of an order that has ended`)
  return isDelivered ? numbers : []
}

/** The refund of what was not delivered. */
const refundOf = ({ payableMinor, quantity, deliveredQuantity }: Omit<Order, 'transactionId'>): number =>
  shareOf(payableMinor, quantity - deliveredQuantity, quantity)
