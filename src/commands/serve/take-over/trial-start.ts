import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { databasePath, hasDatabase } from '../../../db/data-folder.ts'
import { createStagingFolder, releasingBeside } from '../../../db/disk.ts'
import { lockForCommand } from '../../../db/folder-lock.ts'
import type { Log } from '../../../observability/log.ts'
import { dataError } from '../../advice.ts'
import { copyDatabase } from '../../data/beside.ts'
import { ProgramError } from '../../exit.ts'
import { appOf, openPlatform } from '../server.ts'
import { addVisitor, visit } from './visitor.ts'

/** What a start reads besides the database. */
const KEY_FILES = ['signing.key', 'voucher.key', 'voucher.key.next']

/**
 * Starts on a copy of a data folder while another server works on it: whatever would keep this one from starting, a
 * migration too, shows before the other one is asked to go. What was run once also runs faster.
 * @throws ProgramError as a start does
 */
export const startOnCopy = async (config: Config, dataDir: string, log: Log): Promise<void> => {
  using staging = createStagingFolder(dataDir)
  try {
    await copyFolder(dataDir, staging.path)
    const platform = openPlatform({ ...config, dataDir: staging.path, takeOver: false }, log)
    const deps = platform.deps({ publicUrl: HOST, addressOf: () => '', isClosing: () => false })
    const { handle, deliveries, logIn } = appOf({ ...deps, send: deliverNothing }, config)
    const visitor = addVisitor(platform.worlds.default, deps.reference)
    await visit(handle, HOST, await logIn(visitor), visitor)
    await deliveries.close(0)
    platform.close()
    releasingBeside(databasePath(staging.path), () => rmSync(databasePath(staging.path)))
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error
    throw new ProgramError(error.exitCode, error.message.replaceAll(staging.path, dataDir))
  }
}

const HOST = 'http://127.0.0.1'

/** The copy has what the running server delivers. */
const deliverNothing = () => Promise.reject(new Error('a rehearsal delivers nothing'))

/** @throws ProgramError if the disk is full or the database is damaged */
const copyFolder = async (from: string, to: string): Promise<void> => {
  for (const file of KEY_FILES) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file))
  if (!hasDatabase(from)) return
  using _lock = lockForCommand(from)
  // Nobody needs the copy after a crash. But what is not on the disk when it is opened holds up the commits of the server.
  await copyDatabase(databasePath(from), databasePath(to), 'synchronous = OFF').catch((error: unknown) => {
    throw dataError(error, from)
  })
}
