import { SQLiteError, Database as SqliteDatabase } from 'bun:sqlite'
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, realpathSync, renameSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Row } from '../../acts/cells.ts'
import { type AuditSeal, recordAct } from '../../audit/audit.ts'
import { type DataConfig, dataConfigOf } from '../../config/config.ts'
import { operatorName } from '../../config/environment.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withDataOptions } from '../../config/options.ts'
import { findPosition } from '../../db/copy-position.ts'
import { recount } from '../../db/counts.ts'
import { Database, type Tx } from '../../db/database.ts'
import { migrate, schemaFaults } from '../../db/migrate.ts'
import { createStagingFolder, flushFile, flushFolder } from '../../folder/disk.ts'
import {
  databasePath,
  hasDatabase,
  isBusy,
  isFilled,
  makeDataFolder,
  makePrivate,
  removeDatabase,
} from '../../folder/files.ts'
import { isSqlite } from '../../folder/image.ts'
import { lockForReplacing } from '../../folder/lock.ts'
import { modeOf } from '../../folder/mode.ts'
import { statOf } from '../../folder/permissions.ts'
import { systemClock, toTimestamp } from '../../kernel/clock.ts'
import { DataFault, misused, type ProgramError, refused, unusable } from '../../kernel/exit.ts'
import { markOf } from '../../orders/stock-queries.ts'
import { areKeysOf, hasKey, openCipher } from '../../orders/voucher-key.ts'
import { revokeLogins } from '../../sessions/queries.ts'
import { actRequestOf, doneBy, recordingRefusal } from '../acts/ask.ts'
import { dataError, explainFaults } from '../advice.ts'
import { requirePrivateData } from '../records/administration.ts'
import { note, show } from '../terminal/output.ts'
import { type OnProgress, withProgress } from '../terminal/progress.ts'
import { brokenIn, requireFile, verified } from './verify.ts'

interface RestoreOptions extends DataOptions {
  force?: true
}

/** `scrip restore`: verifies a backup, then replaces the database of a folder with it. */
export const restoreCommand = (restore: Command): void => {
  withDataOptions(restore)
    .description('replace a database with a backup while no server is running; revokes all tokens')
    .argument('<file>', 'a backup made by scrip backup')
    .option('--force', 'replace an existing database; it is kept as scrip.sqlite.before-<time>')
    .action(async function (this: Command, file: string, options: RestoreOptions) {
      const config = dataConfigOf(options)
      if (config.postgres) throw misused(NOT_WITH_POSTGRES)
      // A refusal is recorded in the database that stays in the folder, whether a server runs or not.
      const request = actRequestOf(this)
      const row = await recordingRefusal({ config, request }, async () => {
        await explainFaults(file, () => requireFile(file))
        const work = (onProgress: OnProgress) => restored(file, config, options.force ?? false, onProgress)
        return await explainFaults(config.dataDir, () => withProgress(work))
      })
      await show(row, config.format, doneBy(request, row))
      sayWhatIsKept(row, config)
    })
}

const NOT_WITH_POSTGRES =
  'scrip restore works on a folder that holds its own record\nUnset SCRIP_POSTGRES, and name an empty folder. A record in PostgreSQL is restored with the means of PostgreSQL.'

const COPY_OF_POSTGRES =
  'this folder is a copy of a record in PostgreSQL, which servers would go on to serve\nUse an empty folder.'

/** Undefined before the first key of an installation. @throws DataFault when the key is missing */
const auditSealIn = (database: Database, config: DataConfig): AuditSeal | undefined =>
  markOf(database.query) === undefined && !hasKey(config)
    ? undefined
    : openCipher(database, config.dataDir, config.voucherKey)

const recordRestore = (tx: Tx, file: string, seal: AuditSeal | undefined): void =>
  recordAct(tx, seal, {
    outcome: 'done',
    atMs: systemClock.nowMs(),
    user: operatorName(),
    command: 'restore',
    subject: file,
    address: null,
  })

const sayWhatIsKept = ({ data_dir, restored_from, replaced }: Restored, { format }: DataConfig): void => {
  const before =
    replaced === null ? '' : ` The previous data is kept as ${replaced}: remove it when nothing is missing.`
  note(
    `Restored ${data_dir} from ${restored_from}.${before} All clients have to log in again. Next: scrip verify, then start the server.`,
    format,
  )
}

interface Restored extends Row {
  data_dir: string
  restored_from: string
  replaced: string | null
}

/** Prepares the backup beside the folder's database, which only the last step replaces. */
const restored = async (
  file: string,
  config: DataConfig,
  isForced: boolean,
  onProgress: OnProgress,
): Promise<Restored> => {
  const { dataDir } = config
  requirePrivateData(dataDir)
  let lock = existsSync(dataDir) ? lockForReplacing(dataDir) : undefined
  try {
    if (hasDatabase(dataDir) && !isForced) {
      throw refused(`${dataDir} already contains a database\nTake a backup of it, then replace it with --force.`)
    }
    if (inPlace(dataDir, findPosition)) throw new DataFault(COPY_OF_POSTGRES)
    const path = hasDatabase(dataDir) ? realpathSync(databasePath(dataDir)) : resolve(databasePath(dataDir))
    if (isSame(file, path))
      throw ofFile(file, 'is the database of this folder itself\nGive a file written by scrip backup.')
    using staging = createStagingFolder(existingParent(path))
    const staged = join(staging.path, 'scrip.sqlite')
    onProgress('copying the backup', 0, 0)
    copyDatabase(file, staged)
    await prepare(staged, file, config, onProgress)
    onProgress('waiting for the disk', 0, 0)
    flushFile(staged)
    makeFolder(dataDir)
    lock ??= lockForReplacing(dataDir)
    const replaced = putInPlace(staged, path)
    return { data_dir: dataDir, restored_from: file, replaced }
  } finally {
    lock?.[Symbol.dispose]()
  }
}

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [statSync(one), statOf(other)]
  return a.dev === b?.dev && a.ino === b.ino
}

