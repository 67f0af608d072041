import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Transaction } from './database.ts'

/** Lists that grow without end: told and paged through without reading what is not shown. */

/** A list whose records are counted as they come, go and change status: see the migration `0003_lists`. */
export type CountedList = 'beneficiaries' | 'payouts' | 'orders' | 'transactions'

/** How many records a client's list holds: in all, or in one part of it. */
export const countOf = (query: Transaction, list: CountedList, clientId: number, part?: string): number => {
  const ofPart = part === undefined ? sql`` : sql`AND part = ${part}`
  const [counted] = query.all<{ total: number }>(
    sql`SELECT coalesce(sum(count), 0) AS total FROM list_counts WHERE list = ${list} AND client_id = ${clientId} ${ofPart}`,
  )
  return counted?.total ?? 0
}

/** How many rows of a table match; reads an index over all of them. */
export const countMatching = (query: Transaction, table: SQLiteTable, matching: SQL | undefined): number =>
  query.all<{ total: number }>(sql`SELECT count(*) AS total FROM ${table} WHERE ${matching}`)[0]?.total ?? 0

/** What of a list is asked for. */
export interface Slice {
  matching: SQL | undefined
  /** What the list is ordered by; the key stands last and tells apart what is left equal. */
  orderBy: readonly (SQLiteColumn | SQL)[]
  direction: 'ASC' | 'DESC'
  limit: number
  offset: number
  /** How many rows match in all. */
  totalCount: number
}

/**
 * The keys of one page, in order. What comes before them is passed over in the index alone, and from the end that is
 * nearer: a row is read only to be shown.
 */
export const keysOf = <Key extends string | number>(
  query: Transaction,
  table: SQLiteTable & { id: SQLiteColumn },
  { matching, orderBy, direction, limit, offset, totalCount }: Slice,
): Key[] => {
  const shown = Math.min(limit, totalCount - offset)
  if (shown <= 0) return []
  const after = totalCount - offset - shown
  const fromEnd = after < offset
  const ascending = (direction === 'ASC') !== fromEnd
  const order = sql.join(
    orderBy.map((column) => (ascending ? sql`${column} ASC` : sql`${column} DESC`)),
    sql`, `,
  )
  const rows = query.all<{ id: Key }>(
    sql`SELECT ${table.id} AS id FROM ${table} WHERE ${matching} ORDER BY ${order} LIMIT ${shown} OFFSET ${fromEnd ? after : offset}`,
  )
  const keys = rows.map(({ id }) => id)
  return fromEnd ? keys.reverse() : keys
}

/** That a key is among those of the placeholder `ids`, which takes them as a JSON list. */
export const isAmong = (key: SQLiteColumn): SQL =>
  sql`${key} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`

/** Rows in the order of their keys. */
export const inOrderOf = <Key, Row extends { id: Key }>(keys: readonly Key[], rows: readonly Row[]): Row[] => {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return keys.flatMap((key) => byId.get(key) ?? [])
}
