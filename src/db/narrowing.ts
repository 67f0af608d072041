import { and, asc, count, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { searchForm } from '../kernel/lower-case.ts'
import { doPart } from '../kernel/turns.ts'
import type { Query } from './database.ts'
import { indexed, SORTED_MAX } from './lists.ts'
import type { Counts } from './migrations/0001_counts.ts'
import { type Identified, isOneOf } from './prepared.ts'

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
  /** The sums of these rows by currency, of a list that has amounts. */
  sums?: () => Sums[]
}

/** The number of records in a currency, and the sums of their amounts by their names. */
export interface Sums {
  currencyId: number
  n: number
  minor: Readonly<Record<string, number>>
}

/** A list for operators: what narrows it, and the indexes that lead there. Each of them ends with the id. */
interface Listed<Table> {
  table: Table
  clientId?: SQLiteColumn
  status?: SQLiteColumn
  atMs: SQLiteColumn
  /** The columns that a search reads. */
  texts?: readonly SQLiteColumn[]
  /** Compares with an amount in major units. */
  isAmount?: (major: number) => SQL
  /** The counts of the records, with the columns of client and status. */
  counts?: Counts['name']
  /** The amounts of the records in minor units, whose sums the counts have too. */
  summed?: { currencyId: SQLiteColumn | SQL; amounts: Readonly<Record<string, SQLiteColumn | SQL>> }
  indexes?: {
    client?: string
    /** By client and status. */
    status?: string
    time?: string
    /** Has all texts, in the form by which they are searched. */
    texts?: string
    /** By client and amount. */
    amount?: string
  }
}

/** A further condition of a list. */
interface Also {
  matches: SQL | undefined
  index?: string
  /** The index that leads to its records if they are few. */
  rareIndex?: string
  /** True if the counts have its columns. */
  isCounted?: true
}

/** The records of an operator's list, which is read along the index of what narrows it most, and counted in its counts. */
export const narrowedRows = <Table extends Identified>(
  query: Query,
  list: Listed<Table>,
  narrowing: Narrowing,
  also: Also = { matches: undefined },
): Rows<Table['$inferSelect']> => {
  const { table, counts, indexes = {} } = list
  const { clientId, status, sinceMs, untilMs, search } = narrowing
  const isOfColumns = and(equals(list.clientId, clientId), equals(list.status, status), also.matches)
  // The counts stand in for the table, so that the conditions are the same.
  const inCounts = sql`${sql.identifier(counts ?? '')} AS ${table}`
  const total = (): number =>
    query.select({ n: sql<number>`coalesce(sum(n), 0)` }).from(inCounts).where(isOfColumns).get()?.n ?? 0
  const isCounted = counts !== undefined && (also.isCounted || !also.matches)
  const isByStatus = status !== undefined && indexes.status !== undefined
  const counted = isCounted && (isByStatus || also.rareIndex) ? total() : undefined
  const isFew = counted !== undefined && counted <= SORTED_MAX
  const isOfFew = isFew && isByStatus && list.clientId && clientId === undefined
  const inPeriod = and(
    sinceMs === undefined ? undefined : gte(list.atMs, sinceMs),
    untilMs === undefined ? undefined : lt(list.atMs, untilMs),
  )
  const ofStatus = isByStatus && (!list.clientId || clientId !== undefined || isOfFew) ? indexes.status : undefined
  const ofAlso = also.index ?? (isFew ? also.rareIndex : undefined)
  const index = ofAlso ?? ofStatus ?? (clientId === undefined ? undefined : indexes.client)
  const where = and(
    counted === 0 ? sql`FALSE` : isOfColumns,
    isOfFew ? isOfAnyClient : undefined,
    inPeriod && idsIn(query, list, inPeriod),
    inPeriod,
    search === undefined ? undefined : found(query, list, search),
  )
  const rows = rowsById(query, table, where, { ...narrowing, index })
  const isAllCounted = isCounted && !inPeriod && search === undefined
  const sums = list.summed && sumsBy(list.summed)
  return {
    ...rows,
    ...(isAllCounted && { count: total }),
    ...(sums && {
      sums: () => (isAllCounted ? sums(query, inCounts, isOfColumns, sql`sum(n)`) : sums(query, table, where, count())),
    }),
  }
}

const sumsBy =
  ({ currencyId, amounts }: NonNullable<Listed<SQLiteTable>['summed']>) =>
  (query: Query, from: SQL | SQLiteTable, where: SQL | undefined, n: SQL): Sums[] =>
    query
      .select({
        currencyId: sql<number>`${currencyId}`,
        n: sql<number>`${n}`,
        ...Object.fromEntries(Object.entries(amounts).map(([name, minor]) => [name, sql<number>`sum(${minor})`])),
      })
      .from(from)
      .where(where)
      .groupBy(sql`1`)
      .having(sql`${n} > 0`)
      .all()
      .map(({ currencyId, n, ...minor }) => ({ currencyId, n, minor }))

