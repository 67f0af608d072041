import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DomainError, unavailable } from '../kernel/failure.ts'

const RETRY_AFTER_SECONDS = 5

/** Errors of SQLite and of files that may pass: a full, broken or read-only disk, or another process that writes. */
const PASSING = /^(?:SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|PROTOCOL)|ENOSPC|EDQUOT|EFBIG|EIO|EROFS)/

/** The files are no longer those that this process has open: what it writes would be lost. */
export class FilesGone extends Error {
  override readonly name = 'FilesGone'

  constructor(path: string) {
    super(`${path} was removed or replaced: put it back, or restart the server`)
  }
}

export const isPassing = (error: unknown): boolean =>
  error instanceof FilesGone || (error instanceof Error && 'code' in error && PASSING.test(String(error.code)))

/** Errors of SQLite where the pages of a file hold what it has not written. */
const DAMAGE = /^SQLITE_(?:CORRUPT|NOTADB)/

export const isDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && DAMAGE.test(String(error.code))

/** Clients get a 503 for errors that may pass. */
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

  /** Takes about 5 µs, for each commit. */
  areInPlace(): boolean {
    for (const [file, identity] of this.#identities) if (identityOf(file) !== identity) return false
    return true
  }

  /** Whether the system lets them be written. A disk that has become read-only says no before anything was written. */
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
