import { Database as SqliteDatabase } from 'bun:sqlite'
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A data folder: the database, the keys beside it, and the lock of the server that works on it (decision 0020). */

const DATABASE_FILE = 'scrip.sqlite'
const LOCK_FILE = 'server.lock'
const PRIVATE_FILE_MODE = 0o600
const PRIVATE_FOLDER_MODE = 0o700

/** A data folder that cannot be what it is asked to be: exit code 4, told without a stack. */
export class DataFault extends Error {
  override readonly name = 'DataFault'
}

/** The file of a folder's database, which may not exist. */
export const databasePath = (dataDir: string): string => join(dataDir, DATABASE_FILE)

export const hasDatabase = (dataDir: string): boolean => existsSync(databasePath(dataDir))

/** Makes the folder for its owner only, unless it is there. */
export const makeDataFolder = (dataDir: string): void => {
  mkdirSync(dataDir, { recursive: true, mode: PRIVATE_FOLDER_MODE })
}

/**
 * Makes an empty file for its owner only, unless it is there. SQLite would make it for everyone to read; the log beside
 * a database takes after it.
 */
export const makePrivateFile = (path: string): void => {
  if (!existsSync(path)) closeSync(openSync(path, 'a', PRIVATE_FILE_MODE))
}

/** Takes a file away from all but its owner. */
export const makePrivate = (path: string): void => chmodSync(path, PRIVATE_FILE_MODE)

/**
 * Keeps every other server away from the folder, for as long as this process lives: the lock is the operating
 * system's, so that one that is killed leaves none behind. Answers how to give it up.
 *
 * @throws DataFault while another process holds it
 */
export const lockForServing = (dataDir: string): (() => void) => {
  makePrivateFile(join(dataDir, LOCK_FILE))
  const lock = new SqliteDatabase(join(dataDir, LOCK_FILE), { create: true, readwrite: true })
  try {
    lock.run('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw new DataFault('Another scrip serve works on this folder: stop it first, or name another folder.')
  }
  return () => {
    lock.run('ROLLBACK')
    lock.close()
  }
}

/** Whether SQLite gave up waiting for another process. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')

/** What a file of the folder holds, or undefined when it does not exist. */
export const readKept = (dataDir: string, file: string): Buffer | undefined => {
  const path = join(dataDir, file)
  return existsSync(path) ? readFileSync(path) : undefined
}

/** Writes a file for its owner only, so that it appears whole or not at all. */
export const keep = (dataDir: string, file: string, content: string | Uint8Array): void => {
  const draft = join(dataDir, `${file}.${process.pid}`)
  writeFileSync(draft, content, { mode: PRIVATE_FILE_MODE, flush: true })
  makePrivate(draft)
  renameSync(draft, join(dataDir, file))
}

/** Writes the image of a database as that of the folder. */
export const keepDatabase = (dataDir: string, image: Uint8Array): void => keep(dataDir, DATABASE_FILE, image)
