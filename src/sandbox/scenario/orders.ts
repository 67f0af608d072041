import type { Static } from '@sinclair/typebox'
import { findOffer, type Product, quantityMaxFor } from '../../catalog/product.ts'
import { type ChargeSchema, chargeWire, DENOMINATION_NOT_OFFERED } from '../../charges/contract.ts'
import { priceIn } from '../../charges/quote.ts'
import type { Tx } from '../../db/database.ts'
import { SECOND_MS } from '../../kernel/clock.ts'
import { convert, RATE_ONE, shareOf } from '../../kernel/money.ts'
import { dueTimeOf, FAILED_REASON } from '../../orders/delivery.ts'
import { insertOrder, insertVoucher, type Order } from '../../orders/queries.ts'
import { placeInOrder } from '../../orders/seal.ts'
import { settleOrder } from '../../orders/settlement.ts'
import type { SuppliedVoucher } from '../../orders/supply.ts'
import type { Currency } from '../../reference/reference.ts'
import { type Conversion, reserve } from '../../wallets/ledger.ts'
import type { Wallet } from '../../wallets/queries.ts'
import { generatedVoucher } from '../seed/vouchers.ts'
import type { Loading, ScenarioSources } from './loading.ts'
import type { OrderDocument } from './schema.ts'

/** The orders of a document: each with its payment, its vouchers, and its settlement or refund. */

type Charges = Static<typeof ChargeSchema>

/** How long a delivery takes, where the document says nothing. */
const DELIVERY_MS = 5 * SECOND_MS

