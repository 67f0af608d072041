import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { copyDatabase, ownDatabase } from '../../db/beside.ts'
import { createStagingFolder } from '../../folder/disk.ts'
import { databasePath, hasDatabase, requirePrivateFiles } from '../../folder/files.ts'
import { lockForCopying, lockForReading } from '../../folder/lock.ts'
import { EXIT, ProgramError, unusable } from '../../kernel/exit.ts'
import type { Log } from '../../observability/log.ts'
import { explainFaults } from '../advice.ts'
import { brokenIn, verified } from '../data/verify.ts'
import { print } from '../terminal/output.ts'
import { openData } from './server.ts'
import { nextStopSignal } from './stop-signal.ts'

/** The files that a start reads besides the database. */
const KEY_FILES = ['signing.key', 'voucher.key', 'voucher.key.next']

/**
 * `scrip serve --check`: opens, migrates and verifies a copy of the data folder, also while a server runs on it (contract
 * C17). An obstacle to starting this release shows before that server is stopped.
 * @throws ProgramError as a start does
 */
export const startOnCopy = async (config: Config, log: Log): Promise<void> => {
  const { dataDir = '' } = config
  await explainFaults(dataDir, async () => {
    requirePrivateFiles(dataDir)
    using staging = createStagingFolder(dataDir)
    void nextStopSignal().then(() => {
      staging[Symbol.dispose]()
      process.exit(EXIT.failed)
    })
    const trial = { ...config, dataDir: staging.path, postgres: undefined }
    try {
      await copyFolder(dataDir, staging.path)
      if (config.postgres) ownDatabase(databasePath(staging.path))
      ;(await openData(trial, log)).close()
      const broken = brokenIn(await verified(databasePath(staging.path), trial))
      if (broken !== undefined) throw unusable(`the data is not sound: ${broken}\nSee scrip verify.`)
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error
      throw new ProgramError(error.exitCode, error.message.replaceAll(staging.path, dataDir), { cause: error.cause })
    }
  })
  await print(`${dataDir} can be served by this release.\n`)
}

const copyFolder = async (from: string, to: string): Promise<void> => {
  for (const file of KEY_FILES) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file))
  if (!hasDatabase(from)) return
  using _reading = lockForReading(from)
  using _import = await lockForCopying(from) // an erasure must not leave the person in a copy
  await copyDatabase(databasePath(from), databasePath(to))
}
