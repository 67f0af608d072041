import { Database as SqliteDatabase } from 'bun:sqlite'
import { findPosition } from '../db/copy-position.ts'
import { HOUR_MS, SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import type { Ask, Connection } from './connection.ts'
import { copyPages, postgresPages, type RowPage } from './pages.ts'
import { LAST_SEQ } from './schema.ts'
import { type Table, tablesOf } from './tables.ts'

/** Compares a copy with PostgreSQL at one commit (contract C18). */

interface Difference {
  table: string
  /** The key of the first row that differs, or undefined if the tables are the same. */
  first: string | undefined
}

const COMPARE_MS_MAX = 12 * HOUR_MS
/** The time limit for reaching the same commit. */
const MEET_MS_MAX = 30 * SECOND_MS
const PAUSE_MS = 37

/** @throws DataFault if copy and PostgreSQL do not reach the same commit in time */
export const compareCopy = async (connection: Connection, path: string): Promise<Difference[]> => {
  const endMs = sinceStartMs() + MEET_MS_MAX
  for (;;) {
    const differences = await connection.transaction(
      'isolation level repeatable read read only',
      COMPARE_MS_MAX,
      (ask) => compared(ask, path),
    )
    if (differences) return differences
    if (sinceStartMs() > endMs)
      throw new DataFault('the copy has stopped following PostgreSQL\nSee scrip postgres status.')
    await Bun.sleep(PAUSE_MS)
  }
}

/** Undefined if the two are not at the same commit. */
const compared = async (ask: Ask, path: string): Promise<Difference[] | undefined> => {
  const [last] = await ask<{ seq: string }>(`SELECT ${LAST_SEQ} AS seq`)
  using sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true })
  sqlite.run('PRAGMA query_only = ON')
  sqlite.run('BEGIN')
  if (findPosition(sqlite)?.seq !== Number(last?.seq)) return undefined
  const differences: Difference[] = []
  for (const table of tablesOf(sqlite)) {
    differences.push({ table: table.name, first: await firstDifference(ask, sqlite, table) })
  }
  return differences
}

const firstDifference = async (ask: Ask, sqlite: SqliteDatabase, table: Table): Promise<string | undefined> => {
  const copied = copyPages(sqlite, table)
  for await (const stored of postgresPages(ask, table)) {
    const first = differenceOf(stored, copied.next().value ?? undefined, table)
    if (first !== undefined) return first
  }
  return differenceOf(undefined, copied.next().value ?? undefined, table)
}

const differenceOf = (stored: RowPage | undefined, copied: RowPage | undefined, { key }: Table): string | undefined => {
  if (stored?.rows === copied?.rows) return undefined
  // SQLite and PostgreSQL write fractions in different ways.
  const [ours, theirs] = [copied, stored].map((page) => JSON.parse(page?.rows ?? '[]') as Record<string, unknown>[])
  const length = Math.max(ours?.length ?? 0, theirs?.length ?? 0)
  for (let index = 0; index < length; index += 1) {
    const [ourRow, theirRow] = [ours?.[index], theirs?.[index]]
    if (!Bun.deepEquals(ourRow, theirRow)) return key.map((name) => String((ourRow ?? theirRow)?.[name])).join(' ')
  }
  return undefined
}
