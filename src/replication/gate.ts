import type { Database as SqliteDatabase, Statement } from 'bun:sqlite'
import { getPosition, type Position } from '../db/copy-position.ts'
import type { CommitGate } from '../db/shared-commit.ts'
import { unavailableFor } from '../db/storage.ts'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { type Connection, PostgresAway, PostgresRefusal, READ_COMMITTED, refusalOf } from './connection.ts'
import type { Lease } from './lease.ts'
import { Collector, withErasure } from './rows.ts'
import { LEASE_LOST, OUT_OF_ORDER } from './schema.ts'
import type { Table } from './tables.ts'

/** The time that requests wait for the result of their commit (contract C18), and the further time for each character sent. */
const PATIENCE_MS = 2 * SECOND_MS
const PATIENCE_MS_PER_CHARACTER = 0.002
const LOOK_MS = 100

const COMMIT = 'SELECT at, state, problem FROM scrip.commit($1, $2, $3, $4, $5)'

interface Committed {
  at: string | null
  /** The SQLSTATE of a refusal. */
  state: string | null
  problem: string | null
}

/** The time of the commit. @throws PostgresAway, PostgresRefusal */
const timeOf = (row: Committed | undefined): number => {
  if (row?.at == null) throw refusalOf(row?.state ?? '', row?.problem ?? '')
  return Number(row.at)
}

/** The totals since the process started, for metrics. */
export const gateTotals = { commits: 0, unknown: 0, refused: 0, seconds: 0 }

/** The part of a lease that a gate needs. */
export type GateLease = Pick<Lease, 'epoch' | 'isGood' | 'lost' | 'take'>

type Commit = Pick<Position, 'seq' | 'epoch' | 'atUs'>

interface GateOptions {
  sqlite: SqliteDatabase
  tables: readonly Table[]
  connection: Connection
  lease: GateLease
  /** Called when the copy does not continue PostgreSQL: it must be brought up to date before it writes again. */
  onBehind: (error: unknown) => void
  /** True if no unknown outcome of a commit is reported: a command waits until it is known. */
  waitsForOutcome?: boolean
}

/** Commits the changes of a transaction of the copy to PostgreSQL, before the copy commits them. */
export class PostgresGate implements CommitGate {
  readonly #collector: Collector
  readonly #advance: Statement<unknown, [number, number, number]>
  readonly #setEpoch: Statement<unknown, [number]>
  #erases = false
  #isUncertain = false
  /** The last commit that it has made. */
  seq: number | undefined
  #isClosed = false

  constructor(private readonly options: GateOptions) {
    const { sqlite, tables } = options
    this.#collector = new Collector(sqlite, tables)
    this.#advance = sqlite.prepare('UPDATE record_copy SET seq = ?, epoch = ?, at_us = ?')
    this.#setEpoch = sqlite.prepare('UPDATE record_copy SET lease_epoch = ?')
  }

  /** True if the copy may be read: no outcome of a commit is unknown. */
  get isCertain(): boolean {
    return !this.#isUncertain
  }

