import { type Static, Type } from '@sinclair/typebox'
import type { SteadyClock } from '../../kernel/clock.ts'
import { worldPart } from '../../work/world.ts'

export type ClockState = Static<typeof ClockState>
export const ClockState = Type.Object({
  /** Added to the base clock while it runs. */
  offsetMs: Type.Integer(),
  /** Null while the clock runs. */
  frozenAtMs: Type.Union([Type.Integer(), Type.Null()]),
})

/** A clock that can be set, advanced and frozen (contract C15). */
export class MovableClock implements SteadyClock {
  #offsetMs: number
  #frozenAtMs: number | null
  #steadyOffsetMs = 0
  #steadyFrozenAtMs: number | null

  constructor(
    private readonly base: SteadyClock,
    state: ClockState = { offsetMs: 0, frozenAtMs: null },
  ) {
    this.#offsetMs = state.offsetMs
    this.#frozenAtMs = state.frozenAtMs
    this.#steadyFrozenAtMs = state.frozenAtMs === null ? null : base.steadyMs()
  }

  nowMs(): number {
    return this.#frozenAtMs ?? this.base.nowMs() + this.#offsetMs
  }

  steadyMs(): number {
    return this.#steadyFrozenAtMs ?? this.base.steadyMs() + this.#steadyOffsetMs
  }

  get frozen(): boolean {
    return this.#frozenAtMs !== null
  }

  get state(): ClockState {
    return { offsetMs: this.#offsetMs, frozenAtMs: this.#frozenAtMs }
  }

  /** Sets the time of day. `steadyMs` moves ahead with it, but not back. */
  set(nowMs: number): void {
    const movedMs = Math.max(0, nowMs - this.nowMs())
    if (this.#steadyFrozenAtMs === null) this.#steadyOffsetMs += movedMs
    else this.#steadyFrozenAtMs += movedMs
    if (this.#frozenAtMs === null) this.#offsetMs = nowMs - this.base.nowMs()
    else this.#frozenAtMs = nowMs
  }

  /** Moves the clock, and moves it back if that cannot be kept. */
  async attempt(move: () => void, keep: () => Promise<void>): Promise<void> {
    const before = [this.#offsetMs, this.#frozenAtMs, this.#steadyOffsetMs, this.#steadyFrozenAtMs] as const
    move()
    try {
      await keep()
    } catch (error) {
      ;[this.#offsetMs, this.#frozenAtMs, this.#steadyOffsetMs, this.#steadyFrozenAtMs] = before
      throw error
    }
  }

  freeze(): void {
    this.#steadyFrozenAtMs = this.steadyMs()
    this.#frozenAtMs = this.nowMs()
  }

  thaw(): void {
    if (this.#frozenAtMs === null || this.#steadyFrozenAtMs === null) return
    this.#offsetMs = this.#frozenAtMs - this.base.nowMs()
    this.#steadyOffsetMs = this.#steadyFrozenAtMs - this.base.steadyMs()
    this.#frozenAtMs = null
    this.#steadyFrozenAtMs = null
  }
}

/**
 * An ISO 8601 duration in whole milliseconds: PT5M, P7D, PT0.5S. Undefined if the text is invalid, for one that goes back, and for
 * years and months, which have no fixed length.
 */
export const parseDuration = (text: string): number | undefined => {
  try {
    const duration = Temporal.Duration.from(text)
    const { days, weeks, sign } = duration
    return sign < 0 ? undefined : Math.floor(duration.with({ days: days + 7 * weeks, weeks: 0 }).total('milliseconds'))
  } catch {
    return undefined
  }
}

/** `auto`: the clock moves open records. `manual`: only a request does (contract C15). */
export const PACES = ['auto', 'manual'] as const
export type Pace = (typeof PACES)[number]

export const pace = worldPart<{ payouts: Pace; orders: Pace }>(() => ({ payouts: 'auto', orders: 'auto' }))
