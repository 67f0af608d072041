import { Database as SqliteDatabase } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { type Clock, toTimestamp } from '../kernel/clock.ts'
import foundation from './migrations/0001_foundation.sql' with { type: 'text' }
import money from './migrations/0002_money.sql' with { type: 'text' }
import lists from './migrations/0003_lists.sql' with { type: 'text' }
import transactionSearch from './migrations/0004_transaction_search.sql' with { type: 'text' }
import voucherRows from './migrations/0005_voucher_rows.sql' with { type: 'text' }
import imports from './migrations/0006_imports.sql' with { type: 'text' }
import pace from './migrations/0007_pace.sql' with { type: 'text' }
import balances from './migrations/0008_balances.sql' with { type: 'text' }
import plainLists from './migrations/0009_plain_lists.sql' with { type: 'text' }
import editing from './migrations/0010_editing.sql' with { type: 'text' }
import randomness from './migrations/0011_randomness.sql' with { type: 'text' }
import events from './migrations/0012_events.sql' with { type: 'text' }
import webhooks from './migrations/0013_webhooks.sql' with { type: 'text' }
import refunds from './migrations/0014_refunds.sql' with { type: 'text' }
import audit from './migrations/0015_audit.sql' with { type: 'text' }
import clientsAndWallets from './migrations/0016_clients_and_wallets.sql' with { type: 'text' }
import attemptsByEvent from './migrations/0017_attempts_by_event.sql' with { type: 'text' }
import erasure from './migrations/0018_erasure.sql' with { type: 'text' }
import clientFees from './migrations/0019_client_fees.sql' with { type: 'text' }
import stockCounts from './migrations/0020_stock_counts.sql' with { type: 'text' }
import deliveryErrors from './migrations/0021_delivery_errors.sql' with { type: 'text' }
import traces from './migrations/0022_traces.sql' with { type: 'text' }
import auditKeys from './migrations/0023_audit_keys.sql' with { type: 'text' }
import recordCopy from './migrations/0024_record_copy.sql' with { type: 'text' }

interface Migration {
  name: string
  sql: string
  /** What SQL cannot do. */
  finish?: (sqlite: SqliteDatabase) => void
}

/** SQLite leaves letters beyond ASCII as they are. */
const lowerSearchTexts = (sqlite: SqliteDatabase): void => {
  const update = sqlite.query<unknown, [string, number]>('UPDATE transactions SET search_folded = ? WHERE id = ?')
  const beyondAscii = sqlite.query<{ id: number; text: string }, []>(
    "SELECT id, search_folded AS text FROM transactions WHERE coalesce(source_id, '') || coalesce(remarks, '') GLOB '*[^ -~]*'",
  )
  for (const { id, text } of beyondAscii.all()) update.run(text.toLowerCase(), id)
}

/** The number of a migration is its place here, counted from 1. Never edited once released. */
const MIGRATIONS: readonly Migration[] = [
  { name: '0001_foundation', sql: foundation },
  { name: '0002_money', sql: money },
  { name: '0003_lists', sql: lists },
  { name: '0004_transaction_search', sql: transactionSearch, finish: lowerSearchTexts },
  { name: '0005_voucher_rows', sql: voucherRows },
  { name: '0006_imports', sql: imports },
  { name: '0007_pace', sql: pace },
  { name: '0008_balances', sql: balances },
  { name: '0009_plain_lists', sql: plainLists },
  { name: '0010_editing', sql: editing },
  { name: '0011_randomness', sql: randomness },
  { name: '0012_events', sql: events },
  { name: '0013_webhooks', sql: webhooks },
  { name: '0014_refunds', sql: refunds },
  { name: '0015_audit', sql: audit },
  { name: '0016_clients_and_wallets', sql: clientsAndWallets },
  { name: '0017_attempts_by_event', sql: attemptsByEvent },
  { name: '0018_erasure', sql: erasure },
  { name: '0019_client_fees', sql: clientFees },
  { name: '0020_stock_counts', sql: stockCounts },
  { name: '0021_delivery_errors', sql: deliveryErrors },
  { name: '0022_traces', sql: traces },
  { name: '0023_audit_keys', sql: auditKeys },
  { name: '0024_record_copy', sql: recordCopy },
]

export const SCHEMA_VERSION = MIGRATIONS.length

/** The database is newer than this program, or its schema was changed by another program. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

/** Migrates in one transaction. @throws SchemaMismatch when the database is newer, or has other migrations */
export const migrate = (sqlite: SqliteDatabase, clock: Clock): void => migrateTo(sqlite, MIGRATIONS.length, clock)

