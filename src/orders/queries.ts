import { and, asc, count, eq, inArray, sql } from 'drizzle-orm'
import { connectionOf, type Query, type Tx } from '../db/database.ts'
import { counted, List, searchText } from '../db/lists.ts'
import { type Narrowing, narrowedRows, type Rows, type Sums } from '../db/narrowing.ts'
import type { Personal } from '../db/personal.ts'
import {
  isGiven,
  isOneLiteral,
  preparedAll,
  preparedDue,
  preparedFind,
  preparedInsert,
  preparedLastId,
  preparedOne,
  preparedUpdate,
} from '../db/prepared.ts'
import { OPEN_ORDERS } from './states.ts'
import { type Order, type OrderStatus, orders, type Voucher, vouchers } from './tables.ts'

export { ORDER_STATUSES, type Order, type OrderStatus } from './tables.ts'

/** The columns that delivery, its failure and refunds change, with the values of a new order. */
export const BEGINNING = {
  status: 'PENDING',
  deliveredQuantity: 0,
  failureReason: null,
  refundedMinor: 0,
  dueAtMs: null,
  deliveredAtMs: null,
  failedAtMs: null,
  cancelledAtMs: null,
} as const satisfies Partial<Order>
type Changing = keyof typeof BEGINNING
export type OrderUpdate = Partial<Pick<Order, Changing>>

export const findOrder = preparedFind(orders)

export const findAnyOrder = (query: Query, id: number): Order | undefined =>
  query.select().from(orders).where(eq(orders.id, id)).limit(1).get()

const ofReference = preparedOne(
  orders,
  and(eq(orders.clientId, sql.placeholder('clientId')), eq(orders.reference, sql.placeholder('reference'))),
)

export const isReferenceTaken = (query: Query, clientId: number, reference: string): boolean =>
  ofReference(query, { clientId, reference }) !== undefined

export const ordersOf = (query: Query, narrowing: Narrowing): Rows<Order> => narrowedRows(query, LISTED, narrowing)

const PRECISION = sql`(SELECT precision FROM wallets JOIN currencies ON currencies.id = currency_id WHERE wallets.id = ${orders.walletId})`

/** An order is paid in the currency of its wallet. */
const PAID_CURRENCY = sql`(SELECT currency_id FROM wallets WHERE wallets.id = ${orders.walletId})`

const LISTED = {
  table: orders,
  clientId: orders.clientId,
  status: orders.status,
  atMs: orders.placedAtMs,
  texts: [orders.id, orders.searchLowerCase],
  isAmount: (major: number) => sql`${orders.payableMinor} / power(10.0, ${PRECISION}) = ${major}`,
  counts: 'order_counts',
  summed: { currencyId: PAID_CURRENCY, amounts: { sum: orders.payableMinor } },
  indexes: { client: 'orders_client', status: 'orders_status', time: 'orders_placed', texts: 'orders_client' },
} as const

/** The orders of all clients, the oldest first. */
export const allOrders = (query: Query, statuses: readonly OrderStatus[]): Order[] =>
  query
    .select()
    .from(orders)
    .where(inArray(orders.status, [...statuses]))
    .orderBy(asc(orders.id))
    .all()

/** In the words of the index orders_open. */
const isOpen = sql`${isOneLiteral(orders.status, OPEN_ORDERS)} AND ${orders.failedAtMs} IS NULL`

/** The orders of a list that wait for the clock or an operator. */
export const waitingOrders = (query: Query, narrowing: Narrowing): Rows<Order> =>
  narrowedRows(query, LISTED, narrowing, { matches: isOpen, index: 'orders_open' })

/** The first orders that wait for the clock or an operator, the oldest first, and the sums of all by the currency that paid. */
export const openOrders = (query: Query, limit: number) => ({
  rows: query.select().from(orders).where(isOpen).orderBy(asc(orders.id)).limit(limit).all(),
  sums: connectionOf(query)
    .query<{ currencyId: number; n: number; sum: number }, []>(
      `SELECT currency_id AS currencyId, sum(n) AS n, sum(payable_minor) AS sum FROM open_order_counts
        JOIN wallets ON wallets.id = wallet_id GROUP BY currency_id HAVING sum(n) > 0`,
    )
    .all()
    .map(({ sum, ...one }): Sums => ({ ...one, minor: { sum } })),
})

export const openOrdersByProduct = (query: Query): ReadonlyMap<number, number> =>
  new Map(
    query
      .select({ productId: orders.productId, n: count() })
      .from(orders)
      .where(isOpen)
      .groupBy(orders.productId)
      .all()
      .map(({ productId, n }) => [productId, n]),
  )

const byOrder = preparedAll(vouchers, isGiven(vouchers.orderId, 'orderId'), asc(vouchers.id))

export const vouchersOf = (
  query: Query,
  { id, deliveredQuantity }: Pick<Order, 'id' | 'deliveredQuantity'>,
): Voucher[] => (deliveredQuantity === 0 ? [] : byOrder(query, { orderId: id }))

export const { findFirstDue, countDue, nextDue: nextDueOrders } = preparedDue(orders)

const lastId = preparedLastId(orders)

/** The id of the next order. Orders are numbered without gaps. */
export const nextOrderId = (query: Query): number => lastId(query) + 1

/** The texts by which operators look for an order. */
export const searchTextOf = ({
  reference,
  email,
  productName,
}: Pick<Order, 'reference' | 'email' | 'productName'>): string => searchText(reference, email, productName)

export const insertOrder = preparedInsert(orders)

const updateChanging = preparedUpdate(orders, Object.keys(BEGINNING) as Changing[])

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

/** SQLite's name for the index of the references, which are unique. */
const REFERENCES = 'sqlite_autoindex_orders_1'

export const orderList = new List({
  table: orders,
  counts: 'order_counts',
  filters: {
    reference: { matches: orders.reference, index: REFERENCES },
    ref: { matches: orders.reference, index: REFERENCES },
    productId: counted(orders.productId, 'orders_product'),
    status: counted(orders.status, 'orders_status'),
  },
  sorts: { id: { columns: [], index: 'orders_client' } },
})

/** The columns that can hold a text of a person. */
export const ORDER_TEXTS = {
  table: orders,
  texts: ['email', 'reference', 'failureReason'],
  search: (order) => ({ searchLowerCase: searchTextOf(order) }),
} as const satisfies Personal<typeof orders>
