import { and, asc, count, desc, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { List } from '../db/lists.ts'
import { type Narrowing, narrowed, rowsById } from '../db/narrowing.ts'
import { prepared, preparedExists, preparedFind, preparedInsert, preparedUpdate } from '../db/prepared.ts'
import { holdAny } from '../db/search.ts'
import { type Order, type OrderStatus, orders, type Voucher, vouchers } from './tables.ts'

export { ORDER_STATUSES, type Order, type OrderStatus } from './tables.ts'

/** What delivery, its failure and refunds change of an order. */
const CHANGING = [
  'status',
  'deliveredQuantity',
  'failureReason',
  'refundedMinor',
  'dueAtMs',
  'deliveredAtMs',
  'failedAtMs',
  'cancelledAtMs',
] as const satisfies readonly (keyof Order)[]
export type OrderUpdate = Partial<Pick<Order, (typeof CHANGING)[number]>>

export const findOrder = preparedFind(orders)

export const findAnyOrder = (query: Query, id: number): Order | undefined =>
  query.select().from(orders).where(eq(orders.id, id)).limit(1).get()

const referenceIsTaken = preparedExists(
  orders,
  and(eq(orders.clientId, sql.placeholder('clientId')), eq(orders.reference, sql.placeholder('reference'))),
)

export const isReferenceTaken = (query: Query, clientId: number, reference: string): boolean =>
  referenceIsTaken(query, { clientId, reference })

/** The oldest first. */
export const ordersOf = (query: Query, narrowing: Narrowing): Iterable<Order> => {
  const { clientId, status, placedAtMs: atMs } = orders
  return rowsById(query, orders, narrowed({ clientId, status, atMs }, narrowing), narrowing.limit)
}

/** Of all clients, the newest first. */
export const latestOrders = (query: Query, limit: number): Order[] =>
  query.select().from(orders).orderBy(desc(orders.id)).limit(limit).all()

/** Of all clients, the oldest first. */
export const allOrders = (query: Query, statuses: readonly OrderStatus[]): Order[] =>
  query
    .select()
    .from(orders)
    .where(inArray(orders.status, [...statuses]))
    .orderBy(asc(orders.id))
    .all()

const byOrder = prepared((query: Query) =>
  query
    .select()
    .from(vouchers)
    .where(eq(vouchers.orderId, sql.placeholder('orderId')))
    .orderBy(asc(vouchers.id))
    .prepare(),
)

/** Of all clients, the oldest first. */
export const orderKeys = (query: Query): Pick<Order, 'id' | 'clientId'>[] =>
  query.select({ id: orders.id, clientId: orders.clientId }).from(orders).orderBy(asc(orders.id)).all()

export const vouchersOf = (query: Query, orderId: number): Voucher[] => byOrder(query).all({ orderId })

const nextDue = prepared((query: Query) =>
  query
    .select()
    .from(orders)
    .where(isNotNull(orders.dueAtMs))
    .orderBy(asc(orders.dueAtMs), asc(orders.id))
    .limit(1)
    .prepare(),
)

const shownVouchers = prepared((query: Query) =>
  query
    .select({ reference: vouchers.reference, expiresAtMs: vouchers.expiresAtMs })
    .from(vouchers)
    .where(eq(vouchers.orderId, sql.placeholder('orderId')))
    .orderBy(asc(vouchers.id))
    .prepare(),
)

/** The vouchers of an order without their codes. */
export const vouchersWithoutCodes = (query: Query, orderId: number): Pick<Voucher, 'reference' | 'expiresAtMs'>[] =>
  shownVouchers(query).all({ orderId })

export const findNextDue = (query: Query): Order | undefined => nextDue(query).get()

/** The earliest due first. */
export const nextDueOrders = (query: Query, limit: number) =>
  query
    .select({ id: orders.id, status: orders.status, dueAtMs: sql<number>`${orders.dueAtMs}` })
    .from(orders)
    .where(isNotNull(orders.dueAtMs))
    .orderBy(asc(orders.dueAtMs), asc(orders.id))
    .limit(limit)
    .all()

/** Asked before each step of work by the clock, so it reads one column of the order. */
const nextDueMs = prepared((query: Query) =>
  query
    .select({ dueAtMs: orders.dueAtMs })
    .from(orders)
    .where(isNotNull(orders.dueAtMs))
    .orderBy(asc(orders.dueAtMs))
    .limit(1)
    .prepare(),
)

export const findNextDueMs = (query: Query): number | undefined => nextDueMs(query).get()?.dueAtMs ?? undefined

export const countDue = (query: Query): number =>
  query.select({ n: count() }).from(orders).where(isNotNull(orders.dueAtMs)).get()?.n ?? 0

const lastId = prepared((query: Query) =>
  query
    .select({ id: sql<number | null>`max(${orders.id})` })
    .from(orders)
    .prepare(),
)

/** Orders are numbered without a gap. */
export const nextOrderId = (query: Query): number => (lastId(query).get()?.id ?? 0) + 1

export const insertOrder = preparedInsert(orders)

const updateChanging = preparedUpdate(orders, CHANGING)

/** Returns the updated order. */
export const updateOrder = (tx: Tx, order: Order, update: OrderUpdate): Order => {
  const changed = { ...order, ...update }
  updateChanging(tx, changed)
  return changed
}

export const insertVoucher = preparedInsert(vouchers)

export const markRefunded = (tx: Tx, refunded: readonly Voucher[], nowMs: number): void => {
  const ids = refunded.map(({ id }) => id)
  tx.update(vouchers).set({ refundedAtMs: nowMs }).where(inArray(vouchers.id, ids)).run()
}

export const orderList = new List({
  table: orders,
  filters: {
    reference: orders.reference,
    ref: orders.reference,
    productId: orders.productId,
    status: orders.status,
  },
  sorts: { id: [] },
  counted: { as: 'orders', by: { status: 'part' } },
  created: 'id',
})

/** Orders that may hold a text of a person. */
export const ordersWith = (query: Query, part: string): Iterable<Order> =>
  rowsById(query, orders, holdAny([orders.email, orders.reference, orders.failureReason], part))

export const updateTexts = (
  tx: Tx,
  { id }: Order,
  texts: Pick<Order, 'email' | 'reference' | 'failureReason'>,
): void => {
  tx.update(orders).set(texts).where(eq(orders.id, id)).run()
}
