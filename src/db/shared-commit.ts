import type { Database, Statement } from 'bun:sqlite'

interface Unit {
  run: () => unknown
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
}

/** What this process has made durable since it started, in all of its databases: for metrics. */
export const commitTotals = { commits: 0, units: 0 }

type Outcome = { value: unknown } | { error: unknown }

/**
 * Group commit: the units of work that arrive in one turn of the event loop run one after the other, each in a
 * savepoint of its own, and are made durable by one commit. None is answered before that commit.
 */
export class SharedCommit {
  #waiting: Unit[] = []
  /** The end of the transaction that is open with work that was done before the others' turn: whether it stands. */
  #underway: PromiseWithResolvers<boolean> | undefined
  /** How many units of work were done in it. */
  #done = 0
  /** Kept here, and not asked of the driver: a database may be closed before the flush that was due. */
  #isOpen = false
  #isFlushDue = false
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
      this.#flushSoon()
    })
  }

  /**
   * Does a unit of work now, for the units that arrive later in this turn to see and to share its commit. Answers, after
   * that commit, whether it stands.
   *
   * @throws what the work throws, and nothing of it stands
   */
  runNow(work: () => void): Promise<boolean> {
    this.#flushSoon()
    this.#open()
    const outcome = this.#attempt(work)
    if ('error' in outcome) throw outcome.error
    this.#done += 1
    this.#underway ??= Promise.withResolvers()
    return this.#underway.promise
  }

  /** The end of a commit whose work can be seen before it is durable. */
  get underway(): Promise<boolean> | undefined {
    return this.#underway?.promise
  }

  /** Does what is waiting, now. */
  flush(): void {
    const [units, underway, done] = [this.#waiting, this.#underway, this.#done]
    if (units.length === 0 && !this.#isOpen) return
    this.#waiting = []
    this.#underway = undefined
    this.#done = 0
    let outcomes: Outcome[]
    try {
      this.#open()
      outcomes = units.map(({ run }) => this.#attempt(run))
      this.#commit.run()
      this.#isOpen = false
      commitTotals.commits += 1
      commitTotals.units += units.length + done
    } catch (error) {
      this.#abandon()
      underway?.resolve(false)
      for (const { reject } of units) reject(error)
      return
    }
    underway?.resolve(true)
    outcomes.forEach((outcome, index) => {
      if ('error' in outcome) units[index]?.reject(outcome.error)
      else units[index]?.resolve(outcome.value)
    })
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    setImmediate(() => {
      this.#isFlushDue = false
      this.flush()
    })
  }

  #open(): void {
    if (this.#isOpen) return
    this.#begin.run()
    this.#isOpen = true
  }

  #attempt(work: () => unknown): Outcome {
    this.#savepoint.run()
    try {
      const value = work()
      this.#release.run()
      return { value }
    } catch (error) {
      this.#undo.run()
      this.#release.run()
      return { error }
    }
  }

  /** A full disk may have ended the transaction already; then there is nothing left to roll back. */
  #abandon(): void {
    this.#isOpen = false
    try {
      this.#rollback.run()
    } catch {
      return
    }
  }
}
