import { Database as SqliteDatabase } from 'bun:sqlite'
import { closeConnection, keepTemporaryFilesBeside } from '../db/connections.ts'
import { getPosition, type Position, putPosition } from '../db/copy-position.ts'
import { isOfCounts } from '../db/counts.ts'
import { rewriteFile } from '../db/scrub.ts'
import type { Ask } from './connection.ts'
import { CopyUnfit, requireSameTimeline } from './copy-check.ts'
import { Applier } from './rows.ts'
import { tablesOf } from './tables.ts'

/** The most commits, and about the most bytes, that are read at once and make one transaction of the copy. */
const CHANGES_MAX = 500
const BYTES_MAX = 16_777_216
/** 8 MiB. */
const WAL_PAGES_MAX = 4_096

interface Change {
  seq: string
  epoch: string
  at: string
  /** Null if a person was erased since. */
  rows: string | null
}

/** A copy that follows the commits in PostgreSQL. */
export class FollowingCopy implements Disposable {
  readonly #sqlite: SqliteDatabase
  readonly #applier: Applier
  readonly #triggers: { name: string; sql: string }[]
  /** A person was erased, and the file still holds what was deleted. */
  #isRewriteDue = false

  constructor(path: string) {
    const sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true })
    keepTemporaryFilesBeside(sqlite)
    sqlite.run('PRAGMA busy_timeout = 5000')
    sqlite.run('PRAGMA journal_mode = WAL')
    sqlite.run('PRAGMA synchronous = NORMAL') // PostgreSQL has everything
    sqlite.run(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`)
    sqlite.run('PRAGMA secure_delete = ON')
    sqlite.run('PRAGMA temp_store = MEMORY')
    sqlite.run('PRAGMA foreign_keys = OFF')
    sqlite.run('PRAGMA ignore_check_constraints = ON')
    this.#sqlite = sqlite
    // Replacing a row then counts as deleting it.
    sqlite.run('PRAGMA recursive_triggers = ON')
    this.#triggers = triggersIn(sqlite).filter(({ name }) => !isOfCounts(name))
    this.#applier = new Applier(sqlite, tablesOf(sqlite))
  }

  get position(): Position {
    return getPosition(this.#sqlite)
  }

  /**
   * Applies the changes that PostgreSQL has beyond the copy, and returns true if there may be more. It reads the last commit
   * of the copy again, because PostgreSQL may have been restored, or have lost commits, and continued since.
   *
   * @throws CopyUnfit
   */
  async follow(ask: Ask): Promise<boolean> {
    this.#rewriteIfDue()
    const { position } = this
    const [last, ...changes] = await ask<Change>(
      `SELECT seq, epoch, (extract(epoch FROM at) * 1000000)::bigint AS at, CASE WHEN seq > $1 THEN rows::text END AS rows
        FROM (SELECT *, sum(pg_column_size(rows)) OVER (ORDER BY seq) - pg_column_size(rows) AS before
          FROM scrip.changes WHERE seq >= $1 ORDER BY seq LIMIT ${CHANGES_MAX + 1}) AS next
        WHERE seq <= $1 + 1 OR coalesce(before, 0) < ${BYTES_MAX} ORDER BY seq`,
      [position.seq],
    )
    const isOwn =
      Number(last?.seq) === position.seq && Number(last?.epoch) === position.epoch && Number(last?.at) === position.atUs
    if (!isOwn) await requireSameTimeline(ask, position)
    else if (changes.length > 0) this.#apply(changes)
    return !isOwn || changes.length === CHANGES_MAX
  }

  /**
   * The triggers refuse invalid rows, which has already happened on the server that wrote these rows. Those of the counts stay.
   */
  #apply(changes: readonly Change[]): void {
    const { position } = this
    this.#sqlite.run('BEGIN IMMEDIATE')
    try {
      for (const { name } of this.#triggers) this.#sqlite.run(`DROP TRIGGER ${name}`)
      for (const { seq, epoch, at, rows } of changes) {
        if (Number(seq) !== position.seq + 1 || rows === null)
          throw new CopyUnfit(`the record no longer has the changes between commits ${position.seq} and ${seq}`, false)
        this.#isRewriteDue = this.#applier.apply(rows) || this.#isRewriteDue
        Object.assign(position, { seq: Number(seq), epoch: Number(epoch), atUs: Number(at) })
      }
      putPosition(this.#sqlite, position)
      for (const { sql } of this.#triggers) this.#sqlite.run(sql)
      this.#sqlite.run('COMMIT')
    } finally {
      if (this.#sqlite.inTransaction) this.#sqlite.run('ROLLBACK')
    }
    this.#rewriteIfDue()
  }

  /** A rewriting that fails, for example on a full disk, is tried again with the next commits. */
  #rewriteIfDue(): void {
    if (!this.#isRewriteDue) return
    rewriteFile(this.#sqlite)
    this.#isRewriteDue = false
  }

  [Symbol.dispose](): void {
    closeConnection(this.#sqlite)
  }
}

export const triggersIn = (sqlite: SqliteDatabase): { name: string; sql: string }[] =>
  sqlite.query<{ name: string; sql: string }, []>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all()
