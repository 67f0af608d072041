import { sinceStartMs } from './clock.ts'
import { FairQueue } from './fair-queue.ts'

/** A request that writes waits for three slices: 25 ms, as a step may take (contract C4). */
const SLICE_MS = 8

/** Runs long work in time slices, one in each turn of the event loop, between other requests (decision 32). Owners take turns. */
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

  /** Waits for a turn: behind other work of its owner, unless it has begun and holds memory. */
  next(owner: unknown, hasBegun = false): Promise<void> {
    return new Promise((resolve) => {
      if (hasBegun) this.#waiting.unshift(owner, resolve)
      else this.#waiting.push(owner, resolve)
      this.#nextSoon()
    })
  }

  /** Runs work that cannot be divided: at once if there is time, otherwise in a turn of its owner. */
  async take<T>(owner: unknown, work: () => T): Promise<T> {
    if (!this.isFree) await this.next(owner)
    return this.slice(work)
  }

  /** Runs a generator in as many slices as it takes, each of which ends where it yields. */
  async run<T>(owner: unknown, steps: Iterator<unknown, T>): Promise<T> {
    for (let hasBegun = false; ; hasBegun = true) {
      if (!this.isFree) await this.next(owner, hasBegun)
      const step = this.slice((isOver) => {
        for (;;) {
          const next = steps.next()
          if (next.done || isOver()) return next
        }
      })
      if (step.done) return step.value
    }
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

  #nextSoon(): void {
    if (this.#isNextDue) return
    this.#isNextDue = true
    setImmediate(() => {
      this.#isNextDue = false
      this.#endsMs = undefined
      this.#waiting.shift()?.()
      if (this.#waiting.size > 0) this.#nextSoon()
    })
  }
}

/** For all worlds: the process has one thread. */
export const turns = new Turns()

/** Runs a generator at once, where nobody waits. */
export const finish = <T>(steps: Iterator<unknown, T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
