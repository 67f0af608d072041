import type { Database, Statement } from 'bun:sqlite'

interface Unit {
  run: () => unknown
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
}

/** What this process has made durable since it started, in all of its databases: for metrics. */
export const commitTotals = { commits: 0, units: 0 }

type Outcome = { unit: Unit; value: unknown } | { unit: Unit; error: unknown }

/**
 * Group commit: the units of work that arrive in one turn of the event loop run one after the other, each in a
 * savepoint of its own, and are made durable by one commit. None is answered before that commit.
 */
export class SharedCommit {
  #waiting: Unit[] = []
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #savepoint: Statement
  readonly #release: Statement
  readonly #undo: Statement

  constructor(sqlite: Database) {
    this.#begin = sqlite.query('BEGIN IMMEDIATE')
    this.#commit = sqlite.query('COMMIT')
    this.#rollback = sqlite.query('ROLLBACK')
    this.#savepoint = sqlite.query('SAVEPOINT unit')
    this.#release = sqlite.query('RELEASE unit')
    this.#undo = sqlite.query('ROLLBACK TO unit')
  }

  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run: work, resolve: resolve as (value: unknown) => void, reject })
      if (this.#waiting.length === 1) setImmediate(() => this.flush())
    })
  }

  /** Does what is waiting, now. */
  flush(): void {
    const units = this.#waiting
    if (units.length === 0) return
    this.#waiting = []
    let outcomes: Outcome[]
    try {
      this.#begin.run()
      outcomes = units.map((unit) => this.#attempt(unit))
      this.#commit.run()
      commitTotals.commits += 1
      commitTotals.units += units.length
    } catch (error) {
      this.#abandon()
      for (const unit of units) unit.reject(error)
      return
    }
    for (const outcome of outcomes) {
      if ('error' in outcome) outcome.unit.reject(outcome.error)
      else outcome.unit.resolve(outcome.value)
    }
  }

  #attempt(unit: Unit): Outcome {
    this.#savepoint.run()
    try {
      const value = unit.run()
      this.#release.run()
      return { unit, value }
    } catch (error) {
      this.#undo.run()
      this.#release.run()
      return { unit, error }
    }
  }

  /** A full disk may have ended the transaction already; then there is nothing left to roll back. */
  #abandon(): void {
    try {
      this.#rollback.run()
    } catch {
      return
    }
  }
}
