import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Transaction } from './database.ts'

/** Statements that are written out once: for a hot path, building a query anew costs more than running it. */

/** Makes statements once for each connection, when they are first asked for. */
export const perConnection = <Statements>(
  build: (query: Transaction) => Statements,
): ((tx: Transaction) => Statements) => {
  const made = new WeakMap<Transaction, Statements>()
  return (tx) => {
    const known = made.get(tx)
    if (known !== undefined) return known
    const statements = build(tx)
    made.set(tx, statements)
    return statements
  }
}

/** A row that names every column; where the database counts ids, null asks for the next one. */
type WholeRow<Table extends SQLiteTable> = {
  [Column in keyof Table['$inferSelect']]: Table['$inferSelect'][Column] | (Column extends 'id' ? null : never)
}

const placeholders = (table: SQLiteTable, but?: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(getTableColumns(table))
      .filter((name) => name !== but)
      .map((name) => [name, sql.placeholder(name)]),
  )

export const preparedInsert = <Table extends SQLiteTable>(
  query: Transaction,
  table: Table,
): ((row: WholeRow<Table>) => void) => {
  const statement = query
    .insert(table)
    .values(placeholders(table) as Table['$inferInsert'])
    .prepare()
  return (row) => void statement.run(row)
}

/** The same, answering the row as it stands. */
export const preparedInsertReturning = <Table extends SQLiteTable>(
  query: Transaction,
  table: Table,
): ((row: WholeRow<Table>) => Table['$inferSelect']) => {
  const statement = query
    .insert(table)
    .values(placeholders(table) as Table['$inferInsert'])
    .returning()
    .prepare()
  return (row) => statement.get(row) as Table['$inferSelect']
}

/** Writes a whole row over the one of the same id. */
export const preparedUpdate = <Table extends SQLiteTable & { id: SQLiteColumn }>(
  query: Transaction,
  table: Table,
): ((row: Table['$inferSelect']) => void) => {
  const statement = query
    .update(table)
    .set(placeholders(table, 'id') as Partial<Table['$inferInsert']>)
    .where(eq(table.id, sql.placeholder('id')))
    .prepare()
  return (row) => void statement.run(row)
}
