import { statSync } from 'node:fs'
import { DomainError, unavailable } from '../kernel/failure.ts'

/** What can become of the files under a server that runs, and how that is told. */

/** When a client may try again after a write that the disk, or another process, did not let through. */
const RETRY_AFTER_SECONDS = 5

/** What SQLite says when a disk is full, broken or read-only, or when another process writes: it may pass by waiting. */
const PASSING = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|PROTOCOL)/

/** The files are no longer those that this process has open: what it writes would be lost with it. */
export class FilesGone extends Error {
  override readonly name = 'FilesGone'

  constructor(path: string) {
    super(`${path} was removed or replaced: put it back, or restart the server`)
  }
}

/** Whether an error may pass by waiting. */
export const isPassing = (error: unknown): boolean =>
  error instanceof FilesGone || (error instanceof Error && 'code' in error && PASSING.test(String(error.code)))

/** An error as clients are to hear of it: where waiting helps, it is a 503. */
export const asFailure = (error: unknown): unknown => (isPassing(error) ? tryLater(error) : error)

/** What was asked for was not done, and may be asked for again. */
export const tryLater = (cause?: unknown): DomainError => new DomainError(unavailable(RETRY_AFTER_SECONDS), { cause })

/** The database file and its log, as they were when the server opened them. */
export class OpenFiles {
  readonly #identities: ReadonlyMap<string, string | undefined>

  constructor(readonly path: string) {
    this.#identities = new Map([path, `${path}-wal`].map((file) => [file, identityOf(file)]))
  }

  /** Whether they are still where they were. A look takes some 5 µs, which each commit can afford. */
  areInPlace(): boolean {
    for (const [file, identity] of this.#identities) if (identityOf(file) !== identity) return false
    return true
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
