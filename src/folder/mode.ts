import type { Database as SqliteDatabase } from 'bun:sqlite'
import { DataFault } from '../kernel/exit.ts'
import { headerOf } from './image.ts'

/** SQLite's header holds the mode (contract C1), so that it can be read at any schema version. */
const NUMBERS = { sandbox: 1, live: 2 } as const

type Mode = keyof typeof NUMBERS

/** Undefined for a database without a mode yet. */
export const modeOf = (sqlite: SqliteDatabase): Mode | undefined => {
  const number = sqlite.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
  return number === NUMBERS.sandbox ? 'sandbox' : number === NUMBERS.live ? 'live' : undefined
}

const MODE_OFFSET = 60

/** Reads the mode without opening the database. */
export const isOfMode = (path: string, mode: Mode): boolean =>
  headerOf(path).readUInt32BE(MODE_OFFSET) === NUMBERS[mode]

/** @throws DataFault when the database has the other mode */
export const storeMode = (sqlite: SqliteDatabase, mode: Mode): void => {
  requireMode(sqlite, mode)
  if (modeOf(sqlite) === undefined) sqlite.run(`PRAGMA user_version = ${NUMBERS[mode]}`)
}

/** @throws DataFault when the database has the other mode */
export const requireMode = (sqlite: SqliteDatabase, mode: Mode): void => refuseOther(modeOf(sqlite), mode)

/** As {@link requireMode}, without opening the database. */
export const requireModeOf = (path: string, mode: Mode): void =>
  refuseOther(
    (['sandbox', 'live'] as const).find((one) => isOfMode(path, one)),
    mode,
  )

const refuseOther = (stored: Mode | undefined, mode: Mode): void => {
  if (stored !== undefined && stored !== mode) {
    throw new DataFault(`the data belongs to --mode ${stored}\nUse another folder for each mode.`)
  }
}
