import type { SteadyClock } from '../src/kernel/clock.ts'

/** The machine's clock, which a test moves; its steady time only grows. */
export class MachineClock implements SteadyClock {
  countMs = 0
  constructor(public timeMs = Date.UTC(2030, 0, 1, 12)) {}
  nowMs(): number {
    return this.timeMs
  }
  steadyMs(): number {
    return this.countMs
  }
  pass(durationMs: number): void {
    this.timeMs += durationMs
    this.countMs += durationMs
  }
  step(durationMs: number): void {
    this.timeMs += durationMs
  }
}
