import { Database as SqliteDatabase } from 'bun:sqlite'
import { type Clock, toTimestamp } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { sha256Of } from '../kernel/sha256.ts'
import { countsSchema } from './counts.ts'
import { COUNTS } from './migrations/0001_counts.ts'
import { schema } from './migrations/0001_schema.ts'

interface Migration {
  name: string
  sql: string
}

/** The number of a migration is its place here, counted from 1. Never edited once released. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001_schema', sql: [...Object.values(schema), ...COUNTS.map(countsSchema)].join('\n') },
]

export const SCHEMA_VERSION = MIGRATIONS.length

/**
 * Migrates in one transaction.
 * @param migrations the migrations up to an earlier schema, for an installation that still has it
 * @throws DataFault when the database is newer, or has other migrations
 */
export const migrate = (sqlite: SqliteDatabase, clock: Clock, migrations = MIGRATIONS): void => {
  sqlite
    .transaction(() => {
      sqlite.run(
        'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT',
      )
      dropStatistics(sqlite)
      const applied = verifiedMigrations(sqlite, migrations)
      for (const [index, { name, sql }] of migrations.entries()) {
        if (index < applied.length) continue
        sqlite.run(sql)
        sqlite
          .query('INSERT INTO migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)')
          .run(index + 1, name, sha256Of(sql), toTimestamp(clock.nowMs()))
      }
    })
    .immediate()
}

/** The tables that ANALYZE and PRAGMA optimize of other programs add (contract C1). */
const STATISTICS = "type = 'table' AND name GLOB 'sqlite_stat[1-4]' AND sql GLOB 'CREATE TABLE sqlite_stat[1-4](*'"

/** Statements are written for the plans that SQLite makes without statistics, which also become wrong as tables grow. */
const dropStatistics = (sqlite: SqliteDatabase): void => {
  const tables = sqlite.query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE ${STATISTICS}`).all()
  for (const { name } of tables) sqlite.run(`DROP TABLE ${name}`)
}

interface Applied {
  version: number
  sha256: string
}

/** Changes nothing. @throws DataFault when the database is older or newer, or is not a Scrip database */
export const requireCurrentSchema = (sqlite: SqliteDatabase): void => {
  const version = versionOf(sqlite)
  if (version < MIGRATIONS.length) {
    throw new DataFault(
      `the database is at schema ${version}, and this program needs schema ${MIGRATIONS.length}\nscrip serve brings a data folder up to date, scrip restore a backup.`,
    )
  }
}

/** @throws DataFault when there are no migrations, or others */
const versionOf = (sqlite: SqliteDatabase): number => {
  const isOurs = sqlite.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").get() !== null
  const version = isOurs ? verifiedMigrations(sqlite, MIGRATIONS).length : 0
  if (version === 0)
    throw new DataFault('this is not a Scrip database\nGive one written by scrip serve or scrip backup.')
  return version
}

/** The differences of the schema from its migrations: foreign triggers could move money. @throws DataFault */
export const schemaFaults = (sqlite: SqliteDatabase): string[] => {
  const [made, present] = [partsMadeBy(versionOf(sqlite)), partsOf(sqlite)]
  const missing = [...made.keys()].filter((name) => !present.has(name))
  const others = [...present].filter(([name, sql]) => !made.has(name) || made.get(name) !== sql)
  return [
    ...others.map(
      ([name]) => `the ${name} ${made.has(name) ? 'is not as Scrip creates it' : 'does not belong to Scrip'}`,
    ),
    ...missing.map((name) => `the ${name} is missing`),
  ]
}

/** A folder has many databases of one version, and making one takes twenty milliseconds. */
const madeByVersion = new Map<number, Map<string, string>>()

const partsMadeBy = (version: number): Map<string, string> =>
  madeByVersion.getOrInsertComputed(version, () => {
    const model = new SqliteDatabase(':memory:')
    migrate(model, { nowMs: () => 0 }, MIGRATIONS.slice(0, version))
    const parts = partsOf(model)
    model.close()
    return parts
  })

/** The statement of each part of Scrip, by kind and name. Litestream adds two tables to a database that it copies. */
const partsOf = (sqlite: SqliteDatabase): Map<string, string> => {
  const rows = sqlite
    .query<{ type: string; name: string; tbl_name: string; sql: string | null }, []>(
      `SELECT type, name, tbl_name, sql FROM sqlite_schema
        WHERE NOT (type = 'table' AND name IN ('_litestream_seq', '_litestream_lock')) AND NOT (${STATISTICS})
        ORDER BY type, name`,
    )
    .all()
  return new Map(rows.map(({ type, name, tbl_name, sql }) => [`${type} ${printable(name)}`, `${tbl_name} ${sql}`]))
}

/** Escapes a name that somebody else chose: it must not control the terminal. */
const printable = (name: string): string => JSON.stringify(name).replace(/[^\x20-\x7e]/g, '?')

const verifiedMigrations = (sqlite: SqliteDatabase, migrations: readonly Migration[]): Applied[] => {
  const applied = sqlite.query<Applied, []>('SELECT version, sha256 FROM migrations ORDER BY version').all()
  for (const [index, { version, sha256 }] of applied.entries()) {
    const migration = migrations[version - 1]
    if (!migration) {
      throw new DataFault(
        `the database is at schema ${version}, and this program knows schemas up to ${migrations.length}\nRun a newer Scrip.`,
      )
    }
    if (version !== index + 1)
      throw new DataFault(`migration ${index + 1} of the database is not recorded\nRestore a backup.`)
    if (sha256 !== sha256Of(migration.sql)) {
      throw new DataFault(
        `the database was not made by ${migration.name} of this program: it is of a build before the first release, or changed\nRestore a backup of a release, or start with an empty folder.`,
      )
    }
  }
  return applied
}
