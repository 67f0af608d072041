import { constants, type Database as SqliteDatabase } from 'bun:sqlite'

/**
 * Closes a connection. One with statements that are still to be collected ends with the last of them, and must not then
 * remove the log of a database that has taken the place of its own.
 */
export const closeConnection = (sqlite: SqliteDatabase): void => {
  try {
    sqlite.close(true)
  } catch {
    if (sqlite.filename !== ':memory:') sqlite.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
    sqlite.close()
  }
}