  begin(): void {
    const { lease } = this.options
    const { epoch } = lease
    if (epoch === undefined || !lease.isGood || this.#isClosed) throw unavailableFor(1)
    if (this.#position().leaseEpoch !== epoch) this.#setEpoch.run(epoch)
  }

  hasChanges(): boolean {
    return !this.#collector.isEmpty
  }

  concernsOneUnit(error: unknown): boolean {
    return error instanceof PostgresRefusal && error.isOfRows
  }

  onBehind(error: unknown): void {
    this.options.onBehind(error)
  }

  /** Makes the next commit remove earlier versions of its rows from the changes that PostgreSQL keeps. */
  eraseChanges(): void {
    this.#erases = true
  }

  close(): void {
    this.#isClosed = true
  }

  async commit(onLate: () => void): Promise<void> {
    if (this.#collector.isEmpty) return
    const startMs = sinceStartMs()
    const position = this.#position()
    const parts = [...this.#collector.parts()]
    const patienceMs = PATIENCE_MS + parts.reduce((sum, { length }) => sum + length, 0) * PATIENCE_MS_PER_CHARACTER
    const late = setTimeout(() => {
      if (this.options.waitsForOutcome) return
      this.#isUncertain = true
      onLate()
    }, patienceMs)
    try {
      const done = await this.#commit(position, parts, patienceMs)
      this.#advance.run(done.seq, done.epoch, done.atUs)
      this.#collector.clear()
      this.seq = done.seq
      gateTotals.commits += 1
      gateTotals.seconds += (sinceStartMs() - startMs) / SECOND_MS
    } finally {
      clearTimeout(late)
      this.#isUncertain = false
    }
  }

  async #commit(position: Position, parts: string[], patienceMs: number): Promise<Commit> {
    const { leaseEpoch: epoch } = position
    if (this.#erases) {
      await untilFollowed(this.options.connection, position.seq)
      parts[parts.length - 1] = withErasure(parts.at(-1) ?? '{}')
    }
    const seq = position.seq + parts.length
    try {
      const atUs = await this.#send(position, parts, patienceMs)
      this.#erases = false
      return { seq, epoch, atUs }
    } catch (error) {
      if (error instanceof PostgresAway) return await this.#lookUp(position, seq, error)
      if (error instanceof PostgresRefusal) throw this.#explained(error)
      throw error
    }
  }

  async #send(
    { seq: before, leaseEpoch: epoch }: Position,
    parts: readonly string[],
    patienceMs: number,
  ): Promise<number> {
    const { connection } = this.options
    const erases = this.#erases
    const valuesOf = (part: string, index: number) =>
      [epoch, before + index + 1, part, erases, index === parts.length - 1] as const
    if (parts.length === 1) {
      const [row] = await connection.askStrictly<Committed>(COMMIT, valuesOf(parts[0] ?? '', 0), patienceMs)
      return timeOf(row)
    }
    return connection.transaction(READ_COMMITTED, patienceMs, async (ask) => {
      let atUs = 0
      for (const [index, part] of parts.entries()) {
        const [row] = await ask<Committed>(COMMIT, valuesOf(part, index))
        atUs = timeOf(row)
      }
      return atUs
    })
  }

  /** The error for a refusal. A temporary one is not the fault of a unit of work; two SQLSTATEs mean that another server is active. */
  #explained(error: PostgresRefusal): unknown {
    const { lease, onBehind } = this.options
    if (error.state === LEASE_LOST) lease.lost()
    else if (error.state === OUT_OF_ORDER) onBehind(error)
    else if (error.isOfRows) {
      gateTotals.refused += 1
      return error
    }
    return unavailableFor(1, error)
  }

  /**
   * Finds out whether an unanswered commit was made. It begins a new epoch first: from then on, PostgreSQL refuses a commit
   * that is still in transit. It also waits for replication, if PostgreSQL is replicated.
   */
  async #lookUp(position: Position, seq: number, error: PostgresAway): Promise<Commit> {
    const { lease, connection } = this.options
    gateTotals.unknown += 1
    for (;;) {
      if (this.#isClosed) throw error
      try {
        const taken = await lease.take()
        const [row] = await connection.ask<{ epoch: string; at: string }>(
          'SELECT epoch, (extract(epoch FROM at) * 1000000)::bigint AS at FROM scrip.changes WHERE seq = $1',
          [seq],
        )
        if (taken) this.#setEpoch.run(taken.epoch)
        else lease.lost()
        if (Number(row?.epoch) === position.leaseEpoch)
          return { seq, epoch: position.leaseEpoch, atUs: Number(row?.at) }
        if (taken && taken.seq !== position.seq) this.options.onBehind(error)
        throw unavailableFor(1, error)
      } catch (failure) {
        if (!(failure instanceof PostgresAway || failure instanceof PostgresRefusal)) throw failure
        await Bun.sleep(LOOK_MS)
      }
    }
  }

  #position(): Position {
    return getPosition(this.options.sqlite)
  }
}

const FOLLOWED_MS_MAX = SECOND_MS

/** Waits for the followers. A copy that does not follow in time is pulled again, because the changes it needs are gone. */
const untilFollowed = async ({ ask }: Connection, seq: number): Promise<void> => {
  const endMs = sinceStartMs() + FOLLOWED_MS_MAX
  while (sinceStartMs() < endMs) {
    const [behind] = await ask<{ count: string }>(
      "SELECT count(*) FROM scrip.followers WHERE seq < $1 AND at > clock_timestamp() - interval '5 seconds'",
      [seq],
    ).catch(() => [{ count: '0' }])
    if (Number(behind?.count) === 0) return
    await Bun.sleep(LOOK_MS)
  }
}
