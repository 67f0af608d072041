import { and, asc, count, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { List } from '../db/lists.ts'
import { preparedFind, preparedInsert, preparedReads, preparedUpdate, preparedWrites } from '../db/prepared.ts'
import { type Order, type OrderStatus, orders, type Voucher, vouchers } from './tables.ts'

export { ORDER_STATUSES, type Order, type OrderStatus } from './tables.ts'

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
export type OrderChange = Partial<Pick<Order, (typeof CHANGING)[number]>>

const reads = preparedReads({
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
})

const writes = preparedWrites({
  insert: (tx) => preparedInsert(tx, orders),
  update: (tx) => preparedUpdate(tx, orders, CHANGING),
  insertVoucher: (tx) => preparedInsert(tx, vouchers),
})

export const findOrder = (query: Query, clientId: number, id: number): Order | undefined =>
  reads(query).find(clientId, id)

export const findAnyOrder = (query: Query, id: number): Order | undefined =>
  query.select().from(orders).where(eq(orders.id, id)).limit(1).get()

export const isReferenceTaken = (query: Query, clientId: number, reference: string): boolean =>
  reads(query).byReference.get({ clientId, reference }) !== undefined

/** Of all clients, the oldest first. */
export const allOrders = (query: Query, statuses?: readonly OrderStatus[]): Order[] =>
  query
    .select()
    .from(orders)
    .where(statuses && inArray(orders.status, [...statuses]))
    .orderBy(asc(orders.id))
    .all()

export const vouchersOf = (query: Query, orderId: number): Voucher[] => reads(query).vouchers.all({ orderId })

export const findNextDue = (query: Query): Order | undefined => reads(query).nextDue.get()

export const findNextDueMs = (query: Query): number | undefined => findNextDue(query)?.dueAtMs ?? undefined

export const countDue = (query: Query): number =>
  query.select({ n: count() }).from(orders).where(isNotNull(orders.dueAtMs)).get()?.n ?? 0

/** Orders are numbered without a gap. */
export const nextOrderId = (tx: Tx): number => (reads(tx).lastId.get()?.id ?? 0) + 1

export const insertOrder = (tx: Tx, order: Order): void => writes(tx).insert(order)

/** Returns the updated order. */
export const updateOrder = (tx: Tx, order: Order, change: OrderChange): Order => {
  const changed = { ...order, ...change }
  writes(tx).update(changed)
  return changed
}

export const insertVoucher = (tx: Tx, voucher: Omit<Voucher, 'id'>): void =>
  writes(tx).insertVoucher({ id: null, ...voucher })

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
