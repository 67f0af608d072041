import type { Database } from 'bun:sqlite'
import { sinceStartMs } from '../kernel/clock.ts'
import { asFailure, FilesGone, isDamage, isPassing, type OpenFiles, tryLater } from './storage.ts'

interface Unit {
  run: () => unknown
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
  /** When it is refused, if it still waits for work that holds the database. */
  lateMs: number
}

/** Starts a write of the work that holds the database. */
type Pass = <T>(write: () => Promise<T>) => Promise<T>

/** Commits a transaction before it is committed here: in PostgreSQL, of which this database is a copy (contract C18). */
export interface CommitGate {
  /** Called in the transaction before its units. @throws while nothing may be written */
  begin: () => void
  /**
   * Resolves when PostgreSQL holds the changes of the transaction, and rejects when it does not. Calls back if that stays
   * unknown for too long; the transaction then stays open until it is known.
   */
  commit: (onLate: () => void) => Promise<void>
  /** True if an error belongs to one unit. The transaction is then undone, and its units are committed one by one. */
  concernsOneUnit: (error: unknown) => boolean
  /** A commit that PostgreSQL holds failed here. */
  onBehind: (error: unknown) => void
  /** True if the open transaction has changed something. */
  hasChanges: () => boolean
  /** Makes the commit of the open transaction remove earlier versions of its rows from the changes that PostgreSQL keeps. */
  eraseChanges: () => void
}

/** It is unknown whether the commit of a unit was made, and its client does not wait until that is known. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** The totals of all databases since the process started, for metrics. */
export const commitTotals = { commits: 0, units: 0 }

/** A client waits 5 s at most for work that holds the database (contract C17). */
const LATE_LOOK_MS = 250
const WAIT_MS_MAX = 5_000 - 2 * LATE_LOOK_MS
const LOOK_MS = 1

