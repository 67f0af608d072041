import type { Database as SqliteDatabase } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { type Clock, toTimestamp } from '../kernel/clock.ts'
import foundation from './migrations/0001_foundation.sql' with { type: 'text' }
import money from './migrations/0002_money.sql' with { type: 'text' }
import lists from './migrations/0003_lists.sql' with { type: 'text' }
import transactionSearch from './migrations/0004_transaction_search.sql' with { type: 'text' }

interface Migration {
  name: string
  sql: string
  /** Writes what SQL cannot tell. */
  finish?: (sqlite: SqliteDatabase) => void
}

/** SQLite has left letters beyond ASCII as they were. */
const lowerSearchTexts = (sqlite: SqliteDatabase): void => {
  const update = sqlite.query<unknown, [string, number]>('UPDATE transactions SET search_folded = ? WHERE id = ?')
  const beyondAscii = sqlite.query<{ id: number; text: string }, []>(
    "SELECT id, search_folded AS text FROM transactions WHERE coalesce(source_id, '') || coalesce(remarks, '') GLOB '*[^ -~]*'",
  )
  for (const { id, text } of beyondAscii.all()) update.run(text.toLowerCase(), id)
}

/** The migrations in order; the number of each is its place here, counted from 1. Never edited once released. */
const MIGRATIONS: readonly Migration[] = [
  { name: '0001_foundation', sql: foundation },
  { name: '0002_money', sql: money },
  { name: '0003_lists', sql: lists },
  { name: '0004_transaction_search', sql: transactionSearch, finish: lowerSearchTexts },
]

/** A database that this program cannot work with: newer than it, or changed behind its back. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

/**
 * Brings a database to the schema of this program, in one transaction.
 *
 * @throws SchemaMismatch when the database is newer, or was migrated by other text than ours
 */
export const migrate = (sqlite: SqliteDatabase, clock: Clock): void => {
  sqlite
    .transaction(() => {
      sqlite.run(
        'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT',
      )
      const applied = verifiedMigrations(sqlite)
      MIGRATIONS.slice(applied.length).forEach(({ name, sql, finish }, index) => {
        sqlite.run(sql)
        finish?.(sqlite)
        sqlite
          .query('INSERT INTO migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)')
          .run(applied.length + index + 1, name, digestOf(sql), toTimestamp(clock.nowMs()))
      })
    })
    .immediate()
}

/**
 * Checks that a database is at the schema of this program, and changes nothing.
 *
 * @throws SchemaMismatch when it is older or newer, was migrated by other text than ours, or is no database of ours
 */
export const requireCurrentSchema = (sqlite: SqliteDatabase): void => {
  const isOurs = sqlite.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").get() !== null
  if (!isOurs) throw new SchemaMismatch('The database is none of Scrip.')
  const { length } = verifiedMigrations(sqlite)
  if (length < MIGRATIONS.length) {
    throw new SchemaMismatch(
      `The database is at schema ${length}, and this program works on schema ${MIGRATIONS.length}. scrip serve brings a data folder up to date, scrip restore a backup.`,
    )
  }
}

const verifiedMigrations = (sqlite: SqliteDatabase): { version: number; sha256: string }[] => {
  const applied = sqlite
    .query<{ version: number; sha256: string }, []>('SELECT version, sha256 FROM migrations ORDER BY version')
    .all()
  for (const row of applied) verify(row)
  return applied
}

const verify = (row: { version: number; sha256: string }): void => {
  const migration = MIGRATIONS[row.version - 1]
  if (!migration) {
    throw new SchemaMismatch(
      `The database is at schema ${row.version}; this program knows schemas up to ${MIGRATIONS.length}. Run a newer Scrip.`,
    )
  }
  if (row.sha256 !== digestOf(migration.sql)) {
    throw new SchemaMismatch(`Migration ${migration.name} of the database is not the one that this program carries.`)
  }
}

const digestOf = (sql: string): string => createHash('sha256').update(sql).digest('hex')
