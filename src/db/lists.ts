import { and, asc, count, desc, eq, getTableColumns, inArray, is, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import { turns } from '../kernel/turns.ts'
import type { Query } from './database.ts'
import type { OwnedTable } from './prepared.ts'
import { listCounts } from './tables.ts'
import { type Bounds, type Key, Walk } from './walk.ts'
import { APART, distanceOf, nearerEnd, type Place, type Span, Waypoints } from './waypoints.ts'

export interface ListOptions<Table extends OwnedTable, Filter extends string, Sort extends string> {
  table: Table
  /** What narrows the list: a column that equals what is asked for, or a condition on a placeholder of the filter's name. */
  filters: Readonly<Record<Filter, SQLiteColumn | SQL>>
  /** What it can be ordered by. The key stands last without being named, and tells apart what is left equal. */
  sorts: Readonly<Record<Sort, readonly (SQLiteColumn | SQL)[]>>
  /** Where its records are counted as they come, go and change, if they are. */
  counted?: Counted<NoInfer<Filter>>
  /** The order of creation. What is searched is passed over in it, along the index that holds what a search reads. */
  created: NoInfer<Sort>
  /** Filters that have an index of their own, the order in which it runs, and those that bound what it orders by. */
  paths?: readonly { filters: readonly NoInfer<Filter>[]; sort: NoInfer<Sort>; bounds?: Bounds }[]
}

interface Counted<Filter extends string> {
  /** The name of the list in `list_counts`. */
  as: string
  /** The column there that a filter compares. */
  by: Partial<Record<Filter, 'part' | 'currencyId'>>
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
/** So many rows of a page are read in one slice. */
const PART = 1_000
/** How often a page is read until the list has rested meanwhile. */
const ATTEMPTS_MAX = 3

/** A list that may grow without end: counted and paged through without reading what is not shown (decision 0019). */
export class List<Table extends OwnedTable, Filter extends string, Sort extends string> {
  readonly #options: ListOptions<Table, Filter, Sort>
  readonly #statements = new WeakMap<Query, LRUCache<string, Statement<unknown>>>()
  readonly #waypoints = new WeakMap<Query, LRUCache<string, Waypoints>>()

  constructor(options: ListOptions<Table, Filter, Sort>) {
    this.#options = options
  }

  /**
   * One page of what a client has, and how many records match in all. What nobody has counted is passed over in slices,
   * and once more if it has changed meanwhile: a page shows one state of the list. A list that never rests is answered as
   * it was passed over.
   */
  async page(
    connection: () => Query,
    clientId: number,
    slice: Slice<Filter, Sort>,
  ): Promise<{ rows: Table['$inferSelect'][]; totalCount: number }> {
    const given = (Object.keys(slice.filters) as Filter[]).filter((name) => slice.filters[name] !== undefined)
    const { counted } = this.#options
    if (!counted) return this.#countedPage(connection(), clientId, slice, given)
    const isCounted = given.every((filter) => counted.by[filter])
    if (isCounted && slice.limit <= PART) return this.#countedPage(connection(), clientId, slice, given)
    const changes = () => this.#counted(connection(), counted, [], { clientId }).changes
    for (let attempt = 1; ; attempt++) {
      const before = changes()
      const page = isCounted
        ? await this.#countedInParts(connection, clientId, slice, given)
        : await this.#searched(connection, clientId, slice, given)
      if (attempt === ATTEMPTS_MAX || changes() === before) return page
    }
  }

  #countedPage(
    query: Query,
    clientId: number,
    slice: Slice<Filter, Sort>,
    given: readonly Filter[],
  ): { rows: Table['$inferSelect'][]; totalCount: number } {
    const { filters, sort, direction, limit, offset } = slice
    const matching = this.#matching(clientId, given, filters as Values)
    const { totalCount, version } = this.#count(query, given, matching, sort)
    const shown = Math.min(limit, totalCount - offset)
    if (shown <= 0) return { rows: [], totalCount }
    const first = direction === 'ASC' ? offset : totalCount - offset - shown
    const span = { first, after: first + shown, totalCount }
    return { rows: this.#rowsFromNearest(query, matching, slice, span, version), totalCount }
  }

  /** A page of many rows, a part of them in each slice. */
  async #countedInParts(
    connection: () => Query,
    clientId: number,
    { limit, offset, ...slice }: Slice<Filter, Sort>,
    given: readonly Filter[],
  ): Promise<{ rows: Table['$inferSelect'][]; totalCount: number }> {
    const rows: Table['$inferSelect'][] = []
    for (;;) {
      const part = { ...slice, offset: offset + rows.length, limit: Math.min(PART, limit - rows.length) }
      const page = await turns.take(ownerOf(connection(), clientId), () =>
        this.#countedPage(connection(), clientId, part, given),
      )
      rows.push(...page.rows)
      if (page.rows.length < PART || rows.length >= limit) return { rows, totalCount: page.totalCount }
    }
  }

  /** A page of what is counted nowhere: all that may match is passed over, and again along the order if it is much. */
  async #searched(
    connection: () => Query,
    clientId: number,
    slice: Slice<Filter, Sort>,
    given: readonly Filter[],
  ): Promise<{ rows: Table['$inferSelect'][]; totalCount: number }> {
    const { direction, limit, offset } = slice
    const path = this.#options.paths?.find(({ filters }) => filters.some((filter) => given.includes(filter)))
    const survey = this.#walk(connection, clientId, slice, given, path?.sort ?? this.#options.created, true)
    const few: Key[] = []
    let totalCount = 0
    for await (const keys of survey) {
      totalCount += keys.length
      if (few.length <= FEW) few.push(...keys.slice(0, FEW + 1 - few.length))
    }
    const shown = Math.min(limit, totalCount - offset)
    if (shown <= 0) return { rows: [], totalCount }
    const first = direction === 'ASC' ? offset : totalCount - offset - shown
    const span = { first, after: first + shown, totalCount }
    if (totalCount <= FEW) {
      return { rows: this.#rows(connection(), this.#among(few), slice, span, nearerEnd(span)), totalCount }
    }
    if (!this.#keyColumns(slice.sort)) {
      const matching = this.#matching(clientId, given, slice.filters as Values)
      return { rows: this.#rows(connection(), matching, slice, span, nearerEnd(span)), totalCount }
    }
    const keys = await this.#keysOf(connection, clientId, slice, given, span)
    const rows: Table['$inferSelect'][] = []
    for (let at = 0; at < keys.length; at += PART) {
      const part = keys.slice(at, at + PART)
      const whole = { first: 0, after: part.length, totalCount: part.length }
      const read = () => this.#rows(connection(), this.#among(part), slice, whole, nearerEnd(whole))
      rows.push(...(await turns.take(ownerOf(connection(), clientId), read)))
    }
    return { rows, totalCount }
  }

  /** The keys of a span in the order that is shown, reached from the nearer end. */
  async #keysOf(
    connection: () => Query,
    clientId: number,
    slice: Slice<Filter, Sort>,
    given: readonly Filter[],
    span: Span,
  ): Promise<Key[]> {
    const isUpward = nearerEnd(span).rank === 0
    const passed = isUpward ? span.first : span.totalCount - span.after
    const shown = span.after - span.first
    const keys: Key[] = []
    let seen = 0
    for await (const some of this.#walk(connection, clientId, slice, given, slice.sort, isUpward)) {
      const start = Math.max(0, passed - seen)
      keys.push(...some.slice(start, start + shown - keys.length))
      seen += some.length
      if (keys.length === shown) break
    }
    return isUpward === (slice.direction === 'ASC') ? keys : keys.reverse()
  }

  /** The keys of all that match along an order, some in each slice, whatever is between them. */
  async *#walk(
    connection: () => Query,
    clientId: number,
    slice: Slice<Filter, Sort>,
    given: readonly Filter[],
    sort: Sort,
    isUpward: boolean,
  ): AsyncGenerator<Key[]> {
    const { table, paths = [] } = this.#options
    const path = paths.find((each) => each.sort === sort && each.filters.some((filter) => given.includes(filter)))
    const along = given.filter((filter) => path?.filters.includes(filter))
    const others = given.filter((filter) => !along.includes(filter))
    const steps = new Walk({
      table,
      order: this.#orderOf(sort),
      isUpward,
      along: () =>
        and(eq(table.clientId, sql.placeholder('clientId')), ...along.map((name) => this.#conditionOf(name))),
      others: () => and(...others.map((name) => sql`(${this.#conditionOf(name)}) IS TRUE`)),
      values: { ...(slice.filters as Values), clientId },
      bounds: path?.bounds,
      statement: (name, make) =>
        this.#statement(connection(), `${name} ${given} ${sort} ${isUpward}`, () => make(connection())),
    })
    while (!steps.isDone) {
      yield await turns.take(ownerOf(connection(), clientId), (isOver) => steps.take(isOver))
    }
  }

  #matching(clientId: number, given: readonly Filter[], values: Values): Matching {
    const condition = () =>
      and(
        eq(this.#options.table.clientId, sql.placeholder('clientId')),
        ...given.map((name) => this.#conditionOf(name)),
      )
    return { name: given.join(), condition, values: { ...values, clientId } }
  }

  #conditionOf(name: Filter): SQL {
    const filter = this.#options.filters[name] as SQLiteColumn | SQL
    return is(filter, SQLiteColumn) ? eq(filter, sql.placeholder(name)) : (filter as SQL)
  }

  #among(keys: readonly Key[]): Matching {
    const { id } = this.#options.table
    const condition = () => sql`${id} IN (SELECT value FROM json_each(${sql.placeholder('keys')}))`
    return { name: 'among', condition, values: { keys: JSON.stringify(keys) } }
  }

  /**
   * How many records match, and, where they are counted as they change, a version: another one as soon as one of them
   * may stand elsewhere in the order.
   */
  #count(
    query: Query,
    given: readonly Filter[],
    { name, condition, values }: Matching,
    sort: Sort,
  ): { totalCount: number; version?: string } {
    const { table, counted, created } = this.#options
    if (counted && given.every((filter) => counted.by[filter])) {
      const { total, changes, intrusions } = this.#counted(query, counted, given, values)
      const isInOrderOfCreation = sort === created && given.length === 0
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

  #counted(query: Query, { as, by }: Counted<Filter>, given: readonly Filter[], values: Values) {
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
    query: Query,
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
    query: Query,
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
  #statement<Row>(query: Query, shape: string, make: () => Statement<unknown>): Statement<Row> {
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
  byConnection: WeakMap<Query, LRUCache<string, Value>>,
  query: Query,
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

const numbers = new WeakMap<Query, number>()
let lastNumber = 0

/** Whose turn it is: a client of one connection. */
const ownerOf = (query: Query, clientId: number): string => {
  const number = numbers.get(query) ?? ++lastNumber
  numbers.set(query, number)
  return `${number} ${clientId}`
}
