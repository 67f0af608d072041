import { SQLiteError, type Database as SqliteDatabase } from 'bun:sqlite'
import { createHmac } from 'node:crypto'
import { putPosition } from '../db/copy-position.ts'
import type { Database } from '../db/database.ts'
import { SCHEMA_VERSION } from '../db/migrate.ts'
import { MINUTE_MS } from '../kernel/clock.ts'
import { DataFault, EXIT, ProgramError } from '../kernel/exit.ts'
import { type Ask, type Connection, READ_COMMITTED } from './connection.ts'
import { copyPages } from './pages.ts'
import { KNOWN_SEQ, LEASE_IS_OVER, schemaStatements } from './schema.ts'
import { type Table, tablesOf } from './tables.ts'

/** The installation in PostgreSQL: its checks, its creation, and its description of itself (contract C18). */

/** This server can never serve this installation, and ends. */
export class ServerUnfit extends DataFault {}

/** The command needs to write, but another server is active. */
export class NotActive extends ProgramError {
  constructor(active: Pick<Installation, 'holder' | 'url'> | undefined) {
    super(EXIT.failed, `another server is active: ${placeOf(active)}\nRun the command on the machine of that server.`)
  }
}

/** A server as an operator knows it: its machine, and its URL for clients. */
const placeOf = (active: Pick<Installation, 'holder' | 'url'> | undefined): string => {
  const [, host = 'another machine', isCommand] = /^(.*?)(-command)?-[0-9a-f]{12}$/.exec(active?.holder ?? '') ?? []
  return isCommand === undefined && active?.url ? `${host}, ${active.url}` : `a command on ${host}`
}

/**
 * Does some work whose failures do not pass with time, such as a wrong key or catalog, unless the disk causes them.
 *
 * @throws ServerUnfit
 */