/** Units of work in one transaction; the others go into the next, after other requests (decision 123). */
const UNITS_MAX = 100
/** The turns of the event loop for which a unit waits at most, so that others can join it. */
const TURNS_MAX = 4

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
  #trouble: Error | undefined
  gate: CommitGate | undefined
  /** True while the gate commits the open transaction. */
  #isAtGate = false
  /** Units that are committed one by one. */
  #alone: Unit[] = []
  #afterCommit: (() => void)[] = []
  beforeCommit: () => void = () => undefined

  constructor(
    private readonly sqlite: Database,
    private readonly files: () => OpenFiles | undefined = () => undefined,
  ) {}

  /** Units run in the order in which they came. One that is patient waits for as long as the database is held. */
  run<T>(work: () => T, isPatient = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const lateMs = isPatient ? Number.POSITIVE_INFINITY : sinceStartMs() + WAIT_MS_MAX
      const units = this.#isPassing ? this.#alone : this.#waiting
      units.push({ run: work, resolve: resolve as (value: unknown) => void, reject, lateMs })
      this.#flushSoon()
    })
  }

  /**
   * Holds the database for work that lasts: units wait meanwhile, for a few seconds each. Only what the work itself writes
   * through `pass` is committed.
   */
  async whileHeld<T>(work: (pass: Pass) => Promise<T>): Promise<T> {
    while (this.#isHeld) await Bun.sleep(LOOK_MS)
    this.#isHeld = true
    const timer = setInterval(() => this.#refuseLate(), LATE_LOOK_MS)
    try {
      while (this.#isAtGate || this.#alone.length > 0) await Bun.sleep(LOOK_MS)
      return await work(this.#pass)
    } finally {
      clearInterval(timer)
      this.#isHeld = false
      this.#flushSoon()
    }
  }
  #isHeld = false

  readonly #pass: Pass = (write) => {
    this.#isPassing = true
    try {
      return write()
    } finally {
      this.#isPassing = false
    }
  }
  #isPassing = false

  #refuseLate(): void {
    const { late = [], waiting = [] } = Object.groupBy(this.#waiting, ({ lateMs }) =>
      lateMs <= sinceStartMs() ? 'late' : 'waiting',
    )
    this.#waiting = waiting
    for (const { reject } of late) reject(tryLater())
    this.#restIfQuiet()
  }

  /** Called when the open transaction is committed: at once, unless there is a gate. */
  afterCommit(work: () => void): void {
    if (this.gate && this.sqlite.inTransaction) this.#afterCommit.push(work)
    else work()
  }

  get trouble(): Error | undefined {
    return this.#damage ?? this.#trouble
  }

  /** The damage that was found in the file. Nothing is written to it any longer. */
  get damage(): Error | undefined {
    return this.#damage
  }
  #damage: Error | undefined

  noteDamage(error: unknown): void {
    if (isDamage(error)) this.#damage ??= error as Error
  }

  flush(): void {
    while (this.#waiting.length > 0 && this.#commitSome());
  }

  /** Returns false if nothing can be written for now. */
  #commitSome(): boolean {
    if (this.#isAtGate || (this.#isHeld && this.#alone.length === 0)) return false
    if (!this.#isWaiting) return true
    try {
      if (this.#damage) throw this.#damage
      this.#requireFiles()
      this.sqlite.run('BEGIN IMMEDIATE')
      this.gate?.begin()
    } catch (error) {
      if (this.sqlite.inTransaction) this.sqlite.run('ROLLBACK')
      this.#fail([...this.#alone.splice(0), ...this.#waiting.splice(0)], error)
      return false
    }
    const units = this.#alone.length > 0 ? this.#alone.splice(0, 1) : this.#waiting.splice(0, UNITS_MAX)
    const settle: (() => void)[] = []
    let isCommitting = false
    try {
      for (const unit of units) settle.push(this.#attempt(unit))
      this.beforeCommit()
      if (this.gate) {
        void this.#commitAtGate(this.gate, units, settle)
        return false
      }
      isCommitting = true
      this.sqlite.run('COMMIT')
      this.#requireFiles()
    } catch (error) {
      // A full disk may have ended the transaction, which then cannot be rolled back.
      if (this.sqlite.inTransaction) this.sqlite.run('ROLLBACK')
      this.#fail(units, error, isCommitting)
      return true
    }
    this.#committed(settle)
    return true
  }

  #committed(settle: readonly (() => void)[]): void {
    this.#trouble = undefined
    commitTotals.commits += 1
    commitTotals.units += settle.length
    for (const each of settle) each()
    this.#restIfQuiet()
  }

  /** Meanwhile other units wait for the next transaction. */
  async #commitAtGate(gate: CommitGate, units: Unit[], settle: readonly (() => void)[]): Promise<void> {
    this.#isAtGate = true
    let isLate = false
    try {
      await gate.commit(() => {
        isLate = true
        this.#fail(units, new OutcomeUnknown('the record does not say whether it holds this commit'))
      })
      this.#commitHere(gate)
      this.#committed(isLate ? [] : settle)
    } catch (error) {
      this.#afterCommit = []
      if (this.sqlite.inTransaction) this.sqlite.run('ROLLBACK')
      if (units.length > 1 && !isLate && gate.concernsOneUnit(error)) this.#alone.push(...units)
      else if (!isLate) this.#fail(units, error, true)
    } finally {
      this.#isAtGate = false
      if (this.#isWaiting) this.#flushSoon()
      this.#restIfQuiet()
    }
  }

  /** PostgreSQL holds the units, so they are done, even if this copy fails. */
  #commitHere(gate: CommitGate): void {
    const afterCommit = this.#afterCommit.splice(0)
    try {
      this.sqlite.run('COMMIT')
      this.#requireFiles()
      for (const work of afterCommit) work()
    } catch (error) {
      if (this.sqlite.inTransaction) this.sqlite.run('ROLLBACK')
      gate.onBehind(error)
    }
  }
  readonly #quiet: (() => void)[] = []

  #restIfQuiet(): void {
    if (!this.#isAtGate && !this.#isWaiting) for (const resolve of this.#quiet.splice(0)) resolve()
  }

  get #isWaiting(): boolean {
    return this.#waiting.length + this.#alone.length > 0
  }

  /** Resolves when no unit waits and the gate is idle. */
  settled(): Promise<void> {
    if (!this.#isAtGate && !this.#isWaiting) return Promise.resolve()
    return new Promise((resolve) => this.#quiet.push(resolve))
  }

  /** Commits the waiting units, or refuses them. */
  end(): void {
    this.flush()
    this.#fail(this.#waiting.splice(0), tryLater())
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    this.#flushAfter(this.#waiting.length, TURNS_MAX)
  }

  /** A commit costs as much as several units: a turn of the event loop that brings further ones is followed by another. */
  #flushAfter(known: number, turns: number): void {
    setImmediate(() => {
      const count = this.#waiting.length
      if (turns > 1 && count > known && count < UNITS_MAX) return this.#flushAfter(count, turns - 1)
      this.#isFlushDue = false
      if (this.#commitSome() && this.#isWaiting) this.#flushSoon()
    })
  }

  /** @throws FilesGone */
  #requireFiles(): void {
    const files = this.files()
    if (files && !files.areInPlace()) throw new FilesGone(files.path)
  }

  /** Returns a function that settles the unit after the commit. @throws an error that ends the whole transaction, such as a full disk */
  #attempt({ run, resolve, reject }: Unit): () => void {
    try {
      const value = inSavepoint(this.sqlite, run)
      return () => resolve(value)
    } catch (error) {
      if (!this.sqlite.inTransaction || isDamage(error)) throw error
      return () => reject(asFailure(error))
    }
  }

  #fail(units: readonly Unit[], error: unknown, isCommitting = false): void {
    if (isPassing(error)) this.#trouble = error as Error
    this.noteDamage(error)
    const failure = isCommitting && isDamage(error) ? new OutcomeUnknown(String(error)) : asFailure(error)
    for (const { reject } of units) reject(failure)
    this.#restIfQuiet()
  }
}
