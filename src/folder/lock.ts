import { Database as SqliteDatabase } from 'bun:sqlite'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { isBusy, makePrivateFile } from './files.ts'

/** Locks of the operating system, which end with their process (decision 142). Disposal unlocks. */
const SERVER_FILE = 'server.lock'
/** Held by the process that writes the folder: a server while it runs, or a command. */
const WRITER_FILE = 'writer.lock'
/** Held while a copy is made, codes are imported, or data is erased or encrypted again, which must not get into a copy. */
const COPY_FILE = 'copy.lock'
export const LOCK_FILES = [SERVER_FILE, WRITER_FILE, COPY_FILE]

/** The time that commands wait for each other, and a server for a command (contract C20). */
export const WRITER_MS_MAX = 30 * SECOND_MS
const LOOK_MS = 20

/** Two processes that start at once block each other for a moment: without this pause, both are refused. */
const MOMENT_MS = 250

/** Begins to write. Meanwhile, others can only read. */
const WRITE = 'BEGIN IMMEDIATE'
const READ = 'BEGIN; SELECT count(*) FROM sqlite_schema'

/** Keeps all processes but a server from writing. @throws DataFault while another server runs, or a command writes for too long */
export const lockForServing = (dataDir: string): Disposable => {
  using locks = new DisposableStack()
  locks.use(lockForLife(dataDir, MOMENT_MS)) // a command may check whether a server runs
  locks.use(lock(dataDir, WRITER_FILE, WRITE, WRITER_MS_MAX, WRITES_TOO_LONG))
  return locks.move()
}

const WRITES_TOO_LONG = 'a command has been writing to this folder for too long\nTry again.'

/** For a folder that no command writes. @throws DataFault while another process has it */
export const lockForLife = (dataDir: string, waitMs = 0): Disposable =>
  lock(
    dataDir,
    SERVER_FILE,
    WRITE,
    waitMs,
    'another scrip serve is using this folder\nStop it first, or use another folder.',
  )

/** True if a server has the folder, or a command replaces its database. */
export const isServed = (dataDir: string): boolean => {
  const free = unlessBusy(() => lock(dataDir, SERVER_FILE, WRITE, 0))
  free?.[Symbol.dispose]()
  return free === undefined
}

/** For a process that reads beside a server. @throws DataFault while another process replaces the database */
export const lockForReading = (dataDir: string): Disposable =>
  lock(
    dataDir,
    SERVER_FILE,
    READ,
    MOMENT_MS,
    'another command is creating or replacing the database of this folder\nTry again when it is done.',
  )

/** For a command that writes. Undefined while another process writes. @throws DataFault as {@link lockForReading} */
export const lockForWriting = (dataDir: string): Disposable | undefined => {
  const writerLock = new WriterLock(dataDir)
  if (writerLock.take()) return writerLock
  writerLock[Symbol.dispose]()
  return undefined
}

/** The turn of a command to write, among many that wait. Disposal ends it. @throws DataFault as {@link lockForReading} */
export class WriterLock implements Disposable {
  readonly #reader: Disposable
  readonly #sqlite: SqliteDatabase

  constructor(dataDir: string) {
    this.#reader = lockForReading(dataDir)
    this.#sqlite = openLock(dataDir, WRITER_FILE, 0)
  }

  /** Returns true once the turn has come: no other process writes. */
  take(): boolean {
    try {
      this.#sqlite.run(WRITE)
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }

  [Symbol.dispose](): void {
    if (this.#sqlite.inTransaction) this.#sqlite.run('ROLLBACK')
    this.#sqlite.close()
    this.#reader[Symbol.dispose]()
  }
}

/** @throws DataFault while any other process works on the folder */
export const lockForReplacing = (dataDir: string): Disposable =>
  lock(
    dataDir,
    SERVER_FILE,
    'BEGIN EXCLUSIVE',
    MOMENT_MS,
    'a scrip serve or another command is using this folder\nStop it first, or use another folder.',
  )

/** @throws DataFault when another process has it for longer than `waitMs` */
export const lockForCopying = async (dataDir: string, waitMs = MINUTE_MS): Promise<Disposable> => {
  for (const endMs = sinceStartMs() + waitMs; ; await Bun.sleep(LOOK_MS)) {
    const folderLock = unlessBusy(() => lock(dataDir, COPY_FILE, WRITE, 0))
    if (folderLock) return folderLock
    if (sinceStartMs() >= endMs)
      throw new DataFault(
        'another backup, an import of codes or the erasure of a person is running on this folder\nTry again when it is done.',
      )
  }
}

const unlessBusy = (take: () => Disposable): Disposable | undefined => {
  try {
    return take()
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
}

/** @throws DataFault with the refusal, or the error of SQLite if no refusal is given */
const lock = (dataDir: string, file: string, statements: string, waitMs: number, refusal?: string): Disposable => {
  const sqlite = openLock(dataDir, file, waitMs)
  try {
    sqlite.run(statements)
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

const openLock = (dataDir: string, file: string, waitMs: number): SqliteDatabase => {
  const path = join(dataDir, file)
  makePrivateFile(path)
  const sqlite = new SqliteDatabase(path, { create: true, readwrite: true })
  sqlite.run(`PRAGMA busy_timeout = ${waitMs}`)
  return sqlite
}
