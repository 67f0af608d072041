import { and, asc, count, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { INSTANT, type Product } from '../catalog/product.ts'
import { recallCharge } from '../charges/cache.ts'
import { chargeWire } from '../charges/price.ts'
import { type Pricing, type Purchase, type Quote, quoteForOrder } from '../charges/quote.ts'
import type { Tx } from '../db/database.ts'
import { List } from '../db/lists.ts'
import { preparedFind, preparedInsert, preparedReads, preparedUpdate } from '../db/prepared.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Page } from '../http/query.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { DomainError, found } from '../kernel/failure.ts'
import type { Session } from '../sessions/sessions.ts'
import { type Exchange, reserve } from '../wallets/ledger.ts'
import { findTransaction, findWallet, type Wallet } from '../wallets/wallets.ts'
import { type DueSource, schedule } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import { placeInOrder } from './places.ts'
import { settleOrder } from './settlement.ts'
import type { VoucherSupply } from './supply.ts'
import { ORDER_STATUSES, type Order, type OrderStatus, orders, vouchers } from './tables.ts'
import type { SealSource } from './voucher-key.ts'

export { ORDER_STATUSES, type Order, type OrderStatus }

/** The largest quantity of an instant product that is delivered in the answer (contract C12). */
const INSTANT_QUANTITY_MAX = 5

/** The sandbox's pace, from the placing of an order (contract C12). */
const PROCESSING_AFTER_MS = 2 * SECOND_MS
const DELIVERED_AFTER_MS = 5 * SECOND_MS

/** What orders are placed with. */
export interface Ordering {
  pricing: Pricing
  supply: VoucherSupply
  seals: SealSource
  /** Whether the clock delivers, as in the sandbox; in live mode an operator does. */
  byClock: (world: World) => boolean
}

/** What orders are delivered with. */
export type Delivering = Pick<Ordering, 'supply' | 'seals'>

/** What delivery and its failure change of an order. */
const CHANGING = [
  'status',
  'deliveredQuantity',
  'failureReason',
  'dueAtMs',
  'deliveredAtMs',
  'failedAtMs',
  'cancelledAtMs',
] as const satisfies readonly (keyof Order)[]
type Change = Partial<Pick<Order, (typeof CHANGING)[number]>>

const statements = preparedReads({
  insert: (query) => preparedInsert(query, orders),
  update: (query) => preparedUpdate(query, orders, CHANGING),
  insertVoucher: (query) => preparedInsert(query, vouchers),
  vouchers: (query) =>
    query
      .select()
      .from(vouchers)
      .where(eq(vouchers.orderId, sql.placeholder('orderId')))
      .orderBy(asc(vouchers.id))
      .prepare(),
  lastId: (query) =>
    query
      .select({ id: sql<number | null>`max(${orders.id})` })
      .from(orders)
      .prepare(),
  find: (query) => preparedFind(query, orders),
  byReference: (query) =>
    query
      .select({ id: orders.id })
      .from(orders)
      .where(and(eq(orders.clientId, sql.placeholder('clientId')), eq(orders.reference, sql.placeholder('reference'))))
      .limit(1)
      .prepare(),
  nextDue: (query) =>
    query
      .select()
      .from(orders)
      .where(isNotNull(orders.dueAtMs))
      .orderBy(asc(orders.dueAtMs), asc(orders.id))
      .limit(1)
      .prepare(),
  nextDueMs: (query) =>
    query
      .select({ dueAtMs: orders.dueAtMs })
      .from(orders)
      .where(isNotNull(orders.dueAtMs))
      .orderBy(asc(orders.dueAtMs), asc(orders.id))
      .limit(1)
      .prepare(),
})

/** What a client orders. */
export interface OrderRequest extends Purchase {
  /** The client's own name for the order; made up when left out. */
  reference: string | undefined
  email: string | null
}

/**
 * Places an order: prices it, takes the vouchers from the stock and the money from the wallet, and delivers at once
 * what can be.
 *
 * @throws DomainError what a quote refuses, duplicate_order_reference, insufficient_balance or insufficient_stock
 */
export const placeOrder = (tx: Tx, ordering: Ordering, session: Session, request: OrderRequest): Order => {
  const { world, client } = session
  const {
    product,
    wallet: paying,
    denominationMinor,
    quantityMax,
    price,
  } = quoteForOrder(ordering.pricing, session, request, recallCharge(world, client.id, request)?.quote)
  const wallet = found(findWallet(world, client.id, paying.id), 'wallet')
  const nowMs = world.clock.nowMs()
  const reference = request.reference ?? `ord-${world.ids.letters(20)}`
  if (findByReference(tx, client.id, reference)) throw new DomainError({ code: 'duplicate_order_reference' })
  const id = nextOrderId(tx)
  const cause = { sourceType: 'order', sourceId: String(id), remarks: product.name, nowMs } as const
  const transaction = reserve(tx, wallet, cause, price.totalPayableMinor, exchangeOf(price))
  const dueAtMs = ordering.byClock(world) ? nowMs + PROCESSING_AFTER_MS : null
  const order: Order = {
    id,
    clientId: client.id,
    reference,
    productId: product.id,
    productName: product.name,
    currencyId: product.currency.id,
    denominationMinor,
    quantity: request.quantity,
    deliveredQuantity: 0,
    email: request.email,
    walletId: wallet.id,
    transactionId: transaction.id,
    totalMinor: price.totalMinor,
    discountMinor: price.discountMinor,
    netMinor: price.netMinor,
    gstMinor: price.gstMinor,
    feeMinor: price.handlingFeeMinor,
    conversionMinor: price.conversionFeeMinor ?? null,
    payableMinor: price.totalPayableMinor,
    charges: JSON.stringify(chargeWire({ price, quantityMax })),
    status: 'PENDING',
    failureReason: null,
    dueAtMs,
    placedAtMs: nowMs,
    deliveredAtMs: null,
    failedAtMs: null,
    cancelledAtMs: null,
  }
  statements(tx).insert(order)
  ordering.supply.take(tx, world, order, product)
  if (isInstant(product, request.quantity)) return deliver(tx, world, ordering, order, order.quantity, nowMs)
  if (dueAtMs !== null) schedule(world, dueAtMs)
  return order
}

const isInstant = ({ deliveryMode, deliveryTime }: Product, quantity: number): boolean =>
  deliveryMode === 'digital' && deliveryTime === INSTANT && quantity <= INSTANT_QUANTITY_MAX

const exchangeOf = ({ source, destination, rateE8, conversionFeeMinor }: Quote['price']): Exchange | undefined =>
  rateE8 === undefined
    ? undefined
    : {
        sourceCurrency: source.currency,
        destinationCurrency: destination.currency,
        rateE8,
        conversionMinor: conversionFeeMinor ?? 0,
      }

/**
 * Delivers vouchers of an order that is under way; the last one settles it.
 *
 * @throws DomainError transition_refused
 */
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
    statements(tx).insertVoucher({ id: null, ...voucher, sealed, expiresAtMs, stockId })
  })
  const deliveredQuantity = order.deliveredQuantity + count
  if (deliveredQuantity < order.quantity) {
    return update(tx, order, { deliveredQuantity, status: 'PARTIALLY_DELIVERED', dueAtMs: null })
  }
  settleOrder(tx, walletOf(world, order), order, () => exchangeOfOrder(world, order), {
    deliveredQuantity,
    nowMs,
    remarks: order.productName,
  })
  return update(tx, order, { deliveredQuantity, status: 'DELIVERED', deliveredAtMs: nowMs, dueAtMs: null })
}

