import { sinceStartMs } from './clock.ts'

/** How long one slice of long work holds the thread: so much longer do the requests of others wait at most. */
const SLICE_MS = 5

/**
 * Long work is done in slices. Whoever it is for, one slice runs in each turn of the event loop, so that requests are
 * answered in between. Owners who wait take turns, so that one with many slices does not delay the others.
 */
class Turns {
  readonly #waiting = new Map<unknown, (() => void)[]>()
  #spentMs = 0
  #isNextDue = false

  /** Whether a slice may run at once: nobody waits, and this turn is not used up. */
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

  /** Runs a slice when it is the owner's turn, and answers what it answers. */
  async take<T>(owner: unknown, work: (isOver: () => boolean) => T): Promise<T> {
    if (!this.isFree) await this.next(owner)
    return this.slice(work)
  }

  /** Runs a slice, which ends when it is told that its time is over. */
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

/** The turns of this process: it has one thread, whatever its worlds. */
export const turns = new Turns()
