import {
  and,
  asc,
  count,
  desc,
  eq,
  fillPlaceholders,
  getTableColumns,
  is,
  SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import { searchForm } from '../kernel/lower-case.ts'
import { connectionOf, type Query } from './database.ts'
import { isGiven, type OwnedTable, placeholderOfLimit } from './prepared.ts'

interface ListOptions<Table extends OwnedTable, Filter extends string, Sort extends string> {
  table: Table
  /** A column is compared; an SQL condition has a placeholder of its name. */
  filters: Readonly<Record<Filter, SQLiteColumn | SQL>>
  /** The columns that each order compares before the id. */
  sorts: Readonly<Record<Sort, readonly (SQLiteColumn | SQL)[]>>
}

/** A row without its booleans: SQLite returns them as numbers, and no list shows one. */
type Row<Values> = { [Name in keyof Values as boolean extends Values[Name] ? never : Name]: Values[Name] }

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

/** A list reads a page of ids and a count along an index, then only the rows of the page (decision 120). */
export class List<Table extends OwnedTable, Filter extends string, Sort extends string> {
  readonly #statements = new WeakMap<Query, LRUCache<string, ReturnType<typeof this.prepare>>>()

  constructor(private readonly options: ListOptions<Table, Filter, Sort>) {}

  /** A page with an entry for each row, and the number of matching records. */
  page<Entry>(
    { world, client }: ListReader,
    { filters, sort, direction, ...place }: Slice<Filter, Sort>,
    wire: (row: Row<Table['$inferSelect']>) => Entry,
  ) {
    const filterNames = (Object.keys(filters) as Filter[]).filter((name) => filters[name] !== undefined)
    const { total, rowsOf } = this.#prepared(world.db.query, filterNames, sort, direction)
    const values = { ...filters, ...place, clientId: client.id }
    const entries = rowsOf(values).map(wire)
    const isLast = entries.length < place.limit && (entries.length > 0 || place.offset === 0)
    const totalCount = isLast ? place.offset + entries.length : (total.all(values)[0]?.count ?? 0)
    return { entries, totalCount }
  }

  #prepared(query: Query, filterNames: readonly Filter[], sort: Sort, direction: 'ASC' | 'DESC') {
    const statementsByName = this.#statements.getOrInsertComputed(query, () => new LRUCache({ max: STATEMENTS_MAX }))
    const name = [...filterNames, sort, direction].join()
    const statements = statementsByName.get(name) ?? this.prepare(query, filterNames, sort, direction)
    statementsByName.set(name, statements)
    return statements
  }

  private prepare(query: Query, filterNames: readonly Filter[], sort: Sort, direction: 'ASC' | 'DESC') {
    const table: OwnedTable = this.options.table
    const isOfClient = isGiven(table.clientId, 'clientId')
    const matches = and(isOfClient, ...filterNames.map((name) => this.#conditionOf(name)))
    const page = query
      .select({ id: table.id })
      .from(table)
      .where(matches)
      .orderBy(...[...this.options.sorts[sort], table.id].map(direction === 'ASC' ? asc : desc))
      .limit(placeholderOfLimit('limit'))
      .offset(sql.placeholder('offset'))
      .as('page')
    const columns = Object.entries(getTableColumns(table)).filter(([, { dataType }]) => dataType !== 'boolean')
    const named = Object.fromEntries(columns.map(([name, column]) => [name, sql`${column}`.as(name)]))
    // A cross join keeps the order of its first table.
    const rows = query.select(named).from(page).crossJoin(table).where(eq(table.id, page.id)).toSQL()
    // The rows are read with the names of SQLite: drizzle's mapping takes twice as long.
    const statement = connectionOf(query).prepare<Row<Table['$inferSelect']>, never[]>(rows.sql)
    const rowsOf = (values: object) => statement.all(...(fillPlaceholders(rows.params, { ...values }) as never[]))
    return { total: query.select({ count: count() }).from(table).where(matches).prepare(), rowsOf }
  }

  #conditionOf(name: Filter): SQL {
    const filter: SQLiteColumn | SQL = this.options.filters[name]
    return is(filter, SQL) ? filter : isGiven(filter, name)
  }
}

/** Neither texts nor search terms contain it: they are in lower case. NUL would end the text where other programs read it. */
const SEPARATOR = 'A'

/** The form of texts that searches compare (contract C7). */
export const searchText = (...texts: (string | null)[]): string =>
  texts.map((text) => searchForm(text ?? '')).join(SEPARATOR)

export const contains = (text: SQLWrapper): SQL => sql`instr(${text}, ${sql.placeholder('search')})`
