import type { Position } from '../db/copy-position.ts'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import type { Connection } from './connection.ts'
import type { Installation } from './installation.ts'

/** The interval between reports. A server whose copy stands still reports less often. */
const REPORT_MS = 200
const UNCHANGED_REPORT_MS = SECOND_MS

/** The lag of a warm server, for metrics and for `scrip postgres status`. */
export class Lag {
  current = { seq: 0, epoch: 0, lagCommits: 0, lagSeconds: 0 }
  #reported = { seq: 0, ms: Number.NEGATIVE_INFINITY }
  #caughtUpMs = sinceStartMs()

  constructor(
    private readonly connection: Connection,
    private readonly holder: string,
  ) {}

  compare({ seq, epoch }: Position, installation: Installation | undefined): void {
    const lagCommits = Math.max(0, (installation?.seq ?? seq) - seq)
    if (lagCommits === 0) this.#caughtUpMs = sinceStartMs()
    const lagSeconds = (sinceStartMs() - this.#caughtUpMs) / SECOND_MS
    this.current = { seq, epoch: installation?.epoch ?? epoch, lagCommits, lagSeconds }
  }

  /** Reports the lag to PostgreSQL, where others read it. @throws PostgresAway, PostgresRefusal */
  async report(url: string): Promise<void> {
    const { seq } = this.current
    const sinceMs = sinceStartMs() - this.#reported.ms
    if (sinceMs < (seq === this.#reported.seq ? UNCHANGED_REPORT_MS : REPORT_MS)) return
    this.#reported = { seq, ms: sinceStartMs() }
    await this.connection.ask(
      `INSERT INTO scrip.followers (holder, url, seq, at) VALUES ($1, $2, $3, clock_timestamp())
        ON CONFLICT (holder) DO UPDATE SET seq = EXCLUDED.seq, at = EXCLUDED.at`,
      [this.holder, url, seq],
    )
  }
}
