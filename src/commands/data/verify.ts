import { Database as SqliteDatabase } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import type { Row } from '../../acts/cells.ts'
import { breaksIn } from '../../audit/audit.ts'
import { type DataConfig, dataConfigOf, fileConfigOf } from '../../config/config.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withDataOptions } from '../../config/options.ts'
import { type Query, queryOn } from '../../db/database.ts'
import { requireCurrentSchema, schemaFaults } from '../../db/migrate.ts'
import { databasePath } from '../../folder/files.ts'
import { bytesByHeader, isSqlite } from '../../folder/image.ts'
import { lockForReading } from '../../folder/lock.ts'
import { modeOf } from '../../folder/mode.ts'
import { statOf } from '../../folder/permissions.ts'
import { refused, unusable } from '../../kernel/exit.ts'
import { undecryptableIn } from '../../orders/sealed-check.ts'
import { markOf } from '../../orders/stock-queries.ts'
import { findCipher, hasKey, type KeySource, precedesKey } from '../../orders/voucher-key.ts'
import { explainFaults, LENGTHLESS } from '../advice.ts'
import { requirePrivateData } from '../records/administration.ts'
import { note, show } from '../terminal/output.ts'
import { type OnProgress, withProgress } from '../terminal/progress.ts'
import { CHECKS, FILE_CHECK } from './checks.ts'

export const verifyCommand = (verify: Command): void => {
  withDataOptions(verify)
    .description('check the schema and the books of a data folder or a backup, even while a server is running')
    .argument('[file]', 'a backup to check instead of the data folder')
    .option('-v, --verbose', 'show every check, not only those that found something wrong')
    .action(async (file: string | undefined, options: DataOptions & { verbose?: true }) => {
      const { format, ...config } = fileConfigOf(options)
      const path = file ?? databasePath(dataConfigOf(options).dataDir)
      using _index = file === undefined ? undefined : withoutIndex(file)
      const results = await explainFaults(path, () =>
        withProgress((onProgress) =>
          file === undefined ? verifiedData(dataConfigOf(options), onProgress) : verified(path, config, onProgress),
        ),
      )
      const broken = results.filter(({ faults }) => faults > 0)
      const shown = format === 'text' && !options.verbose ? broken : results
      if (shown.length > 0) await show({ columns: ['check', 'faults', 'first'], rows: shown }, format)
      if (broken.length === 0) note(`${path} is sound: ${results.length} checks found nothing wrong.`, format)
      for (const { unchecked } of results) if (unchecked !== undefined) note(unchecked, format)
      if (broken.length > 0) {
        throw refused(
          `${path} is not sound: ${broken.length} of ${results.length} checks found something wrong\nKeep the file, and restore the last backup that scrip verify finds sound.`,
        )
      }
    })
}

/** Removes the index that SQLite makes beside a file with a log, unless it was there before, or another program has it open. */
const withoutIndex = (file: string): Disposable => {
  const index = `${file}-shm`
  const wasThere = existsSync(index)
  const isOpen = (): boolean => {
    try {
      return readFileSync(LOCKS, 'utf8').includes(`:${statSync(index).ino} `)
    } catch {
      return true // other systems do not say
    }
  }
  return { [Symbol.dispose]: () => (!wasThere && existsSync(index) && !isOpen() ? rmSync(index) : undefined) }
}

/** The locks of all programs, by the number of their file. */
const LOCKS = '/proc/locks'

const WITHOUT_KEY =
  'Without the voucher key, a recomputed audit cannot be detected. Set SCRIP_VOUCHER_KEY, or --data-dir.'

interface CheckResult extends Row {
  check: string
  faults: number
  first: string | null
  /** A note on a check that was not possible, with its reason. */
  unchecked?: string
}

/** Caches pages that are read repeatedly: this saves a sixth of the time for a million transactions. */
const CACHE_KIB = 65_536
const AUDIT_CHECK = 'the audit is unbroken'
const SEALED_CHECK = 'codes and secrets can be decrypted'
const SCHEMA_CHECK = 'the schema agrees with the migrations'

/** Checks a data folder and, where it is a copy, whether PostgreSQL holds the same. @throws ProgramError */
export const verifiedData = async (config: DataConfig, onProgress?: OnProgress): Promise<CheckResult[]> => {
  const ofFolder = () => verifiedFolder(databasePath(config.dataDir), config, onProgress)
  if (!config.postgres) return await ofFolder()
  const { verifiedCopy } = await import('../records/replication.ts')
  return await verifiedCopy(config, config.postgres, ofFolder, resultOf)
}

const verifiedFolder = async (path: string, place: KeySource, onProgress?: OnProgress): Promise<CheckResult[]> => {
  if (!existsSync(path)) throw unusable(`${path} does not exist\nCheck its name and its folder.`)
  requirePrivateData(dirname(path))
  using _lock = lockForReading(dirname(path))
  return await verified(path, place, onProgress)
}

