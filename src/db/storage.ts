import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DataFault } from '../kernel/exit.ts'
import { DomainError, unavailable } from '../kernel/failure.ts'

const RETRY_AFTER_SECONDS = 5

/** Errors of SQLite and of files that may pass: a full, broken or read-only disk, or another process that writes. */
const PASSING = /^(?:SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|PROTOCOL)|ENOSPC|EDQUOT|EFBIG|EIO|EROFS)/

/** The files are no longer those that this process has open: its writes would be lost. */
export class FilesGone extends DataFault {
  constructor(path: string) {
    super(`${path} was removed or replaced: put it back, or restart the server`)
  }
}

export const isPassing = (error: unknown): boolean =>
  error instanceof FilesGone || (error instanceof Error && 'code' in error && PASSING.test(String(error.code)))

/** Errors of SQLite about pages of a file that SQLite has not written in this form. */
const DAMAGE = /^SQLITE_(?:CORRUPT|NOTADB)/

export const isDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && DAMAGE.test(String(error.code))

/** Converts errors that may pass, for which clients get a 503. */
export const asFailure = (error: unknown): unknown => (isPassing(error) ? tryLater(error) : error)

export const tryLater = (cause?: unknown): DomainError => unavailableFor(RETRY_AFTER_SECONDS, cause)

export const unavailableFor = (seconds: number, cause?: unknown): DomainError =>
  new DomainError(unavailable(seconds), { cause })

/** The database file and its log, as they were when the server opened them. */
export class OpenFiles {
  readonly #identities: ReadonlyMap<string, string | undefined>

  constructor(readonly path: string) {
    this.#identities = new Map([path, `${path}-wal`].map((file) => [file, identityOf(file)]))
  }

  /** Called for each commit. Takes about 5 µs. */
  areInPlace(): boolean {
    for (const [file, identity] of this.#identities) if (identityOf(file) !== identity) return false
    return true
  }

  /** True if the system allows writes. On a disk that has become read-only, this is false before the first failed write. */
  areWritable(): boolean {
    try {
      for (const path of [dirname(this.path), this.path]) accessSync(path, constants.W_OK)
      return true
    } catch {
      return false
    }
  }
}

const identityOf = (file: string): string | undefined => {
  try {
    const { dev, ino } = statSync(file)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
