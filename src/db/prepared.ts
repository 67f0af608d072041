import { and, asc, count, eq, getTableColumns, isNotNull, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Query, Tx } from './database.ts'

/** The statements that most modules prepare, made from their tables. */

/** Prepared for a connection at its first use: most connections need few statements, and one takes some 30 kB. */
export const prepared = <Connection extends Query, Statement>(build: (connection: Connection) => Statement) => {
  const made = new WeakMap<Connection, Statement>()
  return (connection: Connection): Statement => made.getOrInsertComputed(connection, build)
}

/**
 * Compares a column with a parameter. For ordered rows, SQLite uses the value of a bare parameter in its plan: it prepares the
 * statement again for each run, which takes ten times as long as reading a row. With a sign or in a sum, it is not a bare one.
 */
export const isGiven = (column: SQLiteColumn, name: string): SQL => sql`${column} = +${sql.placeholder(name)}`
export const placeholderOfLimit = (name: string) => sql`${sql.placeholder(name)} + 0` as unknown as Placeholder

export type Identified = SQLiteTable & { id: SQLiteColumn }
export type OwnedTable = Identified & { clientId: SQLiteColumn }

type Order = readonly (SQLiteColumn | SQL)[]
type Values = Record<string, string | number>

/** The rows that meet a condition, in order. Its placeholders get the values. */
export const preparedAll = <Table extends SQLiteTable>(table: Table, condition: SQL | undefined, ...order: Order) => {
  const statement = prepared((query: Query) =>
    query
      .select()
      .from(table as SQLiteTable)
      .where(condition)
      .orderBy(...order)
      .prepare(),
  )
  return (query: Query, values: Values = {}): Table['$inferSelect'][] => statement(query).all(values)
}

/** The row that meets a condition which no other row can meet. */
export const preparedOne = <Table extends SQLiteTable>(table: Table, condition: SQL | undefined) => {
  const rows = preparedAll(table, condition)
  return (query: Query, values?: Values): Table['$inferSelect'] | undefined => rows(query, values)[0]
}

/**
 * The first of several rows, in order. With a parameter as the LIMIT, as drizzle makes it, SQLite prepares the statement again
 * for each run, which takes ten times as long as reading the row.
 */
export const preparedFirst = <Table extends SQLiteTable & { id: SQLiteColumn }>(
  table: Table,
  condition: SQL | undefined,
  ...order: Order
) => {
  const first = sql`SELECT ${table.id} FROM ${table} WHERE ${condition} ORDER BY ${sql.join([...order], sql`, `)} LIMIT 1`
  return preparedOne(table, eq(table.id, sql`(${first})`))
}

/** The greatest id of a table; 0 without rows. */
export const preparedLastId = (table: SQLiteTable & { id: SQLiteColumn }) => {
  const statement = prepared((query: Query) =>
    query
      .select({ id: sql<number | null>`max(${table.id})` })
      .from(table)
      .prepare(),
  )
  return (query: Query): number => statement(query).get()?.id ?? 0
}

/** Compares with any number of values. */
export const isOneOf = (column: SQLiteColumn, values: Iterable<string | number>): SQL =>
  sql`${column} IN (SELECT value FROM json_each(${JSON.stringify([...values])}))`

/** Compares with texts of the program, in the words of a partial index: with parameters, SQLite would not find it. */
export const isOneLiteral = (column: SQLiteColumn, texts: readonly string[]): SQL =>
  sql`(${sql.join(
    texts.map((text) => sql`${column} = ${sql.raw(`'${text}'`)}`),
    sql` OR `,
  )})`

/** Rows beyond this number are not counted: what `/metrics` reads does not grow with them (contract C4). */
const COUNTED_MAX = 1_000

export const countUpTo = (query: Query, table: Identified, where: SQL): number => {
  const some = query.select({ id: table.id }).from(table).where(where).limit(COUNTED_MAX).as('some')
  return query.select({ n: count() }).from(some).get()?.n ?? 0
}