/** The schema of an earlier release, of which a record still is. */
export const migrateTo = (sqlite: SqliteDatabase, version: number, clock: Clock): void => {
  sqlite
    .transaction(() => {
      sqlite.run(
        'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT',
      )
      const applied = verifiedMigrations(sqlite)
      MIGRATIONS.slice(applied.length, version).forEach(({ name, sql, finish }, index) => {
        sqlite.run(sql)
        finish?.(sqlite)
        sqlite
          .query('INSERT INTO migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)')
          .run(applied.length + index + 1, name, digestOf(sql), toTimestamp(clock.nowMs()))
      })
    })
    .immediate()
}

/** Changes nothing. @throws SchemaMismatch when the database is older or newer, or is not a Scrip database */
export const requireCurrentSchema = (sqlite: SqliteDatabase): void => {
  const version = versionOf(sqlite)
  if (version < MIGRATIONS.length) {
    throw new SchemaMismatch(
      `the database is at schema ${version}, and this program works on schema ${MIGRATIONS.length}\nscrip serve brings a data folder up to date, scrip restore a backup.`,
    )
  }
}

/** @throws SchemaMismatch when there are no migrations, or others */
const versionOf = (sqlite: SqliteDatabase): number => {
  const isOurs = sqlite.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").get() !== null
  const version = isOurs ? verifiedMigrations(sqlite).length : 0
  if (version === 0)
    throw new SchemaMismatch('this is not a Scrip database\nName one that scrip serve or scrip backup has written.')
  return version
}

/** How the schema differs from its migrations: foreign triggers could move money. @throws SchemaMismatch */
export const schemaFaults = (sqlite: SqliteDatabase): string[] => {
  const [made, present] = [partsMadeBy(versionOf(sqlite)), partsOf(sqlite)]
  const missing = [...made.keys()].filter((name) => !present.has(name))
  const others = [...present].filter(([name, sql]) => !made.has(name) || made.get(name) !== sql)
  return [
    ...others.map(
      ([name]) => `the ${name} ${made.has(name) ? 'is not as Scrip makes it' : 'does not belong to Scrip'}`,
    ),
    ...missing.map((name) => `the ${name} is missing`),
  ]
}

/** A capsule has many databases of one version, and making one takes twenty milliseconds. */
const madeByVersion = new Map<number, Map<string, string>>()

const partsMadeBy = (version: number): Map<string, string> =>
  madeByVersion.getOrInsertComputed(version, () => {
    const model = new SqliteDatabase(':memory:')
    migrateTo(model, version, { nowMs: () => 0 })
    const parts = partsOf(model)
    model.close()
    return parts
  })

/** The statement of each part, by kind and name. Litestream adds two tables to a database that it copies. */
const partsOf = (sqlite: SqliteDatabase): Map<string, string> => {
  const rows = sqlite
    .query<{ type: string; name: string; tbl_name: string; sql: string | null }, []>(
      `SELECT type, name, tbl_name, sql FROM sqlite_schema
        WHERE type <> 'table' OR name NOT IN ('_litestream_seq', '_litestream_lock') ORDER BY type, name`,
    )
    .all()
  return new Map(rows.map(({ type, name, tbl_name, sql }) => [`${type} ${printable(name)}`, `${tbl_name} ${sql}`]))
}

/** A name that somebody else chose must not control the terminal. */
const printable = (name: string): string => JSON.stringify(name).replace(/[^\x20-\x7e]/g, '?')

const verifiedMigrations = (sqlite: SqliteDatabase): { version: number; sha256: string }[] => {
  const applied = sqlite
    .query<{ version: number; sha256: string }, []>('SELECT version, sha256 FROM migrations ORDER BY version')
    .all()
  for (const [index, row] of applied.entries()) verify({ ...row, place: index + 1 })
  return applied
}

const verify = (row: { version: number; sha256: string; place: number }): void => {
  const migration = MIGRATIONS[row.version - 1]
  if (!migration) {
    throw new SchemaMismatch(
      `the database is at schema ${row.version}, and this program knows schemas up to ${MIGRATIONS.length}\nRun a newer Scrip.`,
    )
  }
  if (row.version !== row.place)
    throw new SchemaMismatch(`migration ${row.place} of the database is not recorded\nRestore a backup.`)
  if (row.sha256 !== digestOf(migration.sql)) {
    throw new SchemaMismatch(
      `migration ${migration.name} of the database differs from the one in this program\nRestore a backup.`,
    )
  }
}

const digestOf = (sql: string): string => createHash('sha256').update(sql).digest('hex')