export const fitting = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    if (error instanceof SQLiteError) throw error
    throw new ServerUnfit(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

export interface Installation {
  id: string
  release: string
  schemaVersion: number
  epoch: number
  seq: number
  holder: string | null
  url: string | null
  /** True if a server may take the lease. */
  isFree: boolean
}

const VERSION_MIN = 150_000
/** These columns identify a schema that Scrip has made. */
const INSTALLATION_COLUMNS = ['id', 'release', 'schema_version', 'epoch', 'holder', 'url']
const LARGEST_INIT_MS = 720 * MINUTE_MS

interface Server {
  version: number
  fsync: string
  read_only: string
  is_standby: boolean
  encoding: string
  can_create: boolean
  has_schema: boolean
  can_use: boolean
  is_ours: boolean
  is_empty: boolean
  can_write: boolean
}

/** Called before anything is opened. Returns true if there is an installation. @throws DataFault, PostgresAway, PostgresRefusal */
export const checkServer = async (ask: Ask): Promise<boolean> => {
  const [server] = await ask<Server>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
      current_setting('default_transaction_read_only') AS read_only,
      pg_is_in_recovery() AS is_standby,
      (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()) AS encoding,
      has_database_privilege(current_database(), 'CREATE') AS can_create,
      to_regnamespace('scrip') IS NOT NULL AS has_schema,
      coalesce(has_schema_privilege(to_regnamespace('scrip'), 'USAGE, CREATE'), false) AS can_use,
      (SELECT count(*) = ${INSTALLATION_COLUMNS.length} FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = to_regnamespace('scrip') AND relname = 'installation'
        AND attname IN (${INSTALLATION_COLUMNS.map((name) => `'${name}'`).join(', ')})) AS is_ours,
      NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('scrip')) AS is_empty,
      coalesce((SELECT bool_and(CASE relkind
          WHEN 'S' THEN has_sequence_privilege(oid, 'SELECT') AND has_sequence_privilege(oid, 'UPDATE')
          ELSE has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
            AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE') END)
        FROM pg_class WHERE relnamespace = to_regnamespace('scrip') AND relkind IN ('r', 'S')), true) AS can_write`,
  )
  if (!server) throw new DataFault('PostgreSQL did not report its settings')
  const fault = faultOf(server)
  if (fault !== undefined) throw new DataFault(fault)
  return server.is_ours
}

const faultOf = (server: Server): string | undefined => {
  if (server.version < VERSION_MIN)
    return `the record needs PostgreSQL 15 or newer, and this is ${Math.floor(server.version / 10_000)}\nUpgrade it, or use another one.`
  if (server.is_standby)
    return 'this PostgreSQL is a standby, which takes no writes\nUse the primary, or list all servers.'
  if (server.fsync !== 'on') return 'this PostgreSQL has fsync off, and would lose commits\nSet fsync to on.'
  if (server.read_only !== 'off')
    return 'default_transaction_read_only is on for this user or database, which then takes no writes\nReset it: ALTER ROLE or ALTER DATABASE ... RESET default_transaction_read_only.'
  if (server.encoding !== 'UTF8')
    return `the database is in ${server.encoding}, and the record needs UTF8\nMake one with ENCODING 'UTF8' TEMPLATE template0.`
  if (server.has_schema && !server.can_use)
    return 'the user has no rights on the schema scrip\nGrant USAGE and CREATE on it, or make the user its owner.'
  if (!server.has_schema && !server.can_create)
    return 'the user may not create the schema scrip\nGrant CREATE on the database, or create the schema for the user.'
  if (server.has_schema && !server.is_ours && !server.is_empty)
    return 'the schema scrip contains tables of another program\nUse another database.'
  if (!server.can_write)
    return 'the user may not write the tables and sequences of the schema scrip\nUse the user that created them, or grant it to this one.'
  return undefined
}

/** Checks PostgreSQL, and returns the installation; undefined if there is none. @throws DataFault if it cannot be used */
export const installationOf = async (ask: Ask): Promise<Installation | undefined> =>
  (await checkServer(ask)) ? findInstallation(ask) : undefined

/** Undefined if PostgreSQL is empty. @throws ServerUnfit when another release made it */
export const findInstallation = async (ask: Ask): Promise<Installation | undefined> => {
  const [row] = await ask<
    Record<'id' | 'release' | 'schema_version' | 'epoch' | 'seq', string> & {
      holder: string | null
      url: string | null
      is_free: boolean
    }
  >(
    `SELECT id, release, schema_version, epoch, ${KNOWN_SEQ} AS seq, holder, url, ${LEASE_IS_OVER} AS is_free FROM scrip.installation`,
  )
  if (!row) return undefined
  const installation = {
    id: row.id,
    release: row.release,
    schemaVersion: Number(row.schema_version),
    epoch: Number(row.epoch),
    seq: Number(row.seq),
    holder: row.holder,
    url: row.url,
    isFree: row.is_free,
  }
  if (installation.schemaVersion > SCHEMA_VERSION) {
    throw new ServerUnfit(
      `the record is at schema ${installation.schemaVersion}, and this program knows schemas up to ${SCHEMA_VERSION}: it was created by a newer release, or by a build before the first one\nRun Scrip ${installation.release}, which created it.`,
    )
  }
  return installation
}

interface Follower {
  follower: string
  url: string | null
  seq: number
  lag_commits: number
  seen_seconds_ago: number
}

/** The warm servers that have reported within the last minute. */
export const followersOf = async (ask: Ask, seq: number): Promise<Follower[]> => {
  const rows = await ask<{ holder: string; url: string | null; seq: string; ago: number }>(
    `SELECT holder, url, seq, extract(epoch FROM clock_timestamp() - at)::float8 AS ago FROM scrip.followers
      WHERE at > clock_timestamp() - interval '1 minute' ORDER BY holder`,
  )
  return rows.map(({ holder, url, seq: at, ago }) => ({
    follower: holder,
    url,
    seq: Number(at),
    lag_commits: Math.max(0, seq - Number(at)),
    seen_seconds_ago: Math.round(ago * 10) / 10,
  }))
}

/** A value that identifies a key, and reveals nothing more. */
const checkOf = (key: Uint8Array): string => createHmac('sha256', key).update('scrip record').digest('hex')

/** @throws DataFault when the installation was made with another key */
export const checkKey = async (ask: Ask, name: string, key: Uint8Array): Promise<void> => {
  const [row] = await ask<{ value: string }>('SELECT value FROM scrip.key_checks WHERE name = $1', [name])
  if (row && row.value !== checkOf(key)) {
    throw new DataFault(
      `the ${name} key is not the one of the other servers\nEvery server has the same SCRIP_VOUCHER_KEY and SCRIP_SIGNING_KEY.`,
    )
  }
}

export interface NewInstallation {
  id: string
  release: string
  signingKey: Uint8Array
  /** Writes further data of the installation into the database, in the same transaction. */
  before?: () => void
}

/**
 * Makes an installation from a database, in one transaction, and marks the database as its copy. PostgreSQL gets the tables of
 * the database. @throws DataFault if PostgreSQL holds data
 */
export const makeInstallation = async (
  connection: Connection,
  { sqlite }: Database,
  { id, release, signingKey, before }: NewInstallation,
): Promise<void> => {
  const tables = tablesOf(sqlite)
  sqlite.run('BEGIN IMMEDIATE')
  try {
    before?.()
    const atUs = await connection.transaction(READ_COMMITTED, LARGEST_INIT_MS, async (ask) => {
      await ask("SELECT pg_advisory_xact_lock(hashtext('scrip record'))")
      const [{ is_there: isThere } = {}] = await ask<{ is_there: boolean }>(
        "SELECT to_regclass('scrip.installation') IS NOT NULL AS is_there",
      )
      if (isThere)
        throw new DataFault(
          'the record already contains data\nUse an empty database, or serve a folder of this record.',
        )
      const [{ has_schema: hasSchema } = {}] = await ask<{ has_schema: boolean }>(
        "SELECT to_regnamespace('scrip') IS NOT NULL AS has_schema",
      )
      if (!hasSchema) await ask('CREATE SCHEMA scrip')
      for (const statement of schemaStatements(tables)) await ask(statement)
      await putAll(ask, sqlite, tables)
      await ask('INSERT INTO scrip.key_checks (name, value) VALUES ($1, $2)', ['signing', checkOf(signingKey)])
      await ask('INSERT INTO scrip.installation (id, release, schema_version, epoch) VALUES ($1, $2, $3, 0)', [
        id,
        release,
        SCHEMA_VERSION,
      ])
      await ask('INSERT INTO scrip.fence (epoch) VALUES (0)')
      const [row] = await ask<{ at: string }>(
        'INSERT INTO scrip.changes (seq, epoch, at) VALUES (1, 0, clock_timestamp()) RETURNING (extract(epoch FROM at) * 1000000)::bigint AS at',
      )
      return Number(row?.at)
    })
    putPosition(sqlite, { installation: id, seq: 1, epoch: 0, atUs, leaseEpoch: 0 })
    sqlite.run('COMMIT')
  } finally {
    if (sqlite.inTransaction) sqlite.run('ROLLBACK')
  }
}

export const putAll = async (ask: Ask, sqlite: SqliteDatabase, tables: readonly Table[]): Promise<void> => {
  for (const table of tables) {
    for (const { rows } of copyPages(sqlite, table)) {
      await ask('SELECT scrip.apply($1::text::json)', [`{${JSON.stringify(table.name)}:${rows}}`])
    }
  }
}