/** The rows of a table that are due, the earliest first. */
export const preparedDue = <Table extends OwnedTable & { dueAtMs: SQLiteColumn }>(table: Table) => {
  const isDue = isNotNull(table.dueAtMs)
  const first = preparedFirst(table, isDue, asc(table.dueAtMs), asc(table.id))
  type Due = Table['$inferSelect'] & { dueAtMs: number }
  const nextDue = (query: Query, limit: number): Due[] =>
    query
      .select()
      .from(table as SQLiteTable)
      .where(isDue)
      .orderBy(asc(table.dueAtMs), asc(table.id))
      .limit(limit)
      .all() as Due[]
  return {
    findFirstDue: (query: Query, without: ReadonlySet<unknown>): Due | undefined =>
      without.size === 0
        ? (first(query) as Due | undefined)
        : nextDue(query, without.size + 1).find(({ id }) => !without.has(id)),
    countDue: (query: Query): number => countUpTo(query, table, isDue),
    nextDue,
  }
}

/** Finds a record of a client, and none of another client. */
export const preparedFind = <Table extends OwnedTable>(table: Table) => {
  const isOfClient = eq(table.clientId, sql.placeholder('clientId'))
  const first = preparedOne(table, and(eq(table.id, sql.placeholder('id')), isOfClient))
  return (query: Query, clientId: number, id: Table['id']['_']['data'] & (string | number)) =>
    first(query, { clientId, id })
}

/** A row with all columns. If the database counts the ids, null asks for the next one. */
type WholeRow<Table extends SQLiteTable> = {
  [Column in keyof Table['$inferSelect']]: Table['$inferSelect'][Column] | (Column extends 'id' ? null : never)
}

const placeholders = (names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]))

const namesOf = (table: SQLiteTable): string[] => Object.keys(getTableColumns(table))

export const preparedInsert = <Table extends SQLiteTable>(table: Table) => {
  const statement = prepared((tx: Tx) =>
    tx
      .insert(table)
      .values(placeholders(namesOf(table)) as Table['$inferInsert'])
      .prepare(),
  )
  return (tx: Tx, row: WholeRow<Table>): void => void statement(tx).run(row)
}

/** For a conflict: each column takes the value of the row that could not be inserted. */
export const newValues = (table: SQLiteTable): Record<string, SQL> =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([name, column]) => [
      name,
      sql`excluded.${sql.identifier(column.name)}`,
    ]),
  )

/** Inserts a row, or replaces the one with the same key. */
export const preparedPut = <Table extends SQLiteTable>(table: Table, key: readonly SQLiteColumn[]) => {
  const values = placeholders(namesOf(table)) as Table['$inferInsert']
  const statement = prepared((tx: Tx) =>
    tx
      .insert(table)
      .values(values)
      .onConflictDoUpdate({ target: [...key], set: values })
      .prepare(),
  )
  return (tx: Tx, row: WholeRow<Table>): void => void statement(tx).run(row)
}

/** Inserts into a table whose ids the database counts, and returns the new id. A RETURNING clause would take as long as the row. */
export const preparedInsertCounted = <
  Table extends SQLiteTable & { id: SQLiteColumn },
  Computed extends string & keyof Table['$inferSelect'],
>(
  table: Table,
  computed: Record<Computed, SQL>,
) => {
  const statement = prepared((tx: Tx) =>
    tx
      .insert(table)
      .values({ ...placeholders(namesOf(table)), ...computed } as Table['$inferInsert'])
      .prepare(),
  )
  return (tx: Tx, row: Omit<WholeRow<Table>, Computed | 'id'>): number => {
    // Drizzle types the result of bun:sqlite as void.
    const { lastInsertRowid } = statement(tx).run({ ...row, id: null }) as unknown as { lastInsertRowid: number }
    return lastInsertRowid
  }
}

/** Unchanged columns are not named: each column that is set costs its indexes a deletion and an insertion. */
export const preparedUpdate = <
  Table extends SQLiteTable & { id: SQLiteColumn },
  Name extends Exclude<string & keyof Table['$inferSelect'], 'id'>,
>(
  table: Table,
  names: readonly Name[],
) => {
  const statement = prepared((tx: Tx) =>
    tx
      .update(table)
      .set(placeholders(names) as Partial<Table['$inferInsert']>)
      .where(eq(table.id, sql.placeholder('id')))
      .prepare(),
  )
  return (tx: Tx, row: Pick<Table['$inferSelect'], Name | ('id' & keyof Table['$inferSelect'])>): void =>
    void statement(tx).run(row)
}
