import { and, asc, count, desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import type { Transaction } from './database.ts'
import { listCounts } from './tables.ts'

/** A table whose records belong to clients. */
type OwnedTable = SQLiteTable & { id: SQLiteColumn; clientId: SQLiteColumn }

export interface ListOptions<Table extends OwnedTable, Filter extends string, Sort extends string> {
  table: Table
  /** What narrows the list: each a condition on a placeholder of the same name. */
  filters: Readonly<Record<Filter, SQL>>
  /** What it can be ordered by. The key stands last without being named, and tells apart what is left equal. */
  sorts: Readonly<Record<Sort, readonly (SQLiteColumn | SQL)[]>>
  /**
   * Of a list whose records are counted as they come, go and change: its name in `list_counts`, and the column there
   * that a filter compares.
   */
  counted?: { as: string; by: Partial<Record<NoInfer<Filter>, 'part' | 'currencyId'>> }
  /** A filter that no index helps: all that others leave is looked at. */
  scanned?: NoInfer<Filter>
}

/** That a key is among those of the placeholder `ids`, which takes them as a JSON list. */
const isAmong = (key: SQLiteColumn): SQL => sql`${key} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`

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
interface Prepared<Row> {
  all: (values: Values) => Row[]
}

/** One connection keeps so many statements of a list: a client that tries every combination must not fill the memory. */
const STATEMENTS_MAX = 64
/** So few records that a search has found are put in order by themselves; an index is walked for more. */
const FEW = 1_000

/** A list that may grow without end: counted and paged through without reading what is not shown (decision 0019). */
export class List<Table extends OwnedTable, Filter extends string, Sort extends string> {
  readonly #options: ListOptions<Table, Filter, Sort>
  readonly #statements = new WeakMap<Transaction, LRUCache<string, Prepared<unknown>>>()

  constructor(options: ListOptions<Table, Filter, Sort>) {
    this.#options = options
  }

  /** One page of what a client has, and how many records match in all. */
  page(
    query: Transaction,
    clientId: number,
    { filters, sort, direction, limit, offset }: Slice<Filter, Sort>,
  ): { rows: Table['$inferSelect'][]; totalCount: number } {
    const given = (Object.keys(filters) as Filter[]).filter((name) => filters[name] !== undefined)
    const values: Values = { clientId, ...(filters as Values) }
    const found = this.#fewFound(query, given, values)
    const totalCount = found?.length ?? this.#count(query, given, values)
    const shown = Math.min(limit, totalCount - offset)
    if (shown <= 0) return { rows: [], totalCount }
    const after = totalCount - offset - shown
    const fromEnd = after < offset
    const skipped = fromEnd ? after : offset
    const order = { sort, direction, fromEnd }
    const rows = found
      ? this.#rows(query, 'found', isAmong(this.#options.table.id), order).all({
          ids: JSON.stringify(found),
          shown,
          skipped,
        })
      : this.#rows(query, `${given}`, this.#condition(given), order).all({ ...values, shown, skipped })
    return { rows, totalCount }
  }

  #count(query: Transaction, given: readonly Filter[], values: Values): number {
    const { counted } = this.#options
    const isCounted = counted && given.every((name) => counted.by[name])
    const statement = isCounted ? this.#counted(query, counted, given) : this.#matching(query, given)
    return statement.all(values)[0]?.total ?? 0
  }

  #counted(
    query: Transaction,
    { as, by }: { as: string; by: Partial<Record<Filter, 'part' | 'currencyId'>> },
    given: readonly Filter[],
  ): Prepared<{ total: number }> {
    return this.#statement(query, `counted ${given}`, () =>
      query
        .select({ total: sql<number>`coalesce(sum(${listCounts.count}), 0)` })
        .from(listCounts)
        .where(
          and(
            eq(listCounts.list, as),
            eq(listCounts.clientId, sql.placeholder('clientId')),
            ...given.map((name) => eq(listCounts[by[name] ?? 'part'], sql.placeholder(name))),
          ),
        )
        .prepare(),
    )
  }

  #matching(query: Transaction, given: readonly Filter[]): Prepared<{ total: number }> {
    return this.#statement(query, `matching ${given}`, () =>
      query
        .select({ total: count() })
        .from(this.#options.table as SQLiteTable)
        .where(this.#condition(given))
        .prepare(),
    )
  }

  /** The keys of all that a search finds, when it searches and they are few. */
  #fewFound(query: Transaction, given: readonly Filter[], values: Values): (string | number)[] | undefined {
    const { table, scanned } = this.#options
    if (scanned === undefined || !given.includes(scanned)) return undefined
    const found = this.#statement<{ id: string | number }>(query, `found ${given}`, () =>
      query
        .select({ id: table.id })
        .from(table as SQLiteTable)
        .where(this.#condition(given))
        .limit(FEW + 1)
        .prepare(),
    ).all(values)
    return found.length <= FEW ? found.map(({ id }) => id) : undefined
  }

  /**
   * The rows of a page. What comes before it is passed over in the index alone, and from the end that is nearer: a row is
   * read only to be shown.
   */
  #rows(
    query: Transaction,
    name: string,
    condition: SQL | undefined,
    { sort, direction, fromEnd }: { sort: Sort; direction: 'ASC' | 'DESC'; fromEnd: boolean },
  ): Prepared<Table['$inferSelect']> {
    const { table, sorts } = this.#options
    return this.#statement(query, `page ${name} ${sort} ${direction} ${fromEnd}`, () => {
      const columns = [...sorts[sort], table.id]
      const ordered = (ascending: boolean) => columns.map((column) => (ascending ? asc(column) : desc(column)))
      const shown = query
        .select({ id: table.id })
        .from(table as SQLiteTable)
        .where(condition)
        .orderBy(...ordered((direction === 'ASC') !== fromEnd))
        .limit(sql.placeholder('shown'))
        .offset(sql.placeholder('skipped'))
      return query
        .select()
        .from(table as SQLiteTable)
        .where(inArray(table.id, shown))
        .orderBy(...ordered(direction === 'ASC'))
        .prepare()
    })
  }

  #condition(given: readonly Filter[]): SQL | undefined {
    const { table, filters } = this.#options
    return and(eq(table.clientId, sql.placeholder('clientId')), ...given.map((name) => filters[name]))
  }

  /** The statement of a shape, made when it is first needed: building one costs more than asking it. */
  #statement<Row>(query: Transaction, shape: string, make: () => Prepared<unknown>): Prepared<Row> {
    const kept = this.#statements.get(query) ?? new LRUCache({ max: STATEMENTS_MAX })
    this.#statements.set(query, kept)
    const known = kept.get(shape) ?? make()
    kept.set(shape, known)
    return known as Prepared<Row>
  }
}