/**
 * Ends an order that cannot be delivered: in full, or what is left of a partial delivery. The wallet gets it back.
 *
 * @throws DomainError transition_refused
 */
export const failOrder = (
  tx: Tx,
  world: World,
  supply: VoucherSupply,
  order: Order,
  reason: string,
  nowMs: number,
): Order => {
  refuseEnded(order, 'FAILED')
  giveUp(tx, world, supply, order, nowMs, reason)
  const status: OrderStatus = order.deliveredQuantity > 0 ? 'PARTIALLY_DELIVERED' : 'FAILED'
  return update(tx, order, { status, failureReason: reason, failedAtMs: nowMs, dueAtMs: null })
}

/** Cancels an order that is still pending. @throws DomainError order_not_cancellable */
export const cancelOrder = (tx: Tx, world: World, supply: VoucherSupply, order: Order): Order => {
  if (order.status !== 'PENDING') throw new DomainError({ code: 'order_not_cancellable', status: order.status })
  const nowMs = world.clock.nowMs()
  giveUp(tx, world, supply, order, nowMs, 'Cancelled')
  return update(tx, order, { status: 'CANCELLED', cancelledAtMs: nowMs, dueAtMs: null })
}

const giveUp = (tx: Tx, world: World, supply: VoucherSupply, order: Order, nowMs: number, remarks: string): void => {
  supply.giveBack(tx, order)
  const { deliveredQuantity } = order
  settleOrder(tx, walletOf(world, order), order, () => exchangeOfOrder(world, order), {
    deliveredQuantity,
    nowMs,
    remarks,
  })
}

/** A partial delivery has ended once its rest was refunded, which is when it failed. */
const hasEnded = ({ status, failedAtMs }: Order): boolean =>
  status === 'DELIVERED' || status === 'FAILED' || status === 'CANCELLED' || failedAtMs !== null

