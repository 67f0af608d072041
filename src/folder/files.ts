import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DataFault } from '../kernel/exit.ts'
import { flushFolder } from './disk.ts'
import { exposure, isExposed, statOf } from './permissions.ts'

/** A data folder: the database and its keys (decision 142). */

const DATABASE_FILE = 'scrip.sqlite'
export const PRIVATE_FILE_MODE = 0o600
const PRIVATE_FOLDER_MODE = 0o700

/** The suffix of a file that is not complete yet. */
export const STAGED = '.new'

export const databasePath = (dataDir: string): string => join(dataDir, DATABASE_FILE)

/** An empty file counts as missing: nothing was ever written to it. */
export const hasDatabase = (dataDir: string): boolean => isFilled(databasePath(dataDir))

export const isFilled = (path: string): boolean => existsSync(path) && statSync(path).size > 0

export const makeDataFolder = (dataDir: string): void => {
  mkdirSync(dataDir, { recursive: true, mode: PRIVATE_FOLDER_MODE })
}

/** For a folder below the data folder. */
export const makePrivateFolder = (path: string): void => {
  if (existsSync(path)) return
  mkdirSync(path, { mode: PRIVATE_FOLDER_MODE })
  giveToOwner(path)
}

/** SQLite would create the file readable by everyone. The log beside a database gets the same permissions. */
export const makePrivateFile = (path: string): void => {
  if (existsSync(path)) return
  closeSync(openSync(path, 'a', PRIVATE_FILE_MODE))
  giveToOwner(path)
}

/** Files that a process of root creates belong to the owner of the folder. */
export const giveToOwner = (path: string): void => {
  if (process.getuid?.() !== ROOT) return
  const { uid, gid } = statSync(dirname(path))
  chownSync(path, uid, gid)
}

const ROOT = 0

export const makePrivate = (path: string): void => chmodSync(path, PRIVATE_FILE_MODE)

/** The database, its logs, the databases that were set aside, and all keys. */
const PRIVATE_FILES = /^(?:scrip\.sqlite|voucher\.key|signing\.key)/

const WRITTEN_BY_EVERYBODY = 0o002

/** For live data (contract C17). @throws DataFault when others can read a file, or everybody can replace one */
export const requirePrivateFiles = (dataDir: string): void => {
  const folder = statOf(dataDir)
  if (!folder?.isDirectory()) return // it is made, or refused, where it is used
  if (process.platform !== 'win32' && (folder.mode & WRITTEN_BY_EVERYBODY) !== 0) {
    throw new DataFault(`any user of this machine can replace files in this folder\nRun chmod o-w ${dataDir}.`)
  }
  const exposed = readdirSync(dataDir).find((name) => PRIVATE_FILES.test(name) && isExposed(join(dataDir, name)))
  if (exposed !== undefined) throw new DataFault(exposure(join(dataDir, exposed)))
}

export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')

export const findPrivateFile = (dataDir: string, file: string): Buffer | undefined => {
  const path = join(dataDir, file)
  return existsSync(path) ? readFileSync(path) : undefined
}

/** Writes a file for its owner only, in one step, and waits until it is on the disk. */
export const writePrivateFile = (dataDir: string, file: string, content: string | Uint8Array): void => {
  const staged = join(dataDir, file + STAGED)
  writeFileSync(staged, content, { mode: PRIVATE_FILE_MODE, flush: true })
  makePrivate(staged)
  giveToOwner(staged)
  renameSync(staged, join(dataDir, file))
  flushFolder(dataDir)
}

export const removeDatabase = (path: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

/**
 * Writes a whole database in one step, and waits until it is on the disk: a process that is killed leaves the old one or the new one.
 * `release` closes the old one, once there is room for the new one.
 */
export const writeDatabase = (path: string, image: Uint8Array, release: () => void = () => undefined): void => {
  const staged = path + STAGED
  try {
    writeFileSync(staged, image, { mode: PRIVATE_FILE_MODE, flush: true })
    release()
    // A log that a killed process has left would be read into the new database.
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    renameSync(staged, path)
    flushFolder(dirname(path))
  } finally {
    rmSync(staged, { force: true })
  }
}

export const movePrivateFile = (dataDir: string, from: string, to: string): void => {
  renameSync(join(dataDir, from), join(dataDir, to))
  flushFolder(dataDir)
}
