import type { Statement } from 'bun:sqlite'
import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Query, statementOn, type Tx } from './database.ts'

/** Prepared statements, for hot paths: building a query costs more than running it. */

/** What drizzle has prepared: the statement of one connection in `stmt`, beside what holds for every connection. */
interface PreparedQuery {
  getQuery(): { sql: string }
}

/**
 * Prepared for a connection at its first use: most connections need few statements, and one takes some 30 kB. The text is
 * built for the first connection alone, which takes longer than SQLite takes to prepare it for another one.
 */
export const prepared = <Connection extends Query, Prepared extends PreparedQuery>(
  build: (connection: Connection) => Prepared,
): ((connection: Connection) => Prepared) => {
  const made = new WeakMap<Connection, Prepared>()
  let pattern: Prepared | undefined
  return (connection) => {
    const known = made.get(connection)
    if (known !== undefined) return known
    const statement = pattern ? copyOf(pattern, statementOn(connection, pattern.getQuery().sql)) : build(connection)
    pattern ??= copyOf(statement, undefined)
    made.set(connection, statement)
    return statement
  }
}

const copyOf = <Prepared extends PreparedQuery>(prepared: Prepared, stmt: Statement | undefined): Prepared =>
  Object.assign(Object.create(Object.getPrototypeOf(prepared)), prepared, { stmt })

export type OwnedTable = SQLiteTable & { id: SQLiteColumn; clientId: SQLiteColumn }

/** The first row that meets a condition. Its placeholders get the values. */
export const preparedFirst = <Table extends SQLiteTable>(table: Table, condition: SQL | undefined) => {
  const statement = prepared((query: Query) =>
    query
      .select()
      .from(table as SQLiteTable)
      .where(condition)
      .limit(1)
      .prepare(),
  )
  return (query: Query, values: Record<string, string | number>): Table['$inferSelect'] | undefined =>
    statement(query).get(values)
}

/** Whether a row meets a condition. An index can tell, without the row. */
export const preparedExists = (table: SQLiteTable, condition: SQL | undefined) => {
  const statement = prepared((query: Query) =>
    query.select({ found: sql<number>`1` }).from(table).where(condition).limit(1).prepare(),
  )
  return (query: Query, values: Record<string, string | number>): boolean => statement(query).get(values) !== undefined
}

/** Another client's record is not found. */
export const preparedFind = <Table extends OwnedTable>(table: Table) => {
  const own = eq(table.clientId, sql.placeholder('clientId'))
  const first = preparedFirst(table, and(eq(table.id, sql.placeholder('id')), own))
  return (query: Query, clientId: number, id: Table['id']['_']['data'] & (string | number)) =>
    first(query, { clientId, id })
}

/** A row with all columns. Where the database counts ids, null asks for the next one. */
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

/** Inserts a few rows at once, with a statement for each number of them. */
export const preparedInsertAll = <Table extends SQLiteTable>(table: Table) => {
  const names = namesOf(table)
  const nameIn = (name: string, row: number): string => `${name} ${row}`
  const rowOf = (row: number) => Object.fromEntries(names.map((name) => [name, sql.placeholder(nameIn(name, row))]))
  const statementFor = (count: number) =>
    prepared((tx: Tx) =>
      tx
        .insert(table)
        .values(Array.from({ length: count }, (_, row) => rowOf(row) as Table['$inferInsert']))
        .prepare(),
    )
  const statements = new Map<number, ReturnType<typeof statementFor>>()
  return (tx: Tx, rows: readonly WholeRow<Table>[]): void => {
    if (rows.length === 0) return
    const statement = statements.get(rows.length) ?? statementFor(rows.length)
    statements.set(rows.length, statement)
    const values: Record<string, unknown> = {}
    for (const [row, columns] of rows.entries()) {
      for (const [name, value] of Object.entries(columns)) values[nameIn(name, row)] = value
    }
    statement(tx).run(values)
  }
}

/** Returns the row with the columns that the database computes. */
export const preparedInsertReturning = <
  Table extends SQLiteTable,
  Computed extends string & keyof Table['$inferSelect'],
>(
  table: Table,
  computed: Record<Computed, SQL>,
) => {
  const statement = prepared((tx: Tx) =>
    tx
      .insert(table)
      .values({ ...placeholders(namesOf(table)), ...computed } as Table['$inferInsert'])
      .returning()
      .prepare(),
  )
  return (tx: Tx, row: Omit<WholeRow<Table>, Computed>): Table['$inferSelect'] =>
    statement(tx).get(row) as Table['$inferSelect']
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
