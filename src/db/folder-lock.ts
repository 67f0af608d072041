import { Database as SqliteDatabase } from 'bun:sqlite'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS } from '../kernel/clock.ts'
import { DataFault, isBusy, makePrivateFile } from './data-folder.ts'

/** Locks of the operating system, which end with their process (decision 0020). Disposal unlocks. */
const LOCK_FILE = 'server.lock'
/** Held by a command that writes a long file in many transactions. */
const IMPORT_LOCK_FILE = 'import.lock'

/** Held by a command while it writes; the others wait in line. */
const LINE_LOCK_FILE = 'commands.lock'
/** How long a command waits in line before it says so, and in all. */
const LINE_QUIET_MS = 2 * SECOND_MS
const LINE_MS_MAX = 2 * MINUTE_MS

/** Keeps other servers away; shared with commands. @throws DataFault while another one serves */
export const lockForServing = (dataDir: string): Disposable =>
  lock(dataDir, LOCK_FILE, alone(0), 'another scrip serve works on this folder\nStop it first, or name another folder.')

/** Two processes that come at once are in each other's way for a moment: without a pause, both are refused. */
const MOMENT = 'PRAGMA busy_timeout = 250'

/** @throws DataFault while another process replaces the database */
export const lockForCommand = (dataDir: string): Disposable =>
  lock(
    dataDir,
    LOCK_FILE,
    [MOMENT, 'BEGIN', 'SELECT count(*) FROM sqlite_schema'],
    'another command makes or replaces the database of this folder\nTry again when it is done.',
  )

/** @throws DataFault while any other process works on the folder */
export const lockForReplacing = (dataDir: string): Disposable =>
  lock(
    dataDir,
    LOCK_FILE,
    [MOMENT, 'BEGIN EXCLUSIVE'],
    'a scrip serve or another command works on this folder\nStop it first, or name another folder.',
  )

/** @throws DataFault when another process imports, or encrypts codes again, for longer than `waitMs` */
export const lockForImport = (dataDir: string, waitMs = 0): Disposable =>
  lock(
    dataDir,
    IMPORT_LOCK_FILE,
    alone(waitMs),
    'another import, or scrip vouchers rekey, works on this folder\nTry again when it is done.',
  )

/**
 * A turn to write, in line with other commands: many at once would be in each other's way. Beside them, a server writes.
 * @param onWait called when the turn does not come at once
 * @throws an error of SQLite, busy, after two minutes
 */
export const lockForTurn = (dataDir: string, onWait: () => void): Disposable => {
  try {
    return lock(dataDir, LINE_LOCK_FILE, alone(LINE_QUIET_MS))
  } catch (error) {
    if (!isBusy(error)) throw error
    onWait()
    return lock(dataDir, LINE_LOCK_FILE, alone(LINE_MS_MAX))
  }
}

/** Begins to write. Others can do what does not write meanwhile. */
const alone = (waitMs: number): string[] => [`PRAGMA busy_timeout = ${waitMs}`, 'BEGIN IMMEDIATE']

/** @throws DataFault when it is refused, or what SQLite says where no refusal is given */
const lock = (dataDir: string, file: string, statements: readonly string[], refusal?: string): Disposable => {
  const path = join(dataDir, file)
  makePrivateFile(path)
  const sqlite = new SqliteDatabase(path, { create: true, readwrite: true })
  try {
    for (const statement of statements) sqlite.run(statement)
  } catch (error) {
    sqlite.close()
    throw isBusy(error) && refusal !== undefined ? new DataFault(refusal) : error
  }
  return {
    [Symbol.dispose]: () => {
      sqlite.run('ROLLBACK')
      sqlite.close()
    },
  }
}
