import type { Database } from '../../db/database.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { RecordedRequest } from './operations.ts'

/** A row that a request has written; its key is the primary key, the columns joined by a comma. */
export type RowChange = RecordedRequest['changes'][number]

/** The program's own bookkeeping, which does not interest readers of the request log, and what no request of the API writes. */
const UNWATCHED = new Set([
  ...[
    'migrations',
    'seeds',
    'logins',
    'idempotency_keys',
    'list_counts',
    'events',
    'webhook_queue',
    'webhook_deliveries',
  ],
  ...['countries', 'currencies', 'categories', 'subcategories', 'products', 'product_bands', 'exchange_rates'],
  ...['clients', 'client_discounts', 'product_changes', 'moved_clock', 'kept_pace', 'kept_randomness'],
  ...['audit', 'audit_head', 'voucher_key', 'voucher_key_next', 'stock_published'],
])
const OPERATIONS = { insert: 'NEW', update: 'NEW', delete: 'OLD' } as const

/** Temporary triggers that note each change of a row; they exist for a connection alone, and are made anew with it. */
const watch = worldPart(({ db: { sqlite } }) => {
  triggers ??= triggersOf(sqlite)
  sqlite.run(triggers)
  return {
    begin: sqlite.query('INSERT INTO temp.noting VALUES (1)'),
    end: sqlite.query('DELETE FROM temp.noting'),
    clear: sqlite.query('DELETE FROM temp.row_changes'),
    read: sqlite.query<RowChange, []>(
      'SELECT DISTINCT table_name AS "table", operation, key FROM temp.row_changes ORDER BY rowid',
    ),
  }
}, 'derived')

/** Written once: all worlds have the schema of the program. Most of the first write of a world would be to write it again. */
let triggers: string | undefined

const triggersOf = (sqlite: Database['sqlite']): string => {
  const tables = sqlite.query<{ name: string }, []>(
    "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  const watched = tables.all().filter(({ name }) => !UNWATCHED.has(name))
  return [
    'CREATE TEMP TABLE IF NOT EXISTS row_changes (table_name TEXT, operation TEXT, key TEXT)',
    'CREATE TEMP TABLE IF NOT EXISTS noting (since INTEGER PRIMARY KEY)',
    ...watched.flatMap(({ name }) => triggersOn(sqlite, name)),
  ].join(';\n')
}

const triggersOn = (sqlite: Database['sqlite'], table: string): string[] => {
  const columns = sqlite
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .all(table)
  return Object.entries(OPERATIONS).map(([operation, row]) => {
    const key = columns.map(({ name }) => `${row}."${name}"`).join(" || ',' || ")
    return `CREATE TEMP TRIGGER IF NOT EXISTS watch_${operation}_${table} AFTER ${operation} ON main."${table}"
       WHEN EXISTS (SELECT 1 FROM noting) BEGIN INSERT INTO row_changes VALUES ('${table}', '${operation}', ${key}); END`
  })
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
