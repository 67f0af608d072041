import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { flushFolder } from './disk.ts'

/** A data folder: the database and the keys beside it (decision 0020). */

const DATABASE_FILE = 'scrip.sqlite'
const PRIVATE_FILE_MODE = 0o600
const PRIVATE_FOLDER_MODE = 0o700

/** A data folder that cannot be what it is asked to be: exit code 4, told without a stack. */
export class DataFault extends Error {
  override readonly name = 'DataFault'
}

/** The file of a folder's database, which may not exist. */
export const databasePath = (dataDir: string): string => join(dataDir, DATABASE_FILE)

/** An empty file is none: nothing was ever written to it. */
export const hasDatabase = (dataDir: string): boolean => isFilled(databasePath(dataDir))

/** Whether there is a file, and something in it. */
export const isFilled = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0

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

/** Whether SQLite gave up waiting for another process. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')

/** What a file of the folder holds, or undefined when it does not exist. */
export const readKept = (dataDir: string, file: string): Buffer | undefined => {
  const path = join(dataDir, file)
  return existsSync(path) ? readFileSync(path) : undefined
}

/** Writes a file for its owner only, so that it appears whole or not at all, and waits until it is on the disk. */
export const keep = (dataDir: string, file: string, content: string | Uint8Array): void => {
  const draft = join(dataDir, `${file}.new`)
  writeFileSync(draft, content, { mode: PRIVATE_FILE_MODE, flush: true })
  makePrivate(draft)
  renameSync(draft, join(dataDir, file))
  flushFolder(dataDir)
}

/** Removes a file that was kept, if it is there. */
export const forget = (dataDir: string, file: string): void => {
  rmSync(join(dataDir, file), { force: true })
  flushFolder(dataDir)
}

/** Writes the image of a database as that of a folder that has none. */
export const keepDatabase = (dataDir: string, image: Uint8Array): void => {
  removeDatabase(databasePath(dataDir)) // what is left of one that was never written to
  keep(dataDir, DATABASE_FILE, image)
}

/** Removes a database file with its log. */
export const removeDatabase = (path: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

/** Gives a file the name, and the place, of another one, and waits until that is on the disk. */
export const moveKept = (dataDir: string, from: string, to: string): void => {
  renameSync(join(dataDir, from), join(dataDir, to))
  flushFolder(dataDir)
}
