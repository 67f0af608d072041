import type { Database as SqliteDatabase } from 'bun:sqlite'
import { DataFault } from './data-folder.ts'

/**
 * A database remembers the mode that it was made for (contract C1): in the number that SQLite's header leaves to the
 * program, so that it can be read whatever schema the database is at, and goes with every backup.
 */
const NUMBERS = { sandbox: 1, live: 2 } as const

type Mode = keyof typeof NUMBERS

/** The mode of a database; undefined for one that has none yet. */
export const modeOf = (sqlite: SqliteDatabase): Mode | undefined => {
  const number = sqlite.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
  return number === NUMBERS.sandbox ? 'sandbox' : number === NUMBERS.live ? 'live' : undefined
}

/** Gives a database its mode, for good. @throws DataFault when it is of the other one */
export const keepMode = (sqlite: SqliteDatabase, mode: Mode): void => {
  const kept = modeOf(sqlite)
  if (kept === mode) return
  if (kept !== undefined) throw otherMode(kept)
  sqlite.run(`PRAGMA user_version = ${NUMBERS[mode]}`)
}

/** Refuses a database that is of the other mode. @throws DataFault */
export const requireMode = (sqlite: SqliteDatabase, mode: Mode): void => {
  const kept = modeOf(sqlite)
  if (kept !== undefined && kept !== mode) throw otherMode(kept)
}

const otherMode = (kept: Mode): DataFault =>
  new DataFault(`The data is of --mode ${kept}: each mode keeps a folder of its own.`)
