import type { Database } from '../../db/database.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { RecordedRequest } from './operations.ts'

/** A row that a request has written; its key is the primary key, the columns joined by a comma. */
export type RowChange = RecordedRequest['changes'][number]

/** The program's own bookkeeping, which does not interest readers of the request log. */
const UNWATCHED = new Set([
  'migrations',
  'seeds',
  'logins',
  'idempotency_keys',
  'list_counts',
  'events',
  'webhook_queue',
  'webhook_deliveries',
])
const OPERATIONS = { insert: 'NEW', update: 'NEW', delete: 'OLD' } as const

/** Temporary triggers that note each change of a row; they exist for a connection alone, and are made anew with it. */
const watch = worldPart(({ db: { sqlite } }) => {
  sqlite.run('CREATE TEMP TABLE IF NOT EXISTS row_changes (table_name TEXT, operation TEXT, key TEXT)')
  sqlite.run('CREATE TEMP TABLE IF NOT EXISTS noting (since INTEGER PRIMARY KEY)')
  const tables = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
  for (const { name } of tables) {
    if (!UNWATCHED.has(name)) watchTable(sqlite, name)
  }
  return {
    begin: sqlite.query('INSERT INTO temp.noting VALUES (1)'),
    end: sqlite.query('DELETE FROM temp.noting'),
    clear: sqlite.query('DELETE FROM temp.row_changes'),
    read: sqlite.query<RowChange, []>(
      'SELECT DISTINCT table_name AS "table", operation, key FROM temp.row_changes ORDER BY rowid',
    ),
  }
}, 'derived')

const watchTable = (sqlite: Database['sqlite'], table: string): void => {
  const columns = sqlite
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .all(table)
  for (const [operation, row] of Object.entries(OPERATIONS)) {
    const key = columns.map(({ name }) => `${row}."${name}"`).join(" || ',' || ")
    sqlite.run(
      `CREATE TEMP TRIGGER IF NOT EXISTS watch_${operation}_${table} AFTER ${operation} ON main."${table}"
       WHEN EXISTS (SELECT 1 FROM noting) BEGIN INSERT INTO row_changes VALUES ('${table}', '${operation}', ${key}); END`,
    )
  }
}

/** Makes the triggers where they are missing. Before a write begins: what is made inside of one goes with its undoing. */
export const watchRows = (world: World): void => void world.of(watch)

/**
 * Runs a unit of work inside its transaction, and answers what it has written besides. Nothing is noted outside of one:
 * what the clock moves on would gather until the next. Work that throws is undone, and what was noted with it.
 */
export const withChanges = <T>(world: World, work: () => T): { value: T; changes: RowChange[] } => {
  const { begin, end, clear, read } = world.of(watch)
  begin.run()
  const value = work()
  end.run()
  const changes = read.all()
  clear.run()
  return { value, changes }
}
