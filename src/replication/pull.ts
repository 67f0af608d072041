import { Database as SqliteDatabase } from 'bun:sqlite'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { closeConnection, PAGE_BYTES } from '../db/connections.ts'
import { putPosition } from '../db/copy-position.ts'
import { recount } from '../db/counts.ts'
import { MIGRATIONS, migrate } from '../db/migrate.ts'
import { createStagingFolder, flushFile, flushFolder } from '../folder/disk.ts'
import { databasePath, makePrivateFile, removeDatabase } from '../folder/files.ts'
import { storeMode } from '../folder/mode.ts'
import { HOUR_MS, systemClock } from '../kernel/clock.ts'
import type { Connection } from './connection.ts'
import { lastCommitUnknown } from './copy-check.ts'
import { triggersIn } from './follower.ts'
import { postgresPages } from './pages.ts'
import { Applier } from './rows.ts'
import { LAST_SEQ } from './schema.ts'
import { COUNTERS, tablesOf } from './tables.ts'

/** Long enough for an installation of any size that one server can serve. */
const PULL_MS_MAX = 12 * HOUR_MS

/** The memory that a copy may take while it is filled: 256 MiB of pages. */
const CACHE_KIB = 262_144

interface PullOptions {
  /** The schema version in PostgreSQL: a newer release brings both up to date when it takes the lease. */
  schemaVersion: number
  isStopped: () => boolean
}

/** Replaces the copy in a folder by a new one at one commit. */
export const pullCopy = async (connection: Connection, dataDir: string, options: PullOptions): Promise<void> => {
  using staging = createStagingFolder(dataDir)
  const path = join(staging.path, 'scrip.sqlite')
  makePrivateFile(path)
  await fill(connection, path, options)
  flushFile(path)
  removeDatabase(databasePath(dataDir))
  renameSync(path, databasePath(dataDir))
  flushFolder(dataDir)
}

const fill = async (connection: Connection, path: string, { schemaVersion, isStopped }: PullOptions): Promise<void> => {
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: true, strict: true })
  try {
    sqlite.run(`PRAGMA page_size = ${PAGE_BYTES}`)
    sqlite.run(`PRAGMA cache_size = -${CACHE_KIB}`)
    // Nobody opens the copy until it is complete.
    for (const pragma of ['synchronous = OFF', 'journal_mode = OFF', 'foreign_keys = OFF'])
      sqlite.run(`PRAGMA ${pragma}`)
    sqlite.run('PRAGMA ignore_check_constraints = ON')
    migrate(sqlite, systemClock, MIGRATIONS.slice(0, schemaVersion))
    storeMode(sqlite, 'live')
    const triggers = triggersIn(sqlite)
    const indexes = indexesOf(sqlite)
    sqlite.run('BEGIN')
    for (const { name } of triggers) sqlite.run(`DROP TRIGGER ${name}`)
    for (const { name } of indexes) sqlite.run(`DROP INDEX ${name}`)
    await fillTables(connection, sqlite, isStopped)
    recount(sqlite)
    for (const { sql } of [...indexes, ...triggers]) sqlite.run(sql)
    sqlite.run('COMMIT')
  } finally {
    closeConnection(sqlite)
  }
}

const indexesOf = (sqlite: SqliteDatabase): { name: string; sql: string }[] =>
  sqlite
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all()

/** Fills the tables in one transaction of PostgreSQL, so that all rows belong to one commit. */
const fillTables = async (connection: Connection, sqlite: SqliteDatabase, isStopped: () => boolean): Promise<void> => {
  const tables = tablesOf(sqlite)
  await connection.transaction('isolation level repeatable read read only', PULL_MS_MAX, async (ask) => {
    const [state] = await ask<{ id: string; seq: string; epoch: string; at: string }>(
      `SELECT i.id, c.seq, c.epoch, (extract(epoch FROM c.at) * 1000000)::bigint AS at
        FROM scrip.installation AS i JOIN scrip.changes AS c ON c.seq = ${LAST_SEQ}`,
    )
    if (!state) throw lastCommitUnknown()
    const applier = new Applier(sqlite, tables)
    for (const { name } of tables) sqlite.run(`DELETE FROM "${name}"`)
    // The counters come last: the rows of other tables change them.
    for (const table of tables.toSorted((one) => (one.name === COUNTERS ? 1 : 0))) {
      if (table.name === COUNTERS) sqlite.run(`DELETE FROM "${COUNTERS}"`)
      for await (const { rows } of postgresPages(ask, table)) {
        if (isStopped()) throw new Error('stopped')
        applier.put(table.name, rows)
      }
    }
    putPosition(sqlite, {
      installation: state.id,
      seq: Number(state.seq),
      epoch: Number(state.epoch),
      atUs: Number(state.at),
      leaseEpoch: 0,
    })
  })
}
