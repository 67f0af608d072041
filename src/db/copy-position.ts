import { Database as SqliteDatabase } from 'bun:sqlite'

/** The position of a copy: its installation in PostgreSQL, and the commit that it holds (contract C18). */
export interface Position {
  installation: string
  seq: number
  /** The epoch of that commit, and its time by the clock of PostgreSQL in microseconds. They differ between two timelines. */
  epoch: number
  atUs: number
  /** The epoch under which this folder writes. */
  leaseEpoch: number
}

/** Undefined for a database that is not a copy, also one of an earlier release. */
export const findPosition = (sqlite: SqliteDatabase): Position | undefined => {
  if (sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'record_copy'").get() === null) return undefined
  const position = sqlite.query<Position, []>(
    'SELECT installation, seq, epoch, at_us AS atUs, lease_epoch AS leaseEpoch FROM record_copy WHERE id = 1',
  )
  return position.get() ?? undefined
}

export const positionIn = (path: string): Position | undefined => {
  using sqlite = new SqliteDatabase(path, { readwrite: true, create: false })
  return findPosition(sqlite)
}

export const getPosition = (sqlite: SqliteDatabase): Position => {
  const position = findPosition(sqlite)
  if (!position) throw new Error('the database is not a copy')
  return position
}

export const putPosition = (sqlite: SqliteDatabase, { installation, seq, epoch, atUs, leaseEpoch }: Position): void => {
  sqlite
    .query('INSERT OR REPLACE INTO record_copy VALUES (1, ?, ?, ?, ?, ?)')
    .run(installation, seq, epoch, atUs, leaseEpoch)
}

/** Makes a backup an independent database. */
export const removePosition = (sqlite: SqliteDatabase): void => {
  sqlite.run('DELETE FROM record_copy')
}

/** The message that refuses to write a copy without PostgreSQL. */
export const copyWithoutPostgres = ({ installation }: Position, dataDir: string): string =>
  `${dataDir} is a copy of the record ${installation} in PostgreSQL\nSet SCRIP_POSTGRES, or SCRIP_POSTGRES_FILE, to that record.`
