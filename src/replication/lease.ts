import { SECOND_MS, sinceStartMs, systemClock } from '../kernel/clock.ts'
import { type Connection, causeOf, PostgresAway } from './connection.ts'
import { LAST_SEQ } from './schema.ts'

const BEAT_MS = 500
/** A server serves for this time after it sent its last successful renewal (contract C18). */
const GOOD_MS = 1_500
const BEAT_PATIENCE_MS = SECOND_MS

/** The totals since the process started, for metrics. */
export const leaseTotals = { failedRenewals: 0, takeovers: 0 }

export interface LeaseGrant {
  epoch: number
  seq: number
  schemaVersion: number
}

interface LeaseOptions {
  connection: Connection
  /** The holder: unique to this process. */
  holder: string
  url: string | undefined
  /** Called when another server has taken it. */
  onLost: () => void
}

/** The right to commit and to serve: one server has it at a time (contract C18). */
export class Lease {
  #epoch: number | undefined
  #sentMs = Number.NEGATIVE_INFINITY
  /** The same moment by the time of day: while a machine sleeps, the other clock may stand still. */
  #sentAtMs = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined
  #isBeating = false

  constructor(private readonly options: LeaseOptions) {}

  /** Undefined if it is not taken. */
  get epoch(): number | undefined {
    return this.#epoch
  }

  /** True if no other server can have the lease now. */
  get isGood(): boolean {
    if (this.#epoch === undefined) return false
    return sinceStartMs() - this.#sentMs < GOOD_MS && Math.abs(systemClock.nowMs() - this.#sentAtMs) < GOOD_MS
  }

  /**
   * Begins a new epoch: PostgreSQL no longer makes commits that were sent under an earlier one. Undefined if another server
   * has the lease.
   */
  async take(patienceMs = BEAT_PATIENCE_MS): Promise<LeaseGrant | undefined> {
    const sent = this.#now()
    const { connection, holder, url } = this.options
    const [row] = await connection.ask<{ epoch: string; schema_version: string }>(
      'SELECT epoch, schema_version FROM scrip.take($1, $2)',
      [holder, url ?? null],
      patienceMs,
    )
    if (!row) return undefined
    // A separate query sees the commit that the takeover has waited for, whatever isolation the role has.
    const [last] = await connection.ask<{ seq: string }>(`SELECT ${LAST_SEQ} AS seq`, [], patienceMs)
    if (this.#epoch === undefined) leaseTotals.takeovers += 1
    this.#epoch = Number(row.epoch)
    this.#renewed(sent)
    this.#timer ??= setInterval(() => void this.#beat(), BEAT_MS)
    return { epoch: this.#epoch, seq: Number(last?.seq), schemaVersion: Number(row.schema_version) }
  }

  /** A response renews the lease from the moment at which the request was sent. */
  #now(): { sentMs: number; sentAtMs: number } {
    return { sentMs: sinceStartMs(), sentAtMs: systemClock.nowMs() }
  }

  #renewed({ sentMs, sentAtMs }: { sentMs: number; sentAtMs: number }): void {
    if (sentMs <= this.#sentMs) return
    this.#sentMs = sentMs
    this.#sentAtMs = sentAtMs
  }

  /** Called when another server has the lease. */
  lost(): void {
    if (this.#epoch === undefined) return
    this.#end()
    this.options.onLost()
  }

  /** Lets other servers take the lease at once. */
  async free(): Promise<void> {
    const epoch = this.#epoch
    this.#end()
    if (epoch === undefined) return
    await this.options.connection.ask('SELECT scrip.free($1)', [epoch], BEAT_PATIENCE_MS).catch(() => undefined) // otherwise it runs out
  }

  /** The reason why the lease is not good. */
  get trouble(): string {
    const since = `no renewal for ${Math.round((sinceStartMs() - this.#sentMs) / SECOND_MS)} s`
    return this.#failure === undefined ? since : `${since}: ${this.#failure}`
  }
  #failure: string | undefined

  #end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#epoch = undefined
    this.#sentMs = Number.NEGATIVE_INFINITY
  }

  async #beat(): Promise<void> {
    const epoch = this.#epoch
    if (this.#isBeating || epoch === undefined) return
    this.#isBeating = true
    const sent = this.#now()
    try {
      const [row] = await this.options.connection.ask<{ isHeld: boolean }>(
        'SELECT scrip.beat($1) AS "isHeld"',
        [epoch],
        BEAT_PATIENCE_MS,
      )
      if (this.#epoch !== epoch) return
      this.#failure = undefined
      if (row?.isHeld) this.#renewed(sent)
      else this.lost()
    } catch (error) {
      leaseTotals.failedRenewals += 1
      this.#failure = causeOf(error)
      if (!(error instanceof PostgresAway)) this.options.connection.close()
    } finally {
      this.#isBeating = false
    }
  }
}
