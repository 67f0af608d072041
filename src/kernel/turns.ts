import { sinceStartMs } from './clock.ts'

/** How long a time slice may hold the thread, and so delay other requests. */
const SLICE_MS = 5

/**
 * Runs long work in time slices, one in each turn of the event loop, so that other requests run in between (decision 32).
 * Owners wait in rotation, so that an owner with many slices does not delay the others.
 */
class Turns {
  readonly #waiting = new Map<unknown, (() => void)[]>()
  #spentMs = 0
  #isNextDue = false

  /** Whether a slice may run immediately: nobody waits, and this turn has time left. */
  get isFree(): boolean {
    return this.#waiting.size === 0 && this.#spentMs < SLICE_MS
  }

  /** Resolves when the owner may run a slice. */
  next(owner: unknown): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(owner)
      if (own) own.push(resolve)
      else this.#waiting.set(owner, [resolve])
      this.#nextSoon()
    })
  }

  /** Runs a slice when it is the owner's turn, and returns its result. */
  async take<T>(owner: unknown, work: (isOver: () => boolean) => T): Promise<T> {
    if (!this.isFree) await this.next(owner)
    return this.slice(work)
  }

  /** Runs a slice now. The work stops when `isOver` returns true. */
  slice<T>(work: (isOver: () => boolean) => T): T {
    const startedMs = sinceStartMs()
    const endsMs = startedMs + SLICE_MS
    try {
      return work(() => sinceStartMs() >= endsMs)
    } finally {
      this.#spentMs += sinceStartMs() - startedMs
      this.#nextSoon()
    }
  }

  #nextSoon(): void {
    if (this.#isNextDue) return
    this.#isNextDue = true
    setImmediate(() => {
      this.#isNextDue = false
      this.#spentMs = 0
      const [first] = this.#waiting
      if (!first) return
      const [owner, own] = first
      this.#waiting.delete(owner)
      const admit = own.shift()
      if (own.length > 0) this.#waiting.set(owner, own) // behind all others
      if (this.#waiting.size > 0) this.#nextSoon()
      admit?.()
    })
  }
}

/** One scheduler for all worlds, because the process has one thread. */
export const turns = new Turns()
