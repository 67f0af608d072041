import { and, asc, count, desc, eq, getTableColumns, inArray, is, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import type { Transaction } from './database.ts'
import type { OwnedTable } from './prepared.ts'
import { listCounts } from './tables.ts'
import { APART, distanceOf, nearerEnd, type Place, type Span, Waypoints } from './waypoints.ts'

export interface ListOptions<Table extends OwnedTable, Filter extends string, Sort extends string> {
  table: Table
  /** What narrows the list: a column that equals what is asked for, or a condition on a placeholder of the filter's name. */
  filters: Readonly<Record<Filter, SQLiteColumn | SQL>>
  /** What it can be ordered by. The key stands last without being named, and tells apart what is left equal. */
  sorts: Readonly<Record<Sort, readonly (SQLiteColumn | SQL)[]>>
  /** Where its records are counted as they come, go and change, if they are. */
  counted?: Counted<NoInfer<Filter>, NoInfer<Sort>>
  /** A filter that no index helps: all that others leave is looked at. */
  scanned?: NoInfer<Filter>
}

interface Counted<Filter extends string, Sort extends string> {
  /** The name of the list in `list_counts`. */
  as: string
  /** The column there that a filter compares. */
  by: Partial<Record<Filter, 'part' | 'currencyId'>>
  /** The order of creation, whose intrusions are counted. */
  created: Sort
}

/** What of a list is asked for. */
export interface Slice<Filter extends string, Sort extends string> {
  /** Values by filter; undefined where the list is not narrowed by it. */
  filters: Readonly<Record<Filter, string | number | undefined>>
  sort: Sort
  direction: 'ASC' | 'DESC'
  limit: number
  offset: number
}

type Values = Record<string, string | number>
type Key = string | number

/** A statement of one shape, which takes its values by name. */
interface Statement<Row> {
  all: (values: Values) => Row[]
}

/** What matches, by a name that statements are kept by. */
interface Matching {
  name: string
  /** Made with the statement: building it for each page would cost as much as asking. */
  condition: () => SQL | undefined
  values: Values
}

/** One connection keeps so many statements of a list: whoever tries every combination must not fill the memory. */
const STATEMENTS_MAX = 64
/** So many orders of a list have their waypoints, for all clients together. */
const ORDERS_MAX = 32
/** So few records that a search has found are put in order by themselves; an index is walked for more. */
const FEW = 1_000

/** A list that may grow without end: counted and paged through without reading what is not shown (decision 0019). */
export class List<Table extends OwnedTable, Filter extends string, Sort extends string> {
  readonly #options: ListOptions<Table, Filter, Sort>
  readonly #statements = new WeakMap<Transaction, LRUCache<string, Statement<unknown>>>()
  readonly #waypoints = new WeakMap<Transaction, LRUCache<string, Waypoints>>()

  constructor(options: ListOptions<Table, Filter, Sort>) {
    this.#options = options
  }

  /** One page of what a client has, and how many records match in all. */
  page(
    query: Transaction,
    clientId: number,
    slice: Slice<Filter, Sort>,
  ): { rows: Table['$inferSelect'][]; totalCount: number } {
    const { filters, sort, direction, limit, offset } = slice
    const given = (Object.keys(filters) as Filter[]).filter((name) => filters[name] !== undefined)
    const matching = this.#matching(clientId, given, filters as Values)
    const found = this.#fewFound(query, given, matching)
    const { totalCount, version } = found ? { totalCount: found.length } : this.#count(query, given, matching, sort)
    const shown = Math.min(limit, totalCount - offset)
    if (shown <= 0) return { rows: [], totalCount }
    const first = direction === 'ASC' ? offset : totalCount - offset - shown
    const span = { first, after: first + shown, totalCount }
    const rows = found
      ? this.#rows(query, this.#among(found), slice, span, nearerEnd(span))
      : this.#rowsFromNearest(query, matching, slice, span, version)
    return { rows, totalCount }
  }

  #matching(clientId: number, given: readonly Filter[], values: Values): Matching {
    const { table, filters } = this.#options
    const conditionOf = (name: Filter) => {
      const filter = filters[name]
      return is(filter, SQLiteColumn) ? eq(filter, sql.placeholder(name)) : filter
    }
    const condition = () => and(eq(table.clientId, sql.placeholder('clientId')), ...given.map(conditionOf))
    return { name: given.join(), condition, values: { ...values, clientId } }
  }

  #among(keys: readonly Key[]): Matching {
    const { id } = this.#options.table
    const condition = () => sql`${id} IN (SELECT value FROM json_each(${sql.placeholder('keys')}))`
    return { name: 'among', condition, values: { keys: JSON.stringify(keys) } }
  }

  /** The keys of all that a search finds, when it searches and they are few. */
  #fewFound(query: Transaction, given: readonly Filter[], { name, condition, values }: Matching): Key[] | undefined {
    const { table, scanned } = this.#options
    if (scanned === undefined || !given.includes(scanned)) return undefined
    const found = this.#statement<{ id: Key }>(query, `found ${name}`, () =>
      query
        .select({ id: table.id })
        .from(table as SQLiteTable)
        .where(condition())
        .limit(FEW + 1)
        .prepare(),
    ).all(values)
    return found.length <= FEW ? found.map(({ id }) => id) : undefined
  }

  /**
   * How many records match, and, where they are counted as they change, a version: another one as soon as one of them
   * may stand elsewhere in the order.
   */
  #count(
    query: Transaction,
    given: readonly Filter[],
    { name, condition, values }: Matching,
    sort: Sort,
  ): { totalCount: number; version?: string } {
    const { table, counted } = this.#options
    if (counted && given.every((filter) => counted.by[filter])) {
      const { total, changes, intrusions } = this.#counted(query, counted, given, values)
      const isInOrderOfCreation = sort === counted.created && given.length === 0
      return { totalCount: total, version: isInOrderOfCreation ? `intrusions ${intrusions}` : `changes ${changes}` }
    }
    const [counting] = this.#statement<{ total: number }>(query, `matching ${name}`, () =>
      query
        .select({ total: count() })
        .from(table as SQLiteTable)
        .where(condition())
        .prepare(),
    ).all(values)
    return { totalCount: counting?.total ?? 0 }
  }

  #counted(query: Transaction, { as, by }: Counted<Filter, Sort>, given: readonly Filter[], values: Values) {
    const sumOf = (column: SQLWrapper) => sql<number>`coalesce(sum(${column}), 0)`
    const [sums] = this.#statement<{ total: number; changes: number; intrusions: number }>(
      query,
      `counted ${given}`,
      () => {
        const isGiven = and(...given.map((filter) => eq(listCounts[by[filter] ?? 'part'], sql.placeholder(filter))))
        return query
          .select({
            total: sumOf(isGiven ? sql`iif(${isGiven}, ${listCounts.count}, 0)` : listCounts.count),
            changes: sumOf(listCounts.changes),
            intrusions: sumOf(listCounts.intrusions),
          })
          .from(listCounts)
          .where(and(eq(listCounts.list, as), eq(listCounts.clientId, sql.placeholder('clientId'))))
          .prepare()
      },
    ).all(values)
    return sums ?? { total: 0, changes: 0, intrusions: 0 }
  }

  /** The rows of a page, from the nearest place that is known; places far from all others become known. */
  #rowsFromNearest(
    query: Transaction,
    matching: Matching,
    slice: Slice<Filter, Sort>,
    span: Span,
    version: string | undefined,
  ): Table['$inferSelect'][] {
    const end = nearerEnd(span)
    const columns = distanceOf(end, span) < APART ? undefined : this.#keyColumns(slice.sort)
    if (version === undefined || columns === undefined) return this.#rows(query, matching, slice, span, end)
    const order = `${slice.sort} ${JSON.stringify(matching.values)}`
    const waypoints = kept(this.#waypoints, query, ORDERS_MAX, order, () => new Waypoints())
    const from = waypoints.nearest(version, span)
    const rows = this.#rows(query, matching, slice, span, from)
    const least = slice.direction === 'ASC' ? rows[0] : rows.at(-1)
    if (least && distanceOf(from, span) >= APART) {
      waypoints.note({ rank: span.first, key: columns.map((name) => (least as Values)[name] as Key) })
    }
    return rows
  }

  /** The members of a row that its order compares; undefined where some of them are computed, or may be null. */
  #keyColumns(sort: Sort): string[] | undefined {
    const columns = Object.entries(getTableColumns(this.#options.table))
    const names = this.#orderOf(sort).map(
      (wanted) => columns.find(([, column]) => column === wanted && column.notNull)?.[0],
    )
    return names.every((name) => name !== undefined) ? names : undefined
  }

  #orderOf(sort: Sort): (SQLiteColumn | SQL)[] {
    return [...this.#options.sorts[sort], this.#options.table.id]
  }

  /**
   * The rows of a page. What stands between them and a place is passed over in the index alone: a row is read only to be
   * shown.
   */
  #rows(
    query: Transaction,
    { name, condition, values }: Matching,
    { sort, direction }: Slice<Filter, Sort>,
    span: Span,
    from: Place,
  ): Table['$inferSelect'][] {
    const { table } = this.#options
    const isUpward = from.rank <= span.first
    const key = Object.fromEntries((from.key ?? []).map((value, index) => [`key${index}`, value]))
    const shape = `page ${name} ${sort} ${direction} ${isUpward} ${from.key !== undefined}`
    const statement = this.#statement<Table['$inferSelect']>(query, shape, () => {
      const order = this.#orderOf(sort)
      const ordered = (isAscending: boolean) => order.map((column) => (isAscending ? asc(column) : desc(column)))
      const shown = query
        .select({ id: table.id })
        .from(table as SQLiteTable)
        .where(from.key ? and(condition(), beyond(order, isUpward)) : condition())
        .orderBy(...ordered(isUpward))
        .limit(sql.placeholder('shown'))
        .offset(sql.placeholder('passed'))
      return query
        .select()
        .from(table as SQLiteTable)
        .where(inArray(table.id, shown))
        .orderBy(...ordered(direction === 'ASC'))
        .prepare()
    })
    return statement.all({ ...values, ...key, shown: span.after - span.first, passed: distanceOf(from, span) })
  }

  /** The statement of a shape, made when it is first needed: building one costs more than asking it. */
  #statement<Row>(query: Transaction, shape: string, make: () => Statement<unknown>): Statement<Row> {
    return kept(this.#statements, query, STATEMENTS_MAX, shape, make) as Statement<Row>
  }
}

/** That a record stands where the placeholders `key0`, `key1` and so on say, or after it; or before it. */
const beyond = (order: readonly (SQLiteColumn | SQL)[], isUpward: boolean): SQL => {
  const columns = sql.join([...order], sql`, `)
  const key = sql.join(
    order.map((_, index) => sql.placeholder(`key${index}`)),
    sql`, `,
  )
  return isUpward ? sql`(${columns}) >= (${key})` : sql`(${columns}) < (${key})`
}

/** What is kept for a connection by name, made when it is first asked for; the longest unasked makes room. */
const kept = <Value extends object>(
  byConnection: WeakMap<Transaction, LRUCache<string, Value>>,
  query: Transaction,
  max: number,
  name: string,
  make: () => Value,
): Value => {
  const own = byConnection.get(query) ?? new LRUCache<string, Value>({ max })
  byConnection.set(query, own)
  const known = own.get(name) ?? make()
  own.set(name, known)
  return known
}
