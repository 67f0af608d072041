import { INSTANT, type Product } from '../catalog/product.ts'
import { findHeldPrice } from '../charges/cache.ts'
import { chargeWire } from '../charges/contract.ts'
import { type Pricing, type Quote, quoteForOrder } from '../charges/quote.ts'
import type { Tx } from '../db/database.ts'
import { DomainError } from '../kernel/failure.ts'
import type { Session } from '../sessions/sessions.ts'
import { type Conversion, reserve } from '../wallets/ledger.ts'
import { schedule } from '../work/due.ts'
import type { World } from '../work/world.ts'
import { DUPLICATE_CLIENT_REFERENCE, type OrderRequest } from './contract.ts'
import { type Delivering, dueTimeOf, handOver, updateOfDelivery } from './delivery.ts'
import { publishOrder } from './publish.ts'
import { BEGINNING, insertOrder, isReferenceTaken, nextOrderId, type Order, searchTextOf } from './queries.ts'

/** The largest quantity of an instant product that is delivered in the response (contract C12). */
const INSTANT_QUANTITY_MAX = 5

export interface Ordering extends Delivering {
  pricing: Pricing
  /** True if the clock delivers the orders of a world; otherwise an operator does. */
  byClock: (world: World) => boolean
}

/**
 * Places an order, and delivers it at once if possible.
 * @throws DomainError as {@link quoteForOrder}, duplicate_order_reference, insufficient_balance or insufficient_stock
 */
export const placeOrder = (tx: Tx, ordering: Ordering, session: Session, request: OrderRequest): Order => {
  const { world, client } = session
  const heldQuote = findHeldPrice(world, client.id, request)?.quote
  const { product, price, wallet, denominationMinor, quantityMax } = quoteForOrder(
    tx,
    ordering.pricing,
    session,
    request,
    heldQuote,
  )
  const reference = request.reference ?? `ord-${world.ids.letters(20)}`
  if (isReferenceTaken(tx, client.id, reference)) throw new DomainError(DUPLICATE_CLIENT_REFERENCE)
  const nowMs = world.clock.nowMs()
  const id = nextOrderId(tx)
  const conversion = conversionOf(price)
  const context = { world, reference: ordering.reference }
  const cause = { sourceType: 'order', sourceId: String(id), remarks: product.name, nowMs, conversion } as const
  const { transactionId, wallet: paid } = reserve(tx, context, wallet, cause, price.totalPayableMinor)
  const dueAtMs = ordering.byClock(world) ? dueTimeOf({ status: BEGINNING.status, placedAtMs: nowMs }, nowMs) : null
  const { quantity, email } = request
  const placed: Order = {
    ...BEGINNING,
    id,
    clientId: client.id,
    reference,
    productId: product.id,
    productName: product.name,
    currencyId: product.currency.id,
    denominationMinor,
    quantity,
    email,
    walletId: wallet.id,
    transactionId,
    totalMinor: price.totalMinor,
    discountMinor: price.discountMinor,
    netMinor: price.netMinor,
    gstMinor: price.gstMinor,
    feeMinor: price.handlingFeeMinor,
    conversionMinor: price.conversionFeeMinor ?? null,
    payableMinor: price.totalPayableMinor,
    searchLowerCase: searchTextOf({ reference, email, productName: product.name }),
    charges: JSON.stringify(chargeWire({ price, quantityMax })),
    dueAtMs,
    placedAtMs: nowMs,
  }
  const isDelivered = isInstant(product, quantity)
  const order = isDelivered ? { ...placed, ...updateOfDelivery(placed, quantity, nowMs) } : placed
  // The row is written once, as the unit of work leaves it: an update would change its indexes and counts again.
  insertOrder(tx, order)
  publishOrder(tx, context, placed, 'created', nowMs)
  const taken = ordering.supply.take(tx, world, placed, product)
  if (isDelivered) {
    const supplied = taken ?? ordering.supply.deliver(tx, world, placed, quantity)
    handOver(tx, world, ordering, placed, supplied, nowMs, paid)
    publishOrder(tx, context, order, 'delivered', nowMs)
  } else if (dueAtMs !== null) schedule(world, 'orders', dueAtMs)
  return order
}

const isInstant = ({ deliveryMode, deliveryTime }: Product, quantity: number): boolean =>
  deliveryMode === 'digital' && deliveryTime === INSTANT && quantity <= INSTANT_QUANTITY_MAX

const conversionOf = ({ source, destination, rate, conversionFeeMinor }: Quote['price']): Conversion | undefined =>
  rate === undefined
    ? undefined
    : {
        sourceCurrency: source.currency,
        destinationCurrency: destination.currency,
        rate,
        conversionMinor: conversionFeeMinor ?? 0,
      }
