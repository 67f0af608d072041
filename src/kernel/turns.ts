import { sinceStartMs } from './clock.ts'
import { FairQueue } from './fair-queue.ts'

const SLICE_MS = 5
/** Turns of the event loop from one slice to the next: a write needs as many, and waits for one slice instead of three. */
const TURNS_BETWEEN = 3

/** Runs long work in time slices between other requests (decision 32). Owners take turns. */
class Turns {
  readonly #waiting = new FairQueue<() => void>()
  /** When the time for slices is over, until others have had theirs; undefined before the first slice. */
  #endsMs: number | undefined
  #isNextDue = false

  get isFree(): boolean {
    return this.#waiting.size === 0 && this.#hasTime
  }

  get #hasTime(): boolean {
    return this.#endsMs === undefined || sinceStartMs() < this.#endsMs
  }

  /** Waits for a turn. */
  next(owner: unknown): Promise<void> {
    return this.#wait((resolve) => this.#waiting.push(owner, resolve))
  }

  /** Runs work at once if there is time, otherwise in a turn of its owner. */
  async take<T>(owner: unknown, work: (isOver: () => boolean) => T): Promise<T> {
    if (!this.isFree) await this.next(owner)
    return this.slice(work)
  }

  /** The same for work that continues: before other work of its owner, which would hold memory for longer. */
  async continue<T>(owner: unknown, work: (isOver: () => boolean) => T): Promise<T> {
    if (!this.isFree) await this.#wait((resolve) => this.#waiting.unshift(owner, resolve))
    return this.slice(work)
  }

  /** Changes entries that have been read one by one, in as many slices as that takes. */
  async map<Entry, Result>(
    owner: unknown,
    entries: readonly Entry[],
    work: (entry: Entry) => Result,
  ): Promise<Result[]> {
    const results: Result[] = []
    while (results.length < entries.length) {
      await this.continue(owner, (isOver) => {
        for (const entry of entries.slice(results.length)) {
          results.push(work(entry))
          if (isOver()) break
        }
      })
    }
    return results
  }

  /** The work stops when `isOver` returns true. */
  slice<T>(work: (isOver: () => boolean) => T): T {
    const overMs = sinceStartMs() + SLICE_MS
    this.#endsMs ??= overMs
    try {
      return work(() => sinceStartMs() >= overMs)
    } finally {
      this.#nextSoon()
      if (this.#hasTime) this.#waiting.shift()?.()
    }
  }

  #wait(enter: (resolve: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      enter(resolve)
      this.#nextSoon()
    })
  }

  #nextSoon(): void {
    if (this.#isNextDue) return
    this.#isNextDue = true
    const pass = (left: number): void => {
      setImmediate(() => (left > 1 ? pass(left - 1) : this.#begin()))
    }
    pass(TURNS_BETWEEN)
  }

  #begin(): void {
    this.#isNextDue = false
    this.#endsMs = undefined
    this.#waiting.shift()?.()
    if (this.#waiting.size > 0) this.#nextSoon()
  }
}

/** For all worlds: the process has one thread. */
export const turns = new Turns()
