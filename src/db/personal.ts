import { and, eq, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Query, Tx } from './database.ts'
import { searched } from './narrowing.ts'
import { isOneOf } from './prepared.ts'

/** The columns that can hold data of a person (contract C17): each module names its tables and columns, and the erasure reads and writes them. */

type Identified = SQLiteTable & { id: SQLiteColumn }

/** A table, and its columns that can hold a text of a person. */
export interface Personal<Table extends Identified> {
  table: Table
  texts: readonly (string & keyof Table['$inferSelect'])[]
  /** Columns whose texts are inside of JSON. */
  json?: readonly (string & keyof Table['$inferSelect'])[]
  /** The record that a row is about, if the row is not a record itself. */
  record?: SQLiteColumn
  /** The columns that searches look in, made of the others. */
  search?: (row: Table['$inferSelect']) => Partial<Table['$inferSelect']>
}

/** Rows that may hold a part of an address, which is in lower case and ASCII. It reads the whole table, in steps. */
export const rowsHolding = <Table extends Identified>(
  query: Query,
  { table, texts, json = [], record }: Personal<Table>,
  part: string,
  about?: Iterable<string>,
): AsyncIterable<Table['$inferSelect']> => {
  const columns = [...texts, ...json].map((name) => sql`instr(lower(${Reflect.get(table, name)}), ${part}) > 0`)
  const isAbout = record && about && isOneOf(record, about)
  return searched(query, table, and(isAbout, sql`(${sql.join(columns, sql` OR `)})`))
}

/** Returns the number of changed rows. All rows are read before the first is changed. */
export const changeRows = <Table extends Identified>(
  tx: Tx,
  { table, search }: Personal<Table>,
  rows: Iterable<Table['$inferSelect']>,
  changesOf: (row: Table['$inferSelect']) => Record<string, unknown>,
): number => {
  let count = 0
  for (const row of [...rows]) {
    const changes = changesOf(row)
    if (Object.keys(changes).length === 0) continue
    tx.update(table as SQLiteTable)
      .set({ ...changes, ...search?.({ ...row, ...changes }) })
      .where(eq(table.id, row.id))
      .run()
    count += 1
  }
  return count
}
