import { sinceStartMs } from './clock.ts'

const SLICE_MS = 5

/** Runs long work in time slices between other requests (decision 32). Owners take turns. */
class Turns {
  readonly #waiting = new Map<unknown, (() => void)[]>()
  #spentMs = 0
  #isNextDue = false

  get isFree(): boolean {
    return this.#waiting.size === 0 && this.#spentMs < SLICE_MS
  }

  next(owner: unknown): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(owner)
      if (own) own.push(resolve)
      else this.#waiting.set(owner, [resolve])
      this.#nextSoon()
    })
  }

  async take<T>(owner: unknown, work: (isOver: () => boolean) => T): Promise<T> {
    if (!this.isFree) await this.next(owner)
    return this.slice(work)
  }

  /** The work stops when `isOver` returns true. */
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

/** For all worlds: the process has one thread. */
export const turns = new Turns()