const equals = (column: SQLiteColumn | undefined, value: string | number | undefined) =>
  column && value !== undefined ? eq(column, value) : undefined

/** Leads SQLite to an index that begins with the client. */
export const isOfAnyClient = sql`client_id IN (SELECT id FROM clients)`

/** The ids of a period are those between its first and its last one, in the order in which rows are read. */
const idsIn = <Table extends Identified>(
  query: Query,
  { table, indexes }: Listed<Table>,
  inPeriod: SQL,
): SQL | undefined => {
  if (!indexes?.time) return undefined
  const { first, last } =
    query
      .select({ first: sql`min(${table.id})`, last: sql`max(${table.id})` })
      .from(indexed(table, indexes.time))
      .where(inPeriod)
      .get() ?? {}
  return sql`${table.id} BETWEEN ${first} AND ${last}`
}

const AMOUNT = /^\d{1,15}(?:\.\d{1,4})?$/

/** Records that hold a text: if they are few, by their ids. */
const found = <Table extends Identified>(query: Query, list: Listed<Table>, search: string): SQL => {
  const { table, texts = [], indexes = {} } = list
  const terms = [...new Set([searchForm(search), search.toLowerCase()])]
  const inText = (text: SQLiteColumn) =>
    indexes.texts
      ? [sql`instr(${text}, ${searchForm(search)}) > 0`]
      : terms.map((term) => sql`instr(lower(${text}), ${term}) > 0`)
  const holds = or(...texts.flatMap(inText), sql`FALSE`)
  const isAmount = AMOUNT.test(search) ? list.isAmount?.(Number(search)) : undefined
  const along = (index: string | undefined) => (index === undefined ? sql`${table}` : indexed(table, index))
  const ofAmount =
    isAmount && sql` UNION ALL SELECT ${table.id} FROM ${along(indexes.amount)} WHERE ${and(isOfAnyClient, isAmount)}`
  const either = sql`(SELECT ${table.id} AS id FROM ${along(indexes.texts)} WHERE ${holds}${ofAmount})`
  const ids = query
    .select({ id: sql<string | number>`id` })
    .from(either)
    .limit(SORTED_MAX + 1)
    .all()
  if (ids.length > SORTED_MAX) return or(holds, isAmount) ?? sql`FALSE`
  return isOneOf(
    table.id,
    ids.map(({ id }) => id),
  )
}

const STEP = 5_000

/**
 * All matching rows, searched a number of rows at a time, between which the thread is left to others: no index leads to them. Rows that are
 * written meanwhile may be missed.
 */
export async function* searched<Table extends Identified>(
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

type Order = Pick<Narrowing, 'limit' | 'newestFirst'> & {
  /** The index that leads to the rows, and ends with the id. Otherwise, SQLite chooses. */
  index?: string | undefined
}

/** The matching rows in the order of their ids, read a unit at a time: a list of any length takes little memory. */
export const rowsById = <Table extends Identified>(
  query: Query,
  table: Table,
  where: SQL | undefined,
  order: Order = {},
): Rows<Table['$inferSelect']> => {
  const from = order.index === undefined ? (table as SQLiteTable) : indexed(table, order.index)
  return {
    [Symbol.iterator]: () => walk(query, table, where, order),
    count: () => query.select({ rows: count() }).from(from).where(where).get()?.rows ?? 0,
  }
}

function* walk<Table extends Identified>(
  query: Query,
  table: Table,
  where: SQL | undefined,
  { limit = Number.POSITIVE_INFINITY, newestFirst, index }: Order,
): Generator<Table['$inferSelect']> {
  const [isNext, inOrder] = newestFirst ? [lt, desc] : [gt, asc]
  let last: unknown
  for (let left = limit; left > 0; left -= UNIT) {
    const rowCount = Math.min(UNIT, left)
    const matches = and(where, last === undefined ? undefined : isNext(table.id, last))
    const order = inOrder(table.id)
    const ids =
      index &&
      sql`SELECT ${table.id} FROM ${indexed(table, index)} WHERE ${matches} ORDER BY ${order} LIMIT ${rowCount}`
    const rows = query
      .select()
      .from(table as SQLiteTable)
      .where(ids ? sql`${table.id} IN (${ids})` : matches)
      .orderBy(order)
      .limit(rowCount)
      .all()
    yield* rows
    if (rows.length < rowCount) return
    last = rows.at(-1)?.id
  }
}
