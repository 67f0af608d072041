import { MINUTE_MS, SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import type { Lease } from './lease.ts'

type Write = (message: string, fields?: Record<string, string | number>) => void
export type RecordLog = Readonly<Record<'info' | 'warn' | 'error', Write>>

/** Logs once a minute that the record is away, and once that it is back (contract C18). */
export class Outage {
  #isOn = false
  #loggedMs = Number.NEGATIVE_INFINITY

  constructor(
    private readonly log: RecordLog,
    private readonly nowMs: () => number = sinceStartMs,
  ) {}

  seen(cause: string): void {
    this.#isOn = true
    if (this.nowMs() - this.#loggedMs < MINUTE_MS) return
    this.#loggedMs = this.nowMs()
    this.log.error('the record cannot be used', { cause })
  }

  /** Set for an active server. */
  lookAfter({ isGood, sinceRenewalMs }: Pick<Lease, 'isGood' | 'sinceRenewalMs'>): void {
    if (isGood) this.over()
    else this.seen(`no renewal for ${Math.round(sinceRenewalMs / SECOND_MS)} s`)
  }

  over(): void {
    if (!this.#isOn) return
    this.#isOn = false
    this.#loggedMs = Number.NEGATIVE_INFINITY
    this.log.warn('the record can be used again')
  }
}
