import {
  and,
  asc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  not,
  or,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import { connectionOf, type Query, type Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import {
  isGiven,
  isOneOf,
  placeholderOfLimit,
  prepared,
  preparedInsert,
  preparedOne,
  preparedUpdate,
} from '../db/prepared.ts'
import { type Order, stockPublished, type Voucher, voucherKey, voucherStock, vouchers } from './tables.ts'

export type StockRow = typeof voucherStock.$inferSelect

/** Codes that are reserved for an order and not delivered yet. */
const undeliveredOf = ({ id }: Order) =>
  and(
    eq(voucherStock.orderId, id),
    sql`NOT EXISTS (SELECT 1 FROM ${vouchers} WHERE ${vouchers.stockId} = ${voucherStock.id})`,
  )

const lastPublished = sql`(SELECT ${stockPublished.upToId} FROM ${stockPublished})`
/** Codes of an import that is not complete are not part of the stock. */
const isPublished = lte(voucherStock.id, lastPublished)

const unexpired = (nowMs: number | Placeholder): SQL => sql`coalesce(${voucherStock.expiresAtMs} > ${nowMs}, TRUE)`

const isFree = (nowMs: number | Placeholder) =>
  and(isPublished, isNull(voucherStock.orderId), isNull(voucherStock.damagedAtMs), unexpired(nowMs))

export type Kind = Pick<Order, 'productId' | 'denominationMinor'>

const isFreeOfKind = and(
  isGiven(voucherStock.productId, 'productId'),
  isGiven(voucherStock.denominationMinor, 'denominationMinor'),
  isFree(sql.placeholder('nowMs')),
)

const free = prepared((query: Query) =>
  query
    .select()
    .from(voucherStock)
    .where(isFreeOfKind)
    .orderBy(asc(voucherStock.id))
    .limit(placeholderOfLimit('limit'))
    .prepare(),
)

export const freeCodes = (query: Query, { productId, denominationMinor }: Kind, nowMs: number, limit: number) =>
  free(query).all({ productId, denominationMinor, nowMs, limit })

/** Reads no more codes than the quantity. */
export const areFree = (query: Query, kind: Kind, nowMs: number, quantity: number): boolean =>
  freeCodes(query, kind, nowMs, quantity).length === quantity

export const waitingCodes = (query: Query, order: Order, nowMs: number, limit: number): StockRow[] =>
  query
    .select()
    .from(voucherStock)
    .where(and(undeliveredOf(order), isNull(voucherStock.damagedAtMs), unexpired(nowMs)))
    .orderBy(asc(voucherStock.id))
    .limit(limit)
    .all()

export const markDamaged = (tx: Tx, ids: readonly number[], nowMs: number): void => {
  tx.update(voucherStock).set({ damagedAtMs: nowMs }).where(isOneOf(voucherStock.id, ids)).run()
}

export const reserveCode = preparedUpdate(voucherStock, ['orderId'])

export const freeUndelivered = (tx: Tx, order: Order): void => {
  tx.update(voucherStock).set({ orderId: null }).where(undeliveredOf(order)).run()
}

/** Returns codes to the stock that expired or were found damaged while the order waited. */
export const freeSpoiled = (tx: Tx, order: Order, nowMs: number): void => {
  const spoiled = or(isNotNull(voucherStock.damagedAtMs), not(unexpired(nowMs)))
  tx.update(voucherStock)
    .set({ orderId: null })
    .where(and(undeliveredOf(order), spoiled))
    .run()
}

export const updateStock = (tx: Tx, id: number, change: Partial<StockRow>): void => {
  tx.update(voucherStock).set(change).where(eq(voucherStock.id, id)).run()
}

export const insertStock = preparedInsert(voucherStock)

/** Puts all imported codes up for sale. */
export const publishStock = (tx: Tx): void => {
  const last = sql`(SELECT coalesce(max(${voucherStock.id}), 0) FROM ${voucherStock})`
  tx.update(stockPublished).set({ upToId: last }).run()
}

/** Removes some of the codes that an interrupted import has left. Returns their number. */
export const removeUnpublished = (tx: Tx, limit: number): number => {
  const { id } = voucherStock
  const left = tx.select({ id }).from(voucherStock).where(gt(id, lastPublished)).limit(limit)
  return tx.delete(voucherStock).where(inArray(id, left)).returning({ id }).all().length
}

const ofFingerprint = preparedOne(voucherStock, eq(voucherStock.fingerprint, sql.placeholder('fingerprint')))

export const isImported = (query: Query, fingerprint: string): boolean =>
  ofFingerprint(query, { fingerprint }) !== undefined

/**
 * The numbers of codes for each product and denomination. Spoiled codes count only if no order has taken them. Codes of an import that is
 * not complete are taken off the kept counts.
 */
export const stockLevels = (query: Query, nowMs: number) =>
  connectionOf(query)
    .query<Kind & Record<'imported' | 'taken' | 'damaged' | 'expired', number>, [number]>(
      `SELECT product_id AS productId, denomination_minor AS denominationMinor, sum(n) AS imported,
          sum(iif(is_taken, n, 0)) AS taken, sum(iif(is_damaged AND NOT is_taken, n, 0)) AS damaged,
          sum(iif(expires_at_ms <= ? AND NOT is_damaged AND NOT is_taken, n, 0)) AS expired
        FROM (SELECT product_id, denomination_minor, is_taken, is_damaged, expires_at_ms, n FROM stock_counts
          UNION ALL SELECT product_id, denomination_minor, 0, damaged_at_ms IS NOT NULL, coalesce(expires_at_ms, 9e15), -1
            FROM voucher_stock WHERE id > (SELECT up_to_id FROM stock_published))
        GROUP BY product_id, denomination_minor HAVING sum(n) > 0 ORDER BY product_id, denomination_minor`,
    )
    .all(nowMs)

/** The numbers of vouchers that orders have sold since a day, without those that were refunded undelivered. */
export const soldSince = (query: Query, day: number) =>
  connectionOf(query)
    .query<Kind & { sold: number }, [number]>(
      `SELECT product_id AS productId, denomination_minor AS denominationMinor,
          sum(iif(is_over, delivered_quantity, quantity)) AS sold
        FROM sale_day_counts WHERE day >= ? GROUP BY product_id, denomination_minor`,
    )
    .all(day)

export const everyCode = (query: Query): Iterable<StockRow> => rowsById(query, voucherStock, undefined)

export const everyVoucher = (query: Query): Iterable<Voucher> => rowsById(query, vouchers, undefined)

/** Each voucher with its client: for a million of them, looking up each order would take half a minute. */
export const everyOwnedVoucher = (query: Query) =>
  connectionOf(query)
    .query<Pick<Voucher, 'orderId' | 'reference' | 'sealed'> & Pick<Order, 'clientId'>, []>(
      `SELECT order_id AS orderId, vouchers.reference, sealed, client_id AS clientId
         FROM vouchers JOIN orders ON orders.id = order_id ORDER BY vouchers.id`,
    )
    .iterate()

export const updateVoucher = (tx: Tx, id: number, sealed: Buffer): void => {
  tx.update(vouchers).set({ sealed }).where(eq(vouchers.id, id)).run()
}

export const markOf = (query: Query): string | undefined => query.select().from(voucherKey).limit(1).get()?.mark

export const insertMark = (tx: Tx, mark: string): void => void tx.insert(voucherKey).values({ id: 1, mark }).run()

export const updateMark = (tx: Tx, mark: string): void => void tx.update(voucherKey).set({ mark }).run()
