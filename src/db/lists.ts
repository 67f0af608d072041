import { and, asc, desc, eq, inArray, is, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { integer, primaryKey, SQLiteColumn, type SQLiteTable, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import type { Query } from './database.ts'
import { type PreparedQuery, planned } from './planned.ts'
import type { OwnedTable } from './prepared.ts'
import { finish, type Key, type Statement, type Values, walk } from './walk.ts'

/** Counts of records by part and currency: see the table in 0001_schema.sql. */
const listCounts = sqliteTable(
  'list_counts',
  {
    list: text('list').notNull(),
    clientId: integer('client_id').notNull(),
    part: text('part').notNull(),
    currencyId: integer('currency_id').notNull(),
    count: integer('count').notNull(),
  },
  ({ list, clientId, part, currencyId }) => [primaryKey({ columns: [list, clientId, part, currencyId] })],
)

interface ListOptions<Table extends OwnedTable, Filter extends string, Sort extends string> {
  table: Table
  /** A column has an index, in the order of creation. An SQL condition, on a placeholder of its name, has none. */
  filters: Readonly<Record<Filter, SQLiteColumn | SQL>>
  /** What each order compares before the id. Each has an index. */
  sorts: Readonly<Record<Sort, readonly (SQLiteColumn | SQL)[]>>
  /** The order of creation, whose index holds what conditions read. */
  created: NoInfer<Sort>
  /** The name of the list in `list_counts`, and the columns there that filters compare. */
  counted: { as: string; by: Partial<Record<NoInfer<Filter>, 'part' | 'currencyId'>> }
}

/** Whose records are listed: a session, for instance. */
interface Reader {
  world: { db: { query: Query } }
  client: { id: number }
  /** @throws DomainError unauthorized if the reader may no longer read */
  checkAgain: () => void
}

interface Slice<Filter extends string, Sort extends string> {
  /** Undefined does not narrow the list. */
  filters: Readonly<Record<Filter, string | number | undefined>>
  sort: Sort
  direction: 'ASC' | 'DESC'
  limit: number
  offset: number
}

interface ListPage<Table extends OwnedTable> {
  rows: Table['$inferSelect'][]
  /** Of all pages. */
  totalCount: number
}

interface Request<Filter extends string, Sort extends string> extends Omit<Slice<Filter, Sort>, 'filters'> {
  reader: Reader
  given: readonly Filter[]
  values: Values & { clientId: number }
}

/** For each connection: a client that tries every combination must not fill the memory. */
const STATEMENTS_MAX = 64
/** Up to this many matching records are sorted; beyond that, records are searched along the index of the order. */
const SORTED_MAX = 1_000

/** A list of any length. It is counted as it changes, and a page reads only its own rows (decision 0019). */
export class List<Table extends OwnedTable, Filter extends string, Sort extends string> {
  readonly #statements = new WeakMap<Query, LRUCache<string, Statement<unknown>>>()

  constructor(private readonly options: ListOptions<Table, Filter, Sort>) {}

  /**
   * A page of what is made of each row. The longest, of 10,000
   * transactions, is read in 20 ms.
   *
   * @throws DomainError unauthorized if the token of the reader has died meanwhile
   */
  async page<Entry>(reader: Reader, slice: Slice<Filter, Sort>, wire: (row: Table['$inferSelect']) => Entry) {
    const page = finish(this.#page(reader, slice, wire))
    reader.checkAgain()
    return page
  }

  *#page<Entry>(reader: Reader, slice: Slice<Filter, Sort>, wire: (row: Table['$inferSelect']) => Entry) {
    const { rows, totalCount } = yield* this.#read(reader, slice)
    return { entries: rows.map(wire), totalCount }
  }

  *#read(reader: Reader, { filters, ...slice }: Slice<Filter, Sort>): Generator<undefined, ListPage<Table>> {
    const given = (Object.keys(this.options.filters) as Filter[]).filter((filter) => filters[filter] !== undefined)
    const request = { ...slice, reader, given, values: { ...(filters as Values), clientId: reader.client.id } }
    const totalCount = this.#storedCount(request)
    if (totalCount === undefined) return yield* this.#searched(request)
    if (this.#hasIndex(request)) return { rows: this.#rowsAt(request, totalCount), totalCount }
    const { keys } = yield* this.#walk(request, { countsAll: false })
    return { rows: this.#rowsOf(request, keys), totalCount }
  }

  /** Whether an index holds all matching records, in the order of the list. */
  #hasIndex({ given: [first, ...others], sort }: Request<Filter, Sort>): boolean {
    return first === undefined || (others.length === 0 && this.#isTogether(first, sort))
  }

  /** Whether the records that match a filter stand together in an index, in the order of the list. */
  #isTogether(filter: Filter, sort: Sort): boolean {
    const { filters, sorts, created } = this.options
    return is(filters[filter], SQLiteColumn) && (sort === created || sorts[sort][0] === filters[filter])
  }

  /** Undefined if no count is stored for the filters. */
  #storedCount({ reader, given, values }: Request<Filter, Sort>): number | undefined {
    const { as, by } = this.options.counted
    if (!given.every((filter) => by[filter])) return undefined
    const statement = this.#statement<{ total: number }>(reader, `stored ${given}`, (query) => {
      const narrowed = given.map((filter) => eq(listCounts[by[filter] ?? 'part'], sql.placeholder(filter)))
      return query
        .select({ total: sql<number>`coalesce(sum(${listCounts.count}), 0)` })
        .from(listCounts)
        .where(and(eq(listCounts.list, as), eq(listCounts.clientId, sql.placeholder('clientId')), ...narrowed))
        .prepare()
    })
    return statement.all(values)[0]?.total
  }

  /** The rows of a page that an index holds, reached by OFFSET from the nearer end. */
  #rowsAt(request: Request<Filter, Sort>, totalCount: number): Table['$inferSelect'][] {
    const { reader, given, values, sort, direction, limit, offset } = request
    const { table } = this.options
    const shown = Math.min(limit, totalCount - offset)
    if (shown <= 0) return []
    const left = totalCount - offset - shown
    const isUpward = offset <= left === (direction === 'ASC')
    const passed = Math.min(offset, left)
    const name = `at ${given} ${sort} ${direction} ${isUpward}`
    const statement = this.#statement<Table['$inferSelect']>(reader, name, (query) =>
      query
        .select()
        .from(table as SQLiteTable)
        .where(inArray(table.id, this.#ids(query, request, isUpward)))
        .orderBy(...this.#ordered(sort, direction === 'ASC'))
        .prepare(),
    )
    return statement.all({ ...values, shown, passed })
  }

  #ids(query: Query, { given, sort }: Request<Filter, Sort>, isUpward: boolean) {
    const { table } = this.options
    return query
      .select({ id: sql<Key>`${table.id}` })
      .from(table as SQLiteTable)
      .where(this.#conditions(given))
      .orderBy(...this.#ordered(sort, isUpward))
      .limit(sql.placeholder('shown'))
      .offset(sql.placeholder('passed'))
  }

  /** A page of a list for which no count is stored: passes over everything that may match. */
  *#searched(request: Request<Filter, Sort>): Generator<undefined, ListPage<Table>> {
    const { created } = this.options
    const { sort, limit, offset } = request
    if (sort === created) {
      const { keys, count } = yield* this.#walk(request, { countsAll: true })
      return { rows: this.#rowsOf(request, keys), totalCount: count }
    }
    const all = { ...request, sort: created, offset: 0, limit: SORTED_MAX }
    const { keys, count: totalCount } = yield* this.#walk(all, { countsAll: true })
    if (totalCount <= SORTED_MAX) {
      return { rows: this.#rowsOf(request, keys).slice(offset, offset + limit), totalCount }
    }
    const shown = yield* this.#walk(request, { countsAll: false })
    return { rows: this.#rowsOf(request, shown.keys), totalCount }
  }

  /** The keys of a page along the index of its order, and how many records match. */
  *#walk(request: Request<Filter, Sort>, { countsAll }: { countsAll: boolean }) {
    const { reader, given, values, sort, direction, limit, offset } = request
    const { table, filters } = this.options
    const indexed = given.find((filter) => this.#isTogether(filter, sort))
    const asked = given.filter((filter) => filter !== indexed)
    const found = { count: 0, keys: [] as Key[] }
    for (const { part, order, condition } of this.#partsOf(sort, direction)) {
      if (!countsAll && found.keys.length === limit) break
      const { count, keys } = yield* walk({
        table,
        order: order.filter((column) => !indexed || column !== filters[indexed]),
        isUpward: direction === 'ASC',
        along: and(this.#conditions(indexed === undefined ? [] : [indexed]), condition),
        asked: and(...asked.map((filter) => this.#conditionOf(filter))),
        values,
        skip: Math.max(0, offset - found.count),
        take: limit - found.keys.length,
        countsAll,
        statement: (name, build) => this.#statement(reader, `${name} ${part} ${given} ${sort} ${direction}`, build),
      })
      found.count += count
      found.keys.push(...keys)
    }
    return found
  }

  /** Null in the first column of an order comes before all values, and cannot be compared with them. */
  #partsOf(sort: Sort, direction: 'ASC' | 'DESC') {
    const order = this.#orderOf(sort)
    const [first] = this.options.sorts[sort]
    if (!is(first, SQLiteColumn) || first.notNull) return [{ part: 'whole', order, condition: undefined }]
    const missing = { part: 'missing', order: [this.options.table.id], condition: isNull(first) }
    const present = { part: 'present', order, condition: isNotNull(first) }
    return direction === 'ASC' ? [missing, present] : [present, missing]
  }

  /** In the order of the list. */
  #rowsOf({ reader, sort, direction }: Request<Filter, Sort>, keys: readonly Key[]): Table['$inferSelect'][] {
    const { table } = this.options
    const statement = this.#statement<Table['$inferSelect']>(reader, `of ${sort} ${direction}`, (query) =>
      query
        .select()
        .from(table as SQLiteTable)
        .where(sql`${table.id} IN (SELECT value FROM json_each(${sql.placeholder('keys')}))`)
        .orderBy(...this.#ordered(sort, direction === 'ASC'))
        .prepare(),
    )
    return statement.all({ keys: JSON.stringify(keys) })
  }

  #conditions(given: readonly Filter[]): SQL | undefined {
    const own = eq(this.options.table.clientId, sql.placeholder('clientId'))
    return and(own, ...given.map((filter) => this.#conditionOf(filter)))
  }

  #conditionOf(name: Filter): SQL {
    const filter = this.options.filters[name] as SQLiteColumn | SQL
    return is(filter, SQLiteColumn) ? eq(filter, sql.placeholder(name)) : (filter as SQL)
  }

  #orderOf(sort: Sort): (SQLiteColumn | SQL)[] {
    return [...this.options.sorts[sort], this.options.table.id]
  }

  #ordered(sort: Sort, isUpward: boolean): SQL[] {
    return this.#orderOf(sort).map((column) => (isUpward ? asc(column) : desc(column)))
  }

  /**
   * Building a statement costs more than running it. The connection may be another one after each turn, because a world can
   * be suspended in between.
   */
  #statement<Row>(
    { world }: Reader,
    name: string,
    build: (query: Query) => Statement<Row> & PreparedQuery,
  ): Statement<Row> {
    const { query } = world.db
    const own = this.#statements.get(query) ?? new LRUCache<string, Statement<unknown>>({ max: STATEMENTS_MAX })
    this.#statements.set(query, own)
    const known = (own.get(name) as Statement<Row> | undefined) ?? planned(build(query))(query)
    own.set(name, known)
    return known
  }
}
