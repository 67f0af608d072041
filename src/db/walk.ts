import { and, asc, desc, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Query } from './database.ts'
import type { OwnedTable } from './prepared.ts'

export type Key = string | number

interface Statement<Row> {
  all: (values: Record<string, Key>) => Row[]
}

/** The names of values that a column is at least and at most. */
export interface Bounds {
  least: string
  most: string
}

interface WalkOptions {
  table: OwnedTable
  /** What the index of the walk compares behind its conditions, the key last; none of it may be null. */
  order: readonly (SQLiteColumn | SQL)[]
  isUpward: boolean
  /** Conditions that the index answers. */
  along: () => SQL | undefined
  /** Conditions that are asked of each record passed over, and hidden from whoever chooses an index. */
  others: () => SQL | undefined
  values: Record<string, Key>
  /** The values among them that bound the first column of the order. */
  bounds?: Bounds | undefined
  /** Keeps the statement of a name. */
  statement: (name: string, make: (query: Query) => Statement<unknown>) => Statement<unknown>
}

/** How many entries of the index are passed over at a time: 1 to 4 ms, whatever is found among them. */
const STRIDE = 4_000

/** Passes over what a client has along an index, a stride at a time: neither what is found nor what is not makes one longer. */
export class Walk {
  #from: Record<string, Key> | undefined
  isDone = false

  constructor(private readonly options: WalkOptions) {}

  /** The keys of what matches in the strides that follow, until it is told that its time is over. */
  take(isOver: () => boolean): Key[] {
    const keys: Key[] = []
    do {
      const to = this.#boundary()
      keys.push(...this.#between(to))
      this.#from = to
      this.isDone = to === undefined
    } while (!this.isDone && !isOver())
    return keys
  }

  /** The last record of the next stride, or undefined when less than one is left. */
  #boundary(): Record<string, Key> | undefined {
    const { table, order, along, statement } = this.options
    const from = this.#from
    const [row] = statement(`boundary ${from !== undefined}`, (query) =>
      query
        .select(Object.fromEntries(order.map((column, index) => [`at${index}`, sql<Key>`${column}`])))
        .from(table as SQLiteTable)
        .where(and(along(), from && this.#stands('beyond', 'from')))
        .orderBy(...this.#ordered())
        .limit(1)
        .offset(STRIDE - 1)
        .prepare(),
    ).all(this.#values(undefined)) as Record<string, Key>[]
    return row
  }

  #between(to: Record<string, Key> | undefined): Key[] {
    const { table, along, others, statement } = this.options
    const from = this.#from
    const rows = statement(`between ${from !== undefined} ${to !== undefined}`, (query) =>
      query
        .select({ id: table.id })
        .from(table as SQLiteTable)
        .where(and(along(), from && this.#stands('beyond', 'from'), to && this.#stands('up to', 'to'), others()))
        .orderBy(...this.#ordered())
        .prepare(),
    ).all(this.#values(to)) as { id: Key }[]
    return rows.map(({ id }) => id)
  }

  /**
   * The bounds follow the walk: of two limits on one side the index would be entered at the wider one, and each stride
   * would pass over all that came before it.
   */
  #values(to: Record<string, Key> | undefined): Record<string, Key> {
    const { values, bounds, isUpward } = this.options
    const from = this.#from
    const all = { ...values, ...named('from', from), ...named('to', to) }
    if (!bounds) return all
    const [near, far] = isUpward ? [bounds.least, bounds.most] : [bounds.most, bounds.least]
    if (from?.at0 !== undefined && near in values) all[near] = from.at0
    if (to?.at0 !== undefined && far in values) all[far] = to.at0
    return all
  }

  #ordered(): SQL[] {
    return this.options.order.map((column) => (this.options.isUpward ? asc(column) : desc(column)))
  }

  /** Where a record stands to a place whose columns are placeholders, in the direction of the walk. */
  #stands(how: 'beyond' | 'up to', place: 'from' | 'to'): SQL {
    const { order, isUpward } = this.options
    const columns = sql.join([...order], sql`, `)
    const key = sql.join(
      order.map((_, index) => sql.placeholder(`${place}${index}`)),
      sql`, `,
    )
    if (how === 'beyond') return isUpward ? sql`(${columns}) > (${key})` : sql`(${columns}) < (${key})`
    return isUpward ? sql`(${columns}) <= (${key})` : sql`(${columns}) >= (${key})`
  }
}

const named = (place: string, row: Record<string, Key> | undefined): Record<string, Key> =>
  Object.fromEntries(Object.values(row ?? {}).map((value, index) => [`${place}${index}`, value]))
