import type { Database } from 'bun:sqlite'
import { sinceStartMs } from '../kernel/clock.ts'
import { isBusy } from './data-folder.ts'
import { asFailure, FilesGone, isPassing, type OpenFiles, tryLater } from './storage.ts'

interface Unit {
  run: () => unknown
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
  sinceMs: number
}

/** Of all databases since the process started, for metrics. */
export const commitTotals = { commits: 0, units: 0 }

/** How often a server tries to write while another process writes. Commands pause for longer between their writes. */
const LOOK_MS = 1
/** How long a unit of work waits for other processes. */
const PATIENCE_MS = 5_000

/** Work in a transaction that is undone alone if it throws. */
export const inSavepoint = <T>(sqlite: Database, work: () => T): T => {
  sqlite.run('SAVEPOINT work')
  try {
    const result = work()
    sqlite.run('RELEASE work')
    return result
  } catch (error) {
    if (sqlite.inTransaction) {
      sqlite.run('ROLLBACK TO work')
      sqlite.run('RELEASE work')
    }
    throw error
  }
}

/** Group commit: units of work that arrive together share one commit, each in its own savepoint. */
export class SharedCommit {
  #waiting: Unit[] = []
  #isFlushDue = false
  #look: ReturnType<typeof setTimeout> | undefined
  #trouble: Error | undefined
  beforeCommit: () => void = () => undefined

  constructor(
    private readonly sqlite: Database,
    /** The files of a server; undefined in memory, and for commands. */
    private readonly files: () => OpenFiles | undefined = () => undefined,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const sinceMs = sinceStartMs()
      this.#waiting.push({ run: work, resolve: resolve as (value: unknown) => void, reject, sinceMs })
      this.#flushSoon()
    })
  }

  get trouble(): Error | undefined {
    return this.#trouble
  }

  /** Commits what is waiting, unless another process writes. */
  flush(): void {
    if (this.#waiting.length === 0) return
    try {
      this.#requireFiles()
      this.sqlite.run('BEGIN IMMEDIATE')
    } catch (error) {
      if (isBusy(error)) this.#waitForTurn(error)
      else this.#fail(this.#waiting.splice(0), error)
      return
    }
    const units = this.#waiting.splice(0)
    let settle: (() => void)[]
    try {
      settle = units.map((unit) => this.#attempt(unit))
      this.beforeCommit()
      this.sqlite.run('COMMIT')
      this.#requireFiles()
    } catch (error) {
      // A full disk may have ended the transaction already; then there is nothing left to roll back.
      if (this.sqlite.inTransaction) this.sqlite.run('ROLLBACK')
      this.#fail(units, error)
      return
    }
    this.#trouble = undefined
    commitTotals.commits += 1
    commitTotals.units += units.length
    for (const each of settle) each()
  }

  /** Commits what is waiting, or refuses it while another process writes. */
  end(): void {
    this.flush()
    clearTimeout(this.#look)
    for (const { reject } of this.#waiting.splice(0)) reject(tryLater())
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    setImmediate(() => {
      this.#isFlushDue = false
      this.flush()
    })
  }

  /** @throws FilesGone */
  #requireFiles(): void {
    const files = this.files()
    if (files && !files.areInPlace()) throw new FilesGone(files.path)
  }

  /** Refuses units that have waited for too long, and tries again for the others. */
  #waitForTurn(error: unknown): void {
    const patientMs = sinceStartMs() - this.patienceMs
    // The first has waited the longest.
    const patient = this.#waiting.findIndex(({ sinceMs }) => sinceMs >= patientMs)
    const late = this.#waiting.splice(0, patient === -1 ? Number.POSITIVE_INFINITY : patient)
    if (late.length > 0) this.#fail(late, error)
    if (this.#waiting.length === 0) return
    clearTimeout(this.#look)
    this.#look = setTimeout(() => this.flush(), LOOK_MS)
  }

  /** Returns what settles the unit after the commit. @throws what ended the whole transaction, such as a full disk */
  #attempt({ run, resolve, reject }: Unit): () => void {
    try {
      const value = inSavepoint(this.sqlite, run)
      return () => resolve(value)
    } catch (error) {
      if (!this.sqlite.inTransaction) throw error
      return () => reject(asFailure(error))
    }
  }

  #fail(units: readonly Unit[], error: unknown): void {
    if (isPassing(error)) this.#trouble = error as Error
    for (const { reject } of units) reject(asFailure(error))
  }
}
