import { Database } from 'bun:sqlite'
import { isOfCounts } from '../../src/db/counts.ts'

/** A data folder with more records than could be made one by one: copies of rows that the program has written. */

/** The copies of one row. */
interface Copies {
  /** The row of the table that is copied. Without it, the last one. */
  where?: string
  /** SQL of the columns that differ from copy to copy; n counts from 1. Columns that a table does not have are skipped. */
  changes: Readonly<Record<string, string>>
  count: number
}

export type Copy = (table: string, copies: Copies) => void

/** An id of 25 digits, as those of the program have letters. */
export const numberedId = (prefix: string): string => `'${prefix}_' || printf('%025d', n)`

/** Writes to a database that no server has open. Of its triggers, only those that keep counts are there meanwhile. */
export const fillWith = (file: string, write: (copy: Copy, sqlite: Database) => void): void => {
  using sqlite = new Database(file)
  sqlite.run('PRAGMA synchronous = OFF')
  sqlite.run('PRAGMA cache_size = -1000000')
  const parts = sqlite
    .query<Record<'type' | 'name' | 'sql', string>, []>(
      "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL",
    )
    .all()
    .filter(({ name }) => !isOfCounts(name))
  // An index is made in a fraction of the time in which it would grow.
  for (const { type, name } of parts) sqlite.run(`DROP ${type} ${name}`)
  write((table, copies) => copyRow(sqlite, table, copies), sqlite)
  for (const { sql } of parts) sqlite.run(sql)
  // The disk has the copies at the end: otherwise it writes them while a server is measured.
  sqlite.run('PRAGMA synchronous = FULL')
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Whatever columns the table has, they are as the program filled them. */
const copyRow = (
  sqlite: Database,
  table: string,
  { where = `id = (SELECT max(id) FROM ${table})`, changes, count }: Copies,
): void => {
  const columns = sqlite.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all()
  const names = columns.map(({ name }) => name)
  const values = names.map((name) => changes[name] ?? name)
  sqlite.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO ${table} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM (SELECT * FROM ${table} WHERE ${where}), numbers`)
}
