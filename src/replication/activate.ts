import { rmSync } from 'node:fs'
import { getPosition, putPosition } from '../db/copy-position.ts'
import { Database } from '../db/database.ts'
import { migrate, SCHEMA_VERSION } from '../db/migrate.ts'
import { databasePath, removeDatabase } from '../folder/files.ts'
import { HOUR_MS, systemClock } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { type Connection, READ_COMMITTED } from './connection.ts'
import type { PostgresGate } from './gate.ts'
import { makeInstallation, type NewInstallation, putAll, ServerUnfit } from './installation.ts'
import type { LeaseGrant } from './lease.ts'
import { dataStatements, functionStatements, OWN_TABLE_NAMES } from './schema.ts'
import { quotedName, tablesOf } from './tables.ts'

/** The steps of a server between taking the lease and serving. */

const UPGRADE_MS_MAX = 2 * HOUR_MS

interface EmptyInstallationOptions extends NewInstallation {
  connection: Connection
  dataDir: string
}

/** Makes an empty installation from a new database, which is removed if that fails. */
export const installEmpty = async (
  { connection, dataDir, ...made }: EmptyInstallationOptions,
  create: () => void,
): Promise<void> => {
  create()
  const path = databasePath(dataDir)
  const database = Database.openFile(path)
  try {
    await makeInstallation(connection, database, made)
    database.leave()
  } catch (error) {
    database.leave()
    removeDatabase(path)
    rmSync(path, { force: true })
    throw error
  }
}

interface UpgradeOptions {
  connection: Connection
  dataDir: string
  release: string
}

/** Brings copy and PostgreSQL up to the schema of this release: both in one transaction, PostgreSQL first. */
export const upgrade = async ({ connection, dataDir, release }: UpgradeOptions, taken: LeaseGrant): Promise<void> => {
  if (taken.schemaVersion > SCHEMA_VERSION)
    throw new ServerUnfit('the record was created by another release\nRun that release.')
  const { ask } = connection
  if (taken.schemaVersion === SCHEMA_VERSION) {
    const [row] = await ask<{ release: string }>('SELECT release FROM scrip.installation')
    if (row?.release === release) return
    for (const statement of functionStatements) await ask(statement)
    await ask('UPDATE scrip.installation SET release = $1 WHERE epoch = $2', [release, taken.epoch])
    return
  }
  const database = Database.openFile(databasePath(dataDir))
  const { sqlite } = database
  try {
    sqlite.run('BEGIN IMMEDIATE')
    migrate(sqlite, systemClock)
    const position = getPosition(sqlite)
    const tables = tablesOf(sqlite)
    const seq = taken.seq + 1
    const atUs = await connection.transaction(READ_COMMITTED, UPGRADE_MS_MAX, async (tx) => {
      const present = await tx<{ name: string }>(
        "SELECT relname AS name FROM pg_class WHERE relnamespace = 'scrip'::regnamespace AND relkind = 'r'",
      )
      for (const { name } of present)
        if (!OWN_TABLE_NAMES.includes(name)) await tx(`DROP TABLE scrip.${quotedName(name)}`)
      for (const statement of dataStatements(tables)) await tx(statement)
      await putAll(tx, sqlite, tables)
      const [row] = await tx<{ at: string }>(
        `INSERT INTO scrip.changes (seq, epoch, at) VALUES ($1, $2, clock_timestamp())
          RETURNING (extract(epoch FROM at) * 1000000)::bigint AS at`,
        [seq, taken.epoch],
      )
      await tx('UPDATE scrip.installation SET schema_version = $1, release = $2', [SCHEMA_VERSION, release])
      const [fence] = await tx<{ epoch: string }>('SELECT epoch FROM scrip.fence FOR SHARE')
      if (Number(fence?.epoch) !== taken.epoch) throw new DataFault('another server has taken the lease')
      return Number(row?.at)
    })
    putPosition(sqlite, { ...position, seq, epoch: taken.epoch, atUs })
    sqlite.run('COMMIT')
  } finally {
    if (sqlite.inTransaction) sqlite.run('ROLLBACK')
    database.leave()
  }
}

interface OpeningOptions {
  dataDir: string
  gateOf: (database: Database) => PostgresGate
  bringUpToDate: (database: Database) => void
}

/** Commits the writes of opening a database, such as seed data of this release, to PostgreSQL first. */
export const commitOpening = async ({ dataDir, gateOf, bringUpToDate }: OpeningOptions): Promise<void> => {
  const database = Database.openFile(databasePath(dataDir))
  const { sqlite } = database
  try {
    const gate = gateOf(database)
    sqlite.run('BEGIN IMMEDIATE')
    gate.begin()
    bringUpToDate(database)
    await gate.commit(() => undefined)
    sqlite.run('COMMIT')
  } finally {
    if (sqlite.inTransaction) sqlite.run('ROLLBACK')
    database.leave()
  }
}