const refuseEnded = (order: Order, to: OrderStatus): void => {
  if (hasEnded(order)) throw new DomainError({ code: 'transition_refused', from: order.status, to })
}

const update = (tx: Tx, order: Order, change: Change): Order => {
  const changed = { ...order, ...change }
  statements(tx).update(changed)
  return changed
}

const walletOf = (world: World, order: Order): Wallet =>
  found(findWallet(world, order.clientId, order.walletId), 'wallet')

/** The exchange as it was recorded when the wallet paid: later rates do not touch it. */
const exchangeOfOrder = (world: World, order: Order): Exchange | undefined => {
  const paid = findTransaction(world, order.clientId, order.transactionId)?.transaction
  if (!paid || paid.rateE8 === null || paid.sourceCurrency === null || paid.destinationCurrency === null)
    return undefined
  return {
    sourceCurrency: paid.sourceCurrency,
    destinationCurrency: paid.destinationCurrency,
    rateE8: paid.rateE8,
    conversionMinor: paid.conversionMinor ?? 0,
  }
}

/** Has the clock of a world deliver its orders again, or no longer, as its pace now says. */
export const repaceOrders = (tx: Tx, byClock: Ordering['byClock'], world: World): void => {
  const nowMs = world.clock.nowMs()
  const moved = byClock(world)
  for (const order of tx
    .select()
    .from(orders)
    .where(inArray(orders.status, ['PENDING', 'PROCESSING']))
    .all()) {
    const afterMs = order.status === 'PENDING' ? PROCESSING_AFTER_MS : DELIVERED_AFTER_MS
    const dueAtMs = moved ? Math.max(order.placedAtMs + afterMs, nowMs) : null
    update(tx, order, { dueAtMs })
    if (dueAtMs !== null) schedule(world, dueAtMs)
  }
}

/** Orders whose next step the clock takes: processing, then delivery (contract C12). */
export const dueOrders = (delivering: Delivering): DueSource => ({
  nextMs: (tx) => statements(tx).nextDueMs.get()?.dueAtMs ?? undefined,
  waiting: (tx) => tx.select({ n: count() }).from(orders).where(isNotNull(orders.dueAtMs)).get()?.n ?? 0,
  step: (tx, world) => {
    const order = statements(tx).nextDue.get()
    if (!order?.dueAtMs) return
    if (order.status === 'PENDING') {
      const dueAtMs = Math.max(order.placedAtMs + DELIVERED_AFTER_MS, order.dueAtMs)
      update(tx, order, { status: 'PROCESSING', dueAtMs })
    } else {
      deliver(tx, world, delivering, order, order.quantity, order.dueAtMs)
    }
  },
})

const nextOrderId = (tx: Tx): number => (statements(tx).lastId.get()?.id ?? 0) + 1

const findByReference = (tx: Tx, clientId: number, reference: string) =>
  statements(tx).byReference.get({ clientId, reference })

/** The client's own order, or undefined: another client's is as good as none. */
export const findOrder = (tx: Tx, clientId: number, id: number): Order | undefined => statements(tx).find(clientId, id)

/** Any client's order, for its operator; or undefined. */
export const findAnyOrder = (tx: Tx, id: number): Order | undefined =>
  tx.select().from(orders).where(eq(orders.id, id)).limit(1).get()

/** The orders of all clients, the oldest first. */
export const allOrders = (tx: Tx, status: OrderStatus | undefined): Order[] =>
  tx
    .select()
    .from(orders)
    .where(status === undefined ? undefined : eq(orders.status, status))
    .orderBy(asc(orders.id))
    .all()

/** The vouchers of an order that were delivered, in order of delivery. */
export const vouchersOf = (tx: Tx, orderId: number) => statements(tx).vouchers.all({ orderId })

const list = new List({
  table: orders,
  filters: {
    status: orders.status,
    productId: orders.productId,
    reference: orders.reference,
    ref: orders.reference,
  },
  sorts: { id: [] },
  counted: { as: 'orders', by: { status: 'part' } },
  created: 'id',
  paths: [
    { filters: ['reference', 'ref'], sort: 'id' },
    { filters: ['productId'], sort: 'id' },
    { filters: ['status'], sort: 'id' },
  ],
})

export interface OrderQuery {
  page: Page
  status: OrderStatus | undefined
  productId: number | undefined
  reference: string | undefined
  /** The other name of the reference: an order has to meet both. */
  ref: string | undefined
}

/** One page of the client's orders, the newest first, and how many match in all. */
export const listOrders = (world: World, clientId: number, { page, ...filters }: OrderQuery) =>
  list.page(() => world.db.query, clientId, {
    filters,
    sort: 'id',
    direction: 'DESC',
    limit: page.limit,
    offset: offsetOf(page),
  })
