import { MINUTE_MS, sinceStartMs } from './clock.ts'

type Write = (message: string, fields?: Record<string, string | number>) => void

/** Logs once a minute that something cannot be used, and once that it can be used again. */
export class Outage {
  #isOn = false
  #loggedMs = Number.NEGATIVE_INFINITY

  constructor(
    private readonly log: Readonly<Record<'warn' | 'error', Write>>,
    private readonly words: { on: string; over: string },
    private readonly nowMs: () => number = sinceStartMs,
  ) {}

  seen(cause: string): void {
    this.#isOn = true
    if (this.nowMs() - this.#loggedMs < MINUTE_MS) return
    this.#loggedMs = this.nowMs()
    this.log.error(this.words.on, { cause })
  }

  over(): void {
    if (!this.#isOn) return
    this.#isOn = false
    this.#loggedMs = Number.NEGATIVE_INFINITY
    this.log.warn(this.words.over)
  }
}
