import { and, asc, count, desc, eq, gt, gte, lt, lte, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { searchForm } from '../kernel/lower-case.ts'
import { doPart } from '../kernel/turns.ts'
import type { Query } from './database.ts'

/** The filters of a list on the command line (contract C17). An undefined one does not narrow the list. */
export interface Narrowing {
  clientId?: number | undefined
  status?: string | undefined
  /** Included, in Unix milliseconds. */
  sinceMs?: number | undefined
  /** Not included, in Unix milliseconds. */
  untilMs?: number | undefined
  /** A search for a part of a text, in upper or lower case, or for an amount in major units. */
  search?: string | undefined
  limit?: number | undefined
  /** By default, the oldest first. */
  newestFirst?: boolean
}

/** Rows that are read one by one, on demand. */
export interface Rows<Row> extends Iterable<Row> {
  /** The number of rows without the limit. */
  count: () => number
}

interface NarrowedColumns {
  clientId?: SQLiteColumn
  status?: SQLiteColumn
  atMs: SQLiteColumn
  /** The columns that a search reads. */
  texts?: readonly SQLWrapper[]
  /** In major units. */
  amount?: SQLWrapper
}

export const narrowed = (columns: NarrowedColumns, { clientId, status, sinceMs, untilMs, search }: Narrowing) =>
  and(
    columns.clientId && clientId !== undefined ? eq(columns.clientId, clientId) : undefined,
    columns.status && status !== undefined ? eq(columns.status, status) : undefined,
    sinceMs === undefined ? undefined : gte(columns.atMs, sinceMs),
    untilMs === undefined ? undefined : lt(columns.atMs, untilMs),
    search === undefined ? undefined : holding(columns, search),
  )

const AMOUNT = /^\d{1,15}(?:\.\d{1,4})?$/

const holding = ({ texts = [], amount }: NarrowedColumns, search: string) => {
  // Some of the texts are stored in the form by which they are searched, the others as they came.
  const terms = [...new Set([searchForm(search), search.toLowerCase()])]
  return or(
    ...texts.flatMap((text) => terms.map((term) => sql`instr(lower(${text}), ${term}) > 0`)),
    amount && AMOUNT.test(search) ? sql`${amount} = ${Number(search)}` : undefined,
    sql`FALSE`,
  )
}

const STEP = 5_000

/**
 * All matching rows, searched a number of rows at a time, between which the thread is left to others: no index leads to them. Rows that are
 * written meanwhile may be missed.
 */
export async function* searched<Table extends SQLiteTable & { id: SQLiteColumn }>(
  query: Query,
  table: Table,
  where: SQL | undefined,
): AsyncGenerator<Table['$inferSelect']> {
  const from = table as SQLiteTable
  for (let last: unknown, isOver = false; !isOver; ) {
    const rows = await doPart(() => {
      const isNext = last === undefined ? undefined : gt(table.id, last)
      const end = query
        .select({ id: table.id })
        .from(from)
        .where(isNext)
        .orderBy(asc(table.id))
        .limit(1)
        .offset(STEP - 1)
      const through = end.get()?.id
      isOver = through === undefined
      last = through
      return query
        .select()
        .from(from)
        .where(and(isNext, isOver ? undefined : lte(table.id, through), where))
        .all()
    })
    yield* rows
  }
}

const UNIT = 1_000

/** The matching rows in the order of their ids, read a unit at a time: a list of any length takes little memory. */
export const rowsById = <Table extends SQLiteTable & { id: SQLiteColumn }>(
  query: Query,
  table: Table,
  where: SQL | undefined,
  order: Pick<Narrowing, 'limit' | 'newestFirst'> = {},
): Rows<Table['$inferSelect']> => ({
  [Symbol.iterator]: () => walk(query, table, where, order),
  count: () =>
    query
      .select({ rows: count() })
      .from(table as SQLiteTable)
      .where(where)
      .get()?.rows ?? 0,
})

function* walk<Table extends SQLiteTable & { id: SQLiteColumn }>(
  query: Query,
  table: Table,
  where: SQL | undefined,
  { limit = Number.POSITIVE_INFINITY, newestFirst }: Pick<Narrowing, 'limit' | 'newestFirst'>,
): Generator<Table['$inferSelect']> {
  const [isNext, inOrder] = newestFirst ? [lt, desc] : [gt, asc]
  let last: unknown
  for (let left = limit; left > 0; left -= UNIT) {
    const rowCount = Math.min(UNIT, left)
    const rows = query
      .select()
      .from(table as SQLiteTable)
      .where(and(where, last === undefined ? undefined : isNext(table.id, last)))
      .orderBy(inOrder(table.id))
      .limit(rowCount)
      .all()
    yield* rows
    if (rows.length < rowCount) return
    last = rows.at(-1)?.id
  }
}
