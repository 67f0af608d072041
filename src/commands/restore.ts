import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { type DataConfig, type DataOptions, dataConfigOf, withDataOptions } from '../config.ts'
import { DataFault, databasePath, hasDatabase, lockForServing, makeDataFolder, makePrivate } from '../db/data-folder.ts'
import { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { systemClock } from '../kernel/clock.ts'
import { isKeyOf, markOf } from '../orders/voucher-key.ts'
import { revokeLogins } from '../sessions/clients.ts'
import { refused, told } from './administration.ts'
import { flush } from './backup.ts'
import { EXIT, ProgramError } from './exit.ts'
import { note, type Row, show } from './output.ts'
import { type OnProgress, withProgress } from './progress.ts'
import { verified } from './verify.ts'

interface RestoreOptions extends DataOptions {
  force?: true
}

/** `scrip restore`: puts a backup in the place of a folder's database, once it is proved to be sound. */
export const restoreCommand = (restore: Command): void => {
  withDataOptions(restore)
    .description('make a backup the database of a folder on which no server runs; everyone has to log in again')
    .argument('<file>', 'what scrip backup wrote')
    .option('--force', 'replace the database that is there')
    .action(async (file: string, options: RestoreOptions) => {
      const config = dataConfigOf(options)
      if (!existsSync(file)) throw new ProgramError(EXIT.data, `${file} does not exist.`)
      const work = (onProgress: OnProgress) => restored(file, config, options.force ?? false, onProgress)
      show(await told(config.dataDir, () => withProgress(statSync(file).size, work)), config.json)
    })
}

const restored = (file: string, config: DataConfig, isForced: boolean, onProgress: OnProgress): Row => {
  const { dataDir } = config
  makeDataFolder(dataDir)
  const unlock = lockForServing(dataDir)
  try {
    if (hasDatabase(dataDir) && !isForced) {
      throw refused(`${dataDir} holds a database already: --force replaces it. Take a backup of it first.`)
    }
    const path = databasePath(dataDir)
    const draft = `${path}.${process.pid}`
    try {
      onProgress('copying the backup', 0, 0)
      copyFileSync(file, draft)
      makePrivate(draft)
      prepare(draft, config, onProgress)
      flush(draft)
      if (hasDatabase(dataDir)) emptyLog(path)
      renameSync(draft, path)
    } finally {
      for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
    }
    return { data_dir: dataDir, restored_from: file }
  } finally {
    unlock()
  }
}

/** A copy of the backup becomes what this program works on, or is refused. */
const prepare = (draft: string, { dataDir, voucherKey, json }: DataConfig, onProgress: OnProgress): void => {
  const database = Database.openFile(draft)
  try {
    migrate(database.sqlite, systemClock)
    const broken = verified(draft, onProgress).find(({ faults }) => faults > 0)
    if (broken) throw new DataFault(`The backup is not sound: ${broken.first}. scrip verify tells all of it.`)
    const mark = markOf(database.query)
    const isRight = mark === undefined || isKeyOf(mark, dataDir, voucherKey)
    if (isRight === false) throw new DataFault('The voucher key is not the one that sealed the codes of the backup.')
    if (isRight === undefined) note(`Put the voucher.key of the backup into ${dataDir} before you serve it.`, json)
    // What was logged out after the backup stays out: no token of before is good any more (contract C3).
    revokeLogins(database.query)
  } finally {
    database.close()
  }
}

/** Brings what is replaced into one file, so that its log is not read into the new database. */
const emptyLog = (path: string): void => {
  try {
    Database.openFile(path).close()
  } catch {
    // A database that is damaged has nothing left to save.
  }
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
}
