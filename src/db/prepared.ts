import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Query, Tx } from './database.ts'

/** Prepared statements, for hot paths: building a query costs more than running it. */

/** Each statement is built at its first use: most connections need few, and one takes some 30 kB. */
const perConnection =
  <Connection extends Query>() =>
  <Builders extends Record<string, (connection: Connection) => unknown>>(builders: Builders) => {
    type Statements = { readonly [Name in keyof Builders]: ReturnType<Builders[Name]> }
    const made = new WeakMap<Connection, Statements>()
    return (connection: Connection): Statements => {
      const known = made.get(connection)
      if (known !== undefined) return known
      const statements = Object.create(null) as Statements
      for (const [name, build] of Object.entries(builders)) madeAtFirstUse(statements, name, () => build(connection))
      made.set(connection, statements)
      return statements
    }
  }

export const preparedReads = perConnection<Query>()
export const preparedWrites = perConnection<Tx>()

const madeAtFirstUse = (statements: object, name: string, make: () => unknown): void => {
  Object.defineProperty(statements, name, {
    configurable: true,
    get: () => {
      const value = make()
      Object.defineProperty(statements, name, { value })
      return value
    },
  })
}

export type OwnedTable = SQLiteTable & { id: SQLiteColumn; clientId: SQLiteColumn }

/** Another client's record is not found. */
export const preparedFind = <Table extends OwnedTable>(
  query: Query,
  table: Table,
): ((
  clientId: number,
  id: Table['$inferSelect']['id' & keyof Table['$inferSelect']],
) => Table['$inferSelect'] | undefined) => {
  const statement = query
    .select()
    .from(table as SQLiteTable)
    .where(and(eq(table.id, sql.placeholder('id')), eq(table.clientId, sql.placeholder('clientId'))))
    .limit(1)
    .prepare()
  return (clientId, id) => statement.get({ clientId, id })
}

/** A row with all columns. Where the database counts ids, null asks for the next one. */
type WholeRow<Table extends SQLiteTable> = {
  [Column in keyof Table['$inferSelect']]: Table['$inferSelect'][Column] | (Column extends 'id' ? null : never)
}

const placeholders = (names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]))

const namesOf = (table: SQLiteTable): string[] => Object.keys(getTableColumns(table))

export const preparedInsert = <Table extends SQLiteTable>(tx: Tx, table: Table): ((row: WholeRow<Table>) => void) => {
  const statement = tx
    .insert(table)
    .values(placeholders(namesOf(table)) as Table['$inferInsert'])
    .prepare()
  return (row) => void statement.run(row)
}

/** Returns the row with the columns that the database computes. */
export const preparedInsertReturning = <
  Table extends SQLiteTable,
  Computed extends string & keyof Table['$inferSelect'],
>(
  tx: Tx,
  table: Table,
  computed: Record<Computed, SQL>,
): ((row: Omit<WholeRow<Table>, Computed>) => Table['$inferSelect']) => {
  const statement = tx
    .insert(table)
    .values({ ...placeholders(namesOf(table)), ...computed } as Table['$inferInsert'])
    .returning()
    .prepare()
  return (row) => statement.get(row) as Table['$inferSelect']
}

/** Unchanged columns are not named: each column that is set costs its indexes a deletion and an insertion. */
export const preparedUpdate = <
  Table extends SQLiteTable & { id: SQLiteColumn },
  Name extends Exclude<string & keyof Table['$inferSelect'], 'id'>,
>(
  tx: Tx,
  table: Table,
  names: readonly Name[],
): ((row: Pick<Table['$inferSelect'], Name | ('id' & keyof Table['$inferSelect'])>) => void) => {
  const statement = tx
    .update(table)
    .set(placeholders(names) as Partial<Table['$inferInsert']>)
    .where(eq(table.id, sql.placeholder('id')))
    .prepare()
  return (row) => void statement.run(row)
}
