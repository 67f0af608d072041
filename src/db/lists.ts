import { and, asc, desc, eq, fillPlaceholders, getTableColumns, is, SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import { searchForm } from '../kernel/lower-case.ts'
import { connectionOf, type Query } from './database.ts'
import type { Counts } from './migrations/0001_counts.ts'
import { type Identified, isGiven, type OwnedTable, placeholderOfLimit } from './prepared.ts'

/** A column is compared; an SQL condition has a placeholder of its name. */
type Condition = SQLiteColumn | SQL

interface ListFilter {
  matches: Condition
  /** The index that leads to the matching records. */
  index?: string | undefined
  /** The list's counts have the column: they say how many records match, and its index has them in the order of their ids. */
  isCounted?: boolean
  /** The index ends with what a search reads. */
  hasSearch?: boolean
  /** The condition on the counts, if they have the column in another form. */
  counts?: SQL
}

interface ListOptions<Table extends OwnedTable, Filter extends string, Sort extends string, Unshown> {
  table: Table
  /** Columns that no entry shows are not read: of a wide table, they take a quarter of the time of a page. */
  unshown?: readonly Unshown[]
  /** The counts of these records by client, and by each column of a counted filter. */
  counts: Counts['name']
  filters: Readonly<Record<Filter, ListFilter>>
  /** The columns that each order compares before the id, and its index. It ends with what filters without an index read. */
  sorts: Readonly<Record<Sort, { columns: readonly Condition[]; index: string }>>
}

/** A filter by a column of the counts. */
export const counted = (matches: Condition, index?: string): ListFilter => ({ matches, index, isCounted: true })

/** The client whose records are listed: a session, for instance. */
interface ListReader {
  world: { db: { query: Query } }
  client: { id: number }
}

interface Slice<Filter extends string, Sort extends string> {
  /** Undefined does not narrow the list. */
  filters: Readonly<Record<Filter, string | number | undefined>>
  sort: Sort
  direction: 'ASC' | 'DESC'
  limit: number
  offset: number
}

/** The limit for each connection: a client that tries every combination must not fill the memory. */
const STATEMENTS_MAX = 64

/** So many records are sorted for a page rather than looked for along the index of its order. */
export const SORTED_MAX = 10_000

const OPPOSITE = { ASC: 'DESC', DESC: 'ASC' } as const

type Values = Readonly<Record<string, unknown>>

/** A list adds up its counts, and reads a page of ids along the index of its rarest filter or of its order (decision 120). */
export class List<
  Table extends OwnedTable,
  Filter extends string,
  Sort extends string,
  Unshown extends keyof Table['$inferSelect'] = never,
> {
  readonly #statements = new WeakMap<Query, LRUCache<string, object>>()

  constructor(private readonly options: ListOptions<Table, Filter, Sort, Unshown>) {}

  /** A page with an entry for each row, and the number of matching records. */
  page<Entry>(
    { world, client }: ListReader,
    { filters, sort, direction, limit, offset }: Slice<Filter, Sort>,
    wire: (row: Omit<Table['$inferSelect'], Unshown>) => Entry,
  ) {
    const { query } = world.db
    const names = (Object.keys(filters) as Filter[]).filter((name) => filters[name] !== undefined)
    const values = { ...filters, clientId: client.id }
    const { totalCount, index } = this.#found(query, names, sort, values)
    if (offset >= totalCount) return { entries: [], totalCount }
    const length = Math.min(limit, totalCount - offset)
    const after = totalCount - offset - length
    // A deep page is read from the end that is nearer.
    const isFromEnd = after < offset
    const read = this.#rows(query, names, sort, isFromEnd ? OPPOSITE[direction] : direction, index)
    const rows = read({ ...values, limit: length, offset: isFromEnd ? after : offset })
    return { entries: (isFromEnd ? rows.reverse() : rows).map(wire), totalCount }
  }

  /** The number of matching records, and the index by which to read them. */
  #found(query: Query, names: readonly Filter[], sort: Sort, values: Values) {
    const chosen = names.map((name) => ({ name, ...this.options.filters[name] }))
    const ofOrder = this.options.sorts[sort]
    const counts = chosen
      .filter(({ isCounted }) => isCounted)
      .map((filter) => ({ ...filter, count: this.#total(query, [filter.name], undefined, values) }))
    const [rarest] = counts.filter(({ index }) => index).sort((one, other) => one.count - other.count)
    const isSearch = chosen.some(({ isCounted, index }) => !isCounted && !index)
    const isInOrder = ofOrder.columns.length === 0 && (!isSearch || rarest?.hasSearch)
    const index = (rarest && (isInOrder || rarest.count <= SORTED_MAX) && rarest.index) || ofOrder.index
    if (counts.length === chosen.length) return { totalCount: this.#total(query, names, undefined, values), index }
    const ofRange = chosen.find((filter) => !filter.isCounted && filter.index)?.index
    const ofTotal = ofRange ?? (rarest?.hasSearch ? rarest.index : index)
    const totalCount = this.#total(query, names, ofTotal, values)
    return { totalCount, index: ofRange && totalCount <= SORTED_MAX ? ofRange : index }
  }

  /** Adds up the counts, or counts the records of an index. */
  #total(query: Query, names: readonly Filter[], index: string | undefined, values: Values): number {
    const { table, counts } = this.options
    const statement = this.#prepared(query, [...names, 'count', index].join(), () => {
      // The counts stand in for the table, so that the conditions are the same.
      const from = index === undefined ? sql`${sql.identifier(counts)} AS ${table}` : indexed(table, index)
      const total = index === undefined ? sql<number>`coalesce(sum(n), 0)` : sql<number>`count(*)`
      return query
        .select({ total })
        .from(from)
        .where(this.#matches(names, index === undefined))
        .prepare()
    })
    return statement.all(values)[0]?.total ?? 0
  }

  #rows(query: Query, names: readonly Filter[], sort: Sort, direction: 'ASC' | 'DESC', index: string) {
    return this.#prepared(query, [...names, sort, direction, index].join(), () => {
      const table: OwnedTable = this.options.table
      const unshown: readonly PropertyKey[] = this.options.unshown ?? []
      const page = query
        .select({ id: sql`${table.id}`.as('page_id') })
        .from(indexed(table, index))
        .where(this.#matches(names))
        .orderBy(...[...this.options.sorts[sort].columns, table.id].map(direction === 'ASC' ? asc : desc))
        .limit(placeholderOfLimit('limit'))
        .offset(sql.placeholder('offset'))
        .as('page')
      const columns = Object.entries(getTableColumns(table)).filter(([name]) => !unshown.includes(name))
      const named = Object.fromEntries(columns.map(([name, column]) => [name, sql`${column}`.as(name)]))
      const booleans = columns.flatMap(([name, { dataType }]) => (dataType === 'boolean' ? [name] : []))
      // A cross join keeps the order of its first table.
      const rows = query.select(named).from(page).crossJoin(table).where(eq(table.id, page.id)).toSQL()
      // The rows are read with the names of SQLite: drizzle's mapping takes twice as long.
      const statement = connectionOf(query).prepare<Record<string, unknown>, never[]>(rows.sql)
      return (values: Values) => {
        const found = statement.all(...(fillPlaceholders(rows.params, { ...values }) as never[]))
        for (const row of found) for (const name of booleans) row[name] = row[name] === 1
        return found as Table['$inferSelect'][]
      }
    })
  }

  #prepared<Statement extends object>(query: Query, name: string, prepare: () => Statement): Statement {
    const statements = this.#statements.getOrInsertComputed(query, () => new LRUCache({ max: STATEMENTS_MAX }))
    const statement = (statements.get(name) as Statement | undefined) ?? prepare()
    statements.set(name, statement)
    return statement
  }

  #matches(names: readonly Filter[], areCounts = false): SQL | undefined {
    const isOfClient = isGiven(this.options.table.clientId, 'clientId')
    return and(isOfClient, ...names.map((name) => this.#conditionOf(name, areCounts)))
  }

  #conditionOf(name: Filter, areCounts: boolean): SQL {
    const { matches, counts } = this.options.filters[name]
    if (areCounts && counts) return counts
    return is(matches, SQL) ? matches : isGiven(matches, name)
  }
}

/** The index is not left to SQLite: it would choose by the statistics of the day, if there are any. */
export const indexed = (table: Identified, index: string): SQL => sql`${table} INDEXED BY ${sql.identifier(index)}`

/** Neither texts nor search terms contain it: they are in lower case. NUL would end the text where other programs read it. */
const SEPARATOR = 'A'

/** The form of texts that searches compare (contract C7). */
export const searchText = (...texts: (string | null)[]): string =>
  texts.map((text) => searchForm(text ?? '')).join(SEPARATOR)

export const contains = (text: SQLWrapper): SQL => sql`instr(${text}, ${sql.placeholder('search')})`