export const loadOrder = (loading: Loading, path: string, entry: OrderDocument, id: number): void => {
  const product = loading.products.get(entry.product_id)
  const clientId = loading.clientOf(path, entry.client)
  if (clientId === undefined) return
  loading.isNew(`${path}/id`, 'orders', entry.id)
  loading.isNew(`${path}/client_reference`, `references of orders of ${clientId}`, entry.client_reference)
  const currency = currencyOf(loading, path, entry, product)
  if (!currency) return
  const paying = loading.walletOf(path, clientId, entry.wallet_id, currency.id)
  if (!paying) return
  const charges = entry.charges ?? chargesOf(loading, path, entry, clientId, product, paying.currency)
  if (!charges) return
  const amounts = amountsOf(loading, path, entry, charges, currency, paying.currency)
  const { order: moved, endMs, remarks } = courseOf(loading, path, entry)
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
  const refundedMinor = endMs === undefined ? 0 : refundOf(base)
  const dueAtMs = loading.pace.orders === 'auto' ? dueTimeOf(base, loading.nowMs) : null
  const order = { ...base, refundedMinor, dueAtMs }
  loading.take(order.productId, endMs === undefined ? order.quantity : order.deliveredQuantity)
  paying.pastMinor -= order.payableMinor - refundedMinor
  const voucher = () => generatedVoucher(loading.ids, order.placedAtMs, product?.validity)
  const vouchers = Array.from({ length: loading.takeVouchers(path, order.deliveredQuantity) }, voucher)
  let transactionId = 0
  loading.happened({
    atMs: order.placedAtMs,
    path,
    apply: (own) => {
      transactionId = place(own, loading.sources, paying.wallet, order, charges, vouchers)
    },
  })
  if (endMs === undefined) return
  const settle = (own: Tx) =>
    settleOrder(own, loading.sources, { ...order, transactionId }, endMs, remarks ?? order.productName, paying.wallet)
  loading.happened({ atMs: endMs, path, apply: settle })
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

const currencyOf = (
  loading: Loading,
  path: string,
  { charges, product_id, product_name }: OrderDocument,
  product: Product | undefined,
): Currency | undefined => {
  if (!charges || product_name === undefined) {
    if (!product) loading.wrong(`${path}/product_id`, `the catalog has no product ${product_id}`)
    return product?.currency
  }
  const code = charges.charges_details.source_currency
  const currency = loading.sources.reference.findCurrencyByCode(code)
  if (!currency) {
    loading.wrong(`${path}/charges/charges_details/source_currency`, `no circulating currency has the code ${code}`)
  }
  return currency
}

/** What the catalog asks for. */
const chargesOf = (
  loading: Loading,
  path: string,
  { denomination, quantity }: OrderDocument,
  clientId: number,
  product: Product | undefined,
  destination: Currency,
): Charges | undefined => {
  if (!product) return undefined
  const offer = findOffer(product, denomination, loading.discounts.get(clientId)?.get(product.id) ?? 0)
  if (!offer) {
    loading.wrong(`${path}/denomination`, DENOMINATION_NOT_OFFERED.message)
    return undefined
  }
  const pricing = { rates: loading.rates, conversionBasisPoints: loading.sources.conversionBasisPoints }
  return loading.attempt(path, () => {
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

/** The parts of a price in minor units; what does not add up is wrong. */
const amountsOf = (
  loading: Loading,
  path: string,
  { denomination, quantity }: OrderDocument,
  charges: Charges,
  source: Currency,
  destination: Currency,
) => {
  const at = `${path}/charges`
  const { charges_details: details } = charges
  const inSource = (name: keyof Charges) => loading.minorOf(`${at}/${name}`, Number(charges[name]), source)
  const inDestination = (name: keyof Charges) => loading.minorOf(`${at}/${name}`, Number(charges[name]), destination)
  const denominationMinor = loading.minorOf(`${path}/denomination`, denomination, source)
  const [wholeMinor, discountMinor, totalMinor] = [
    inSource('non_discounted_total'),
    inSource('discount_amount'),
    inSource('total_amount'),
  ]
  const [netMinor, gstMinor, feeMinor, payableMinor] = [
    inDestination('net_amount'),
    inDestination('gst_amount'),
    inDestination('handling_fee_amount'),
    inDestination('total_payable'),
  ]
  const conversionMinor =
    details.conversion_fee === null
      ? null
      : loading.minorOf(`${at}/charges_details/conversion_fee`, details.conversion_fee, destination)
  const wrong = (name: string, what: string) => loading.wrong(`${at}/${name}`, what)
  checkCurrencies(loading, at, charges, source, destination)
  if (wholeMinor !== denominationMinor * quantity) {
    wrong('non_discounted_total', 'must be denomination multiplied by quantity')
  }
  if (totalMinor !== wholeMinor - discountMinor) {
    wrong('total_amount', 'must be non_discounted_total without discount_amount')
  }
  if (netMinor !== netOf(loading, at, charges, totalMinor, source, destination))
    wrong('net_amount', 'must be total_amount at the rate')
  if (payableMinor !== netMinor + gstMinor + feeMinor + (conversionMinor ?? 0)) {
    wrong('total_payable', 'must be the sum of net_amount, gst_amount, handling_fee_amount and conversion_fee')
  }
  if ([discountMinor, totalMinor, netMinor, gstMinor, feeMinor, conversionMinor ?? 0].some((minor) => minor < 0)) {
    loading.wrong(at, 'must hold no negative amount')
  }
  if (payableMinor <= 0) wrong('total_payable', 'must be greater than 0')
  return {
    ...{ denominationMinor, totalMinor, discountMinor, netMinor, gstMinor, feeMinor, conversionMinor, payableMinor },
  }
}

const checkCurrencies = (loading: Loading, at: string, charges: Charges, source: Currency, destination: Currency) => {
  const { source_currency, destination_currency } = charges.charges_details
  const wrong = (name: string, what: string) => loading.wrong(`${at}/charges_details/${name}`, what)
  if (source_currency !== source.currency) {
    wrong('source_currency', `must be ${source.currency}, the currency of the product`)
  }
  if (destination_currency !== destination.currency) {
    wrong('destination_currency', `must be ${destination.currency}, the currency of the wallet`)
  }
  if ((rateOf(charges) === undefined) !== (source.id === destination.id)) {
    wrong('forex_rate', 'must be null when both currencies are the same, and only then')
  }
}

/** The total in the currency of the wallet; undefined if it is too large. */
const netOf = (
  loading: Loading,
  at: string,
  charges: Charges,
  totalMinor: number,
  source: Currency,
  destination: Currency,
): number | undefined => {
  const rateE8 = rateOf(charges)
  if (rateE8 === undefined) return totalMinor
  return loading.attempt(at, () => convert(totalMinor, rateE8, source.precision, destination.precision))
}

/** The times by the status that has them. */
const TIMES = { DELIVERED: 'delivered_at', FAILED: 'failed_at', CANCELLED: 'cancelled_at' } as const

/** How far the order has come, and when it ended, if it has. */
const courseOf = (loading: Loading, path: string, entry: OrderDocument) => {
  const { status = 'DELIVERED', quantity } = entry
  const { nowMs } = loading
  const isFailedInPart = status === 'PARTIALLY_DELIVERED' && (entry.failed_at ?? entry.failure_reason ?? null) !== null
  const age = status === 'PENDING' ? 0 : DELIVERY_MS
  const placedAtMs = loading.timeOf(`${path}/placed_at`, entry.placed_at, Math.max(0, nowMs - age))
  const ended = isFailedInPart ? 'failed_at' : status in TIMES ? TIMES[status as keyof typeof TIMES] : undefined
  for (const name of Object.values(TIMES)) {
    if (name !== ended && (entry[name] ?? null) !== null)
      loading.wrong(`${path}/${name}`, `is not of a ${status} order`)
  }
  const endMs = ended && loading.timeOf(`${path}/${ended}`, entry[ended], Math.min(placedAtMs + DELIVERY_MS, nowMs))
  if (endMs !== undefined && endMs < placedAtMs) loading.wrong(`${path}/${ended}`, 'must not be before placed_at')
  const hasFailed = ended === 'failed_at'
  if (!hasFailed && (entry.failure_reason ?? null) !== null) {
    loading.wrong(`${path}/failure_reason`, `is not of a ${status} order`)
  }
  const failureReason = hasFailed ? (entry.failure_reason ?? FAILED_REASON) : null
  return {
    order: {
      status,
      failureReason,
      deliveredQuantity: deliveredOf(loading, path, entry, status, quantity),
      placedAtMs,
      deliveredAtMs: ended === 'delivered_at' ? (endMs ?? null) : null,
      failedAtMs: hasFailed ? (endMs ?? null) : null,
      cancelledAtMs: ended === 'cancelled_at' ? (endMs ?? null) : null,
    },
    endMs,
    remarks: status === 'CANCELLED' ? 'Cancelled' : failureReason,
  }
}

const deliveredOf = (
  loading: Loading,
  path: string,
  { delivered_quantity: sent }: OrderDocument,
  status: Order['status'],
  quantity: number,
): number => {
  const at = `${path}/delivered_quantity`
  if (status !== 'PARTIALLY_DELIVERED') {
    const whole = status === 'DELIVERED' ? quantity : 0
    if (sent !== undefined && sent !== whole) loading.wrong(at, `must be ${whole} of a ${status} order`)
    return whole
  }
  const delivered = sent ?? 1
  if (delivered < 1 || delivered >= quantity) loading.wrong(at, 'must be at least 1, and less than quantity')
  return Math.min(delivered, quantity)
}

const refundOf = ({ payableMinor, quantity, deliveredQuantity }: Order | Omit<Order, 'transactionId'>): number =>
  shareOf(payableMinor, quantity - deliveredQuantity, quantity)
