import { and, asc, count, desc, eq, inArray, is, SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import type { Query } from './database.ts'
import type { OwnedTable } from './prepared.ts'

interface ListOptions<Table extends OwnedTable, Filter extends string, Sort extends string> {
  table: Table
  /** A column is compared; an SQL condition has a placeholder of its name. */
  filters: Readonly<Record<Filter, SQLiteColumn | SQL>>
  /** What each order compares before the id. */
  sorts: Readonly<Record<Sort, readonly (SQLiteColumn | SQL)[]>>
}

/** Whose records are listed: a session, for instance. */
interface Reader {
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

/** For each connection: a client that tries every combination must not fill the memory. */
const STATEMENTS_MAX = 64

/** A list: a count and a page of ids, both along an index, and then the rows of the page alone (decision 120). */
export class List<Table extends OwnedTable, Filter extends string, Sort extends string> {
  readonly #statements = new WeakMap<Query, LRUCache<string, ReturnType<typeof this.prepare>>>()

  constructor(private readonly options: ListOptions<Table, Filter, Sort>) {}

  /** A page of what is made of each row, and how many records match. */
  page<Entry>(
    { world, client }: Reader,
    { filters, sort, direction, ...place }: Slice<Filter, Sort>,
    wire: (row: Table['$inferSelect']) => Entry,
  ) {
    const given = (Object.keys(filters) as Filter[]).filter((name) => filters[name] !== undefined)
    const { total, rows } = this.#prepared(world.db.query, given, sort, direction)
    const values = { ...filters, ...place, clientId: client.id }
    return { entries: rows.all(values).map(wire), totalCount: total.all(values)[0]?.count ?? 0 }
  }

  #prepared(query: Query, given: readonly Filter[], sort: Sort, direction: 'ASC' | 'DESC') {
    const own = this.#statements.get(query) ?? new LRUCache({ max: STATEMENTS_MAX })
    this.#statements.set(query, own)
    const name = [...given, sort, direction].join()
    const statements = own.get(name) ?? this.prepare(query, given, sort, direction)
    own.set(name, statements)
    return statements
  }

  private prepare(query: Query, given: readonly Filter[], sort: Sort, direction: 'ASC' | 'DESC') {
    const table: OwnedTable = this.options.table
    const own = eq(table.clientId, sql.placeholder('clientId'))
    const wanted = and(own, ...given.map((name) => this.#conditionOf(name)))
    const order = [...this.options.sorts[sort], table.id].map(direction === 'ASC' ? asc : desc)
    const ids = query
      .select({ id: table.id })
      .from(table)
      .where(wanted)
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .offset(sql.placeholder('offset'))
    const page = query
      .select()
      .from(table as SQLiteTable)
      .where(inArray(table.id, ids))
      .orderBy(...order)
    return { total: query.select({ count: count() }).from(table).where(wanted).prepare(), rows: page.prepare() }
  }

  #conditionOf(name: Filter): SQL {
    const filter: SQLiteColumn | SQL = this.options.filters[name]
    return is(filter, SQL) ? filter : eq(filter, sql.placeholder(name))
  }
}
