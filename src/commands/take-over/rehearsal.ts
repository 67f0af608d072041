import { Database as SqliteDatabase } from 'bun:sqlite'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { databasePath, hasDatabase, makePrivateFile } from '../../db/data-folder.ts'
import { createStagingFolder } from '../../db/disk.ts'
import { lockForCommand } from '../../db/folder-lock.ts'
import type { Log } from '../../observability/log.ts'
import { ProgramError } from '../exit.ts'
import { appOf, openPlatform } from '../server.ts'
import { addVisitor, visit } from './visitor.ts'

/** What a start reads besides the database. */
const KEY_FILES = ['signing.key', 'voucher.key', 'voucher.key.next']

/**
 * Starts on a copy of a data folder while another server works on it: whatever would keep this one from starting, a
 * migration too, shows before the other one is asked to go. What was run once also runs faster.
 * @throws ProgramError as a start does
 */
export const rehearse = async (config: Config, dataDir: string, log: Log): Promise<void> => {
  using staging = createStagingFolder(dataDir)
  try {
    copyFolder(dataDir, staging.path)
    const platform = openPlatform({ ...config, dataDir: staging.path, takeOver: false }, log)
    const deps = platform.deps({ publicUrl: HOST, addressOf: () => '', isClosing: () => false })
    const { handle, deliveries, logIn } = appOf({ ...deps, send: deliverNothing }, config)
    const visitor = addVisitor(platform.worlds.default, deps.reference)
    await visit(handle, HOST, await logIn(visitor), visitor)
    await deliveries.close(0)
    platform.close()
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error
    throw new ProgramError(error.exitCode, error.message.replaceAll(staging.path, dataDir))
  }
}

const HOST = 'http://127.0.0.1'

/** The copy has what the running server delivers. */
const deliverNothing = () => Promise.reject(new Error('a rehearsal delivers nothing'))

/** @throws what SQLite says of a database that is damaged */
const copyFolder = (from: string, to: string): void => {
  for (const file of KEY_FILES) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file))
  if (!hasDatabase(from)) return
  using _lock = lockForCommand(from)
  using sqlite = new SqliteDatabase(databasePath(from), { readwrite: true, create: false })
  makePrivateFile(databasePath(to))
  sqlite.run('PRAGMA synchronous = OFF') // nobody needs the copy after a crash, and the running server needs the disk
  sqlite.query('VACUUM INTO ?').run(databasePath(to))
}