const existingParent = (path: string): string => {
  const parent = dirname(path)
  return existsSync(parent) ? parent : existingParent(parent)
}

const makeFolder = (dataDir: string): void => {
  if (existsSync(dataDir)) return
  const above = dirname(resolve(dataDir))
  mkdirSync(above, { recursive: true })
  makeDataFolder(dataDir)
  flushFolder(above)
}

/** A copy made by hand may have its last writes in a log beside it. */
const copyDatabase = (file: string, staged: string): void => {
  copyFileSync(file, staged)
  makePrivate(staged)
  if (isFilled(`${file}-wal`)) copyFileSync(`${file}-wal`, `${staged}-wal`)
}

/** Checks a copy of the backup, and makes it the next database of the folder. */
const prepare = async (staged: string, file: string, config: DataConfig, onProgress: OnProgress): Promise<void> => {
  try {
    requireScrip(staged)
    const database = Database.openFile(staged)
    try {
      migrate(database.sqlite, systemClock)
      recount(database.sqlite)
      requireSameMode(database, config)
      requireKey(database, config)
      const broken = brokenIn(await verified(staged, config, onProgress))
      if (broken !== undefined) throw notSound(broken)
      const seal = auditSealIn(database, config)
      // A logout after the backup still counts: earlier tokens are no longer valid (contract C3).
      database.fill((tx) => {
        revokeLogins(tx)
        recordRestore(tx, file, seal)
      })
    } finally {
      database.close()
    }
    if (isFilled(`${staged}-wal`)) throw new Error('the log of the restored database was not emptied')
  } catch (error) {
    throw error instanceof DataFault || isDamage(error) ? dataError(error as Error, file) : error
  }
}

const ofFile = (file: string, fault: string): ProgramError => unusable(`${file} ${fault}`)

const isDamage = (error: unknown): boolean =>
  error instanceof SQLiteError && /^SQLITE_(?:CORRUPT|NOTADB|ERROR|NOMEM)/.test(error.code ?? '')

/**
 * Checks the schema before anything in the copy runs: a migration would fire unknown triggers.
 *
 * @throws DataFault
 */
const requireScrip = (staged: string): void => {
  using sqlite = new SqliteDatabase(staged, { readwrite: true, create: false })
  const [first] = schemaFaults(sqlite)
  if (first !== undefined) throw notSound(first)
}

const notSound = (fault: string): DataFault =>
  new DataFault(`the backup is not sound: ${fault}\nscrip verify reports everything. Try an earlier backup.`)

const requireSameMode = (backup: Database, { dataDir }: DataConfig): void => {
  const [mode, kept] = [modeOf(backup.sqlite), inPlace(dataDir, modeOf)]
  if (mode !== undefined && kept !== undefined && mode !== kept) {
    throw new DataFault(`the backup belongs to --mode ${mode}, and ${dataDir} to --mode ${kept}\nUse another folder.`)
  }
}

/** Undefined if the old database is damaged. */
const inPlace = <T>(dataDir: string, find: (sqlite: SqliteDatabase) => T): T | undefined => {
  if (!hasDatabase(dataDir) || !isSqlite(databasePath(dataDir))) return undefined
  try {
    using sqlite = new SqliteDatabase(databasePath(dataDir), { readwrite: true, create: false })
    return find(sqlite)
  } catch {
    return undefined
  }
}

/** Without its key nobody can tell whether the audit of the backup is genuine, or add the row of the restore. */
const requireKey = ({ query }: Database, { dataDir, voucherKey }: DataConfig): void => {
  if (markOf(query) === undefined) return
  const isRight = areKeysOf(query, dataDir, voucherKey)
  if (isRight) return
  const what = isRight === undefined ? 'the voucher key of the backup is missing' : WRONG_KEY
  throw new DataFault(
    `${what}\nSet SCRIP_VOUCHER_KEY or SCRIP_VOUCHER_KEY_FILE, or put its voucher.key into ${dataDir}.`,
  )
}

const WRONG_KEY = 'the voucher key is not the one that encrypted the codes of the backup'

/** One of the two databases is in place at all times. Returns the path to which the old one is moved. */
const putInPlace = (staged: string, path: string): string | null => {
  const kept = isFilled(path) ? moveAside(path) : null
  if (kept === null) removeDatabase(path)
  renameSync(staged, path)
  flushFolder(dirname(path))
  return kept
}

const moveAside = (path: string): string => {
  const kept = `${path}.before-${toTimestamp(systemClock.nowMs()).replaceAll(':', '-')}`
  if (isSqlite(path)) emptyLog(path)
  nameAlso(path, kept)
  // A damaged database leaves this file. The new database must not open it as its own.
  for (const suffix of ['-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix)
  }
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(kept + suffix)) makePrivate(kept + suffix)
  flushFolder(dirname(path))
  return kept
}

const nameAlso = (file: string, name: string): void => {
  try {
    linkSync(file, name)
  } catch {
    copyFileSync(file, name, constants.COPYFILE_EXCL)
    flushFile(name)
  }
}

/** Empties the write-ahead log into the database file. @throws DataFault when another process has it open */
const emptyLog = (path: string): void => {
  using sqlite = new SqliteDatabase(path, { readwrite: true, create: false })
  try {
    sqlite.run('PRAGMA journal_mode = DELETE')
  } catch (error) {
    if (isBusy(error)) throw new DataFault('another program has the database open\nStop it first.')
    // A damaged database is kept as it is.
  }
}