/** Runs all checks on one state of a database file. @throws ProgramError, or an error of SQLite */
export const verified = async (path: string, place: KeySource, onProgress?: OnProgress): Promise<CheckResult[]> => {
  requireFile(path)
  using opened = openToCheck(path)
  const { sqlite } = opened
  sqlite.run('BEGIN') // all checks see the same state while a server writes
  requireCurrentSchema(sqlite)
  const schema = resultOf(SCHEMA_CHECK, schemaFaults(sqlite))
  const checks = [FILE_CHECK, ...CHECKS].map(({ name, sql }, index) => {
    onProgress?.(`checking that ${name}`, index, CHECKS.length + 1)
    return resultOf(name, faultsOf(sqlite, sql))
  })
  const query = queryOn(sqlite)
  const isLive = modeOf(sqlite) === 'live' // the sandbox has no audit
  const audit = resultOf(AUDIT_CHECK, isLive ? readable(() => auditFaults(query, place)) : [])
  const unchecked = isLive && !hasKey(place) && markOf(query) !== undefined ? WITHOUT_KEY : undefined
  const cipher = isLive ? findCipher(query, place.dataDir, place.voucherKey) : undefined
  const sealed = resultOf(SEALED_CHECK, cipher ? readable(() => undecryptableIn(query, cipher)) : [])
  return [schema, ...checks, sealed, { ...audit, ...(unchecked && { unchecked }) }]
}

/**
 * Keeps the log of a file as it is. A writer that is the last to close would merge the log into the file, so that a reader is open
 * for longer; a reader would create a log if there is none. Only a writer checks the CHECKs: SQLite leaves those of a reader out.
 */
const openToCheck = (path: string): Disposable & { sqlite: SqliteDatabase } => {
  const reader = existsSync(`${path}-wal`) ? new SqliteDatabase(path, { readonly: true }) : undefined
  reader?.query('SELECT count(*) FROM sqlite_schema').get() // from now on it holds its lock
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false })
  sqlite.run('PRAGMA query_only = ON')
  sqlite.run('PRAGMA trusted_schema = OFF') // somebody else may have made the file
  sqlite.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  sqlite.run('PRAGMA temp_store = MEMORY')
  return {
    sqlite,
    [Symbol.dispose]: () => {
      sqlite.close(true)
      reader?.close(true)
    },
  }
}

const auditFaults = (query: Query, place: KeySource): string[] => {
  const seal = findCipher(query, place.dataDir, place.voucherKey)
  if (seal || !hasKey(place) || precedesKey(query)) return breaksIn(query, seal)
  return [
    markOf(query) === undefined
      ? 'the audit was written without a key, and the folder has one'
      : 'the audit was written with another key',
  ]
}

/** The first fault that was found, in words; undefined for data that is sound. */
export const brokenIn = (results: readonly CheckResult[]): string | undefined =>
  results.find(({ faults }) => faults > 0)?.first ?? undefined

const resultOf = (check: string, faults: readonly string[]): CheckResult => ({
  check,
  faults: faults.length,
  first: faults[0] ?? null,
})

/** SQLite accepts an empty file as an empty database. @throws ProgramError */
export const requireFile = (path: string): void => {
  const found = statOf(path)
  const fault = !found
    ? 'does not exist\nCheck its name and its folder.'
    : !found.isFile()
      ? 'is not a file\nGive a file written by scrip backup.'
      : found.size === 0
        ? 'is empty\nGive a file written by scrip backup.'
        : sizeFault(path, found.size)
  if (fault !== undefined) throw unusable(`${path} ${fault}`)
}

/** A file without a log is as long as its header says. No check reads beyond that length, but a copy does. */
const sizeFault = (path: string, byteCount: number): string | undefined => {
  const expected = !existsSync(`${path}-wal`) && isSqlite(path) ? bytesByHeader(path) : byteCount
  if (expected === byteCount) return undefined
  return `has ${byteCount} bytes, and ${expected} by its header\nTry an earlier backup.`
}

/** Returns the violations of a check. A page or table that cannot be read violates each check that needs it. */
const faultsOf = (sqlite: SqliteDatabase, sql: string): string[] =>
  readable(() =>
    sqlite
      .query<{ fault: string }, []>(sql)
      .all()
      .map(({ fault }) => fault),
  )

const readable = (faults: () => string[]): string[] => {
  try {
    return faults()
  } catch (error) {
    return [damageIn(error)]
  }
}

/** An error of SQLite about the contents of a file, in words. @throws the error, if it is another one */
const damageIn = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_NOMEM') return LENGTHLESS
  if (/^SQLITE_(?:CORRUPT|ERROR)/.test(code)) return (error as Error).message
  throw error
}
