import { isOfCounts } from '../../db/counts.ts'
import type { Database } from '../../db/database.ts'
import { type World, worldPart } from '../../work/world.ts'
import type { RecordedRequest } from './contract.ts'
import { keyOf, shortened, valuesSql } from './row-values.ts'

/** A row that a request has written; its key is the primary key, the columns joined by a comma. */
export type RowChange = RecordedRequest['changes'][number] & {
  /** Before and after the request: JSON arrays in the order of the columns. */
  values: { before: string | null; after: string | null }
}

/** Tables that are not watched: the program's own bookkeeping, and tables that no request of the API writes. */
const UNWATCHED = new Set([
  ...['migrations', 'seeds', 'logins', 'idempotency_keys', 'events', 'webhook_queue', 'webhook_deliveries'],
  ...['countries', 'currencies', 'categories', 'subcategories', 'products', 'product_bands', 'exchange_rates'],
  ...['clients', 'client_discounts', 'product_changes', 'moved_clock', 'kept_pace', 'kept_randomness'],
  ...['audit', 'audit_head', 'audit_keys', 'voucher_key', 'stock_published'],
])

/** The rows before and after an operation, as its trigger names them. */
const OPERATIONS = { insert: [undefined, 'NEW'], update: ['OLD', 'NEW'], delete: ['OLD', undefined] } as const

/** A row of temp.row_changes. */
type WrittenRow = Omit<RowChange, 'values'> & RowChange['values']

/** Temporary triggers that write down each change of a row; they exist for a connection alone, and are made again with it. */
const watch = worldPart(({ db: { sqlite } }) => {
  // The connection may have them already: parts are forgotten more often than connections are closed.
  triggers ??= triggersOn(sqlite)
  const isLasting = !sqlite.inTransaction
  sqlite.run(triggers)
  return {
    isLasting,
    begin: sqlite.query('INSERT INTO temp.unit_of_work VALUES (1)'),
    end: sqlite.query('DELETE FROM temp.unit_of_work'),
    clear: sqlite.query('DELETE FROM temp.row_changes'),
    read: sqlite.query<WrittenRow, []>(
      'SELECT table_name AS "table", operation, key, before, after FROM temp.row_changes ORDER BY rowid',
    ),
  }
}, 'derived')

/** Written once, because all worlds have the schema of the program. Otherwise it would take most of the first write of a world. */
let triggers: string | undefined

const triggersOn = (sqlite: Database['sqlite']): string =>
  [
    'CREATE TEMP TABLE IF NOT EXISTS row_changes (table_name TEXT, operation TEXT, key TEXT, before TEXT, after TEXT)',
    // It has a row while a unit of work runs.
    'CREATE TEMP TABLE IF NOT EXISTS unit_of_work (id INTEGER PRIMARY KEY)',
    ...watchedTables(sqlite).flatMap((table) => triggersOf(sqlite, table)),
  ].join(';\n')

const watchedTables = (sqlite: Database['sqlite']): string[] =>
  sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
    .map(({ name }) => name)
    .filter((table) => !UNWATCHED.has(table) && !isOfCounts(table))

const triggersOf = (sqlite: Database['sqlite'], table: string): string[] =>
  Object.entries(OPERATIONS).map(([operation, [before, after]]) => {
    const key = keyOf(sqlite, table).map((name) => `${after ?? before}."${name}"`)
    const values = [before, after].map((row) => (row ? valuesSql(sqlite, table, row) : 'NULL'))
    const row = [`'${table}'`, `'${operation}'`, key.join(" || ',' || "), ...values]
    return `CREATE TEMP TRIGGER IF NOT EXISTS watch_${operation}_${table} AFTER ${operation} ON main."${table}"
       BEGIN INSERT INTO row_changes SELECT ${row.join(', ')} FROM unit_of_work; END`
  })

/** Makes missing triggers. Called before a write begins, because a rollback would remove triggers that were made in it. */
export const watchRows = (world: World): void => void world.of(watch)

/**
 * Runs a unit of work inside its transaction, and returns the rows that it has written as well. Nothing is recorded outside of
 * one: changes that the clock makes would gather until the next. Work that throws is undone, together with its row changes.
 */
export const withChanges = <T>(world: World, work: () => T): { value: T; changes: RowChange[] } => {
  const { isLasting, begin, end, clear, read } = world.of(watch)
  let value: T
  try {
    begin.run()
    value = work()
  } catch (error) {
    if (!isLasting) world.forgetDerived() // the rollback has removed what the unit of work has made
    throw error
  }
  end.run()
  const changes = merged(read.all())
  clear.run()
  return { value, changes }
}

/** A row that was written several times in one way has its first values before and its last ones after. */
const merged = (written: readonly WrittenRow[]): RowChange[] => {
  const changes = new Map<string, RowChange>()
  for (const { table, operation, key, before, after } of written) {
    const row = `${operation} ${table} ${key}`
    const first = changes.get(row)?.values.before ?? shortened(before)
    changes.set(row, { table, operation, key, values: { before: first, after: shortened(after) } })
  }
  return [...changes.values()]
}
