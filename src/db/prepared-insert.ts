import { getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Transaction } from './database.ts'

/** An insert that is written out once, for rows that name every column: building it anew costs more than running it. */
export const preparedInsert = <Table extends SQLiteTable>(
  query: Transaction,
  table: Table,
): ((row: Table['$inferSelect']) => void) => {
  const columns = Object.keys(getTableColumns(table))
  const row = Object.fromEntries(columns.map((name) => [name, sql.placeholder(name)])) as Table['$inferInsert']
  const statement = query.insert(table).values(row).prepare()
  return (values) => void statement.run(values)
}
