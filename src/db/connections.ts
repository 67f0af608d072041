import { constants, Database as SqliteDatabase } from 'bun:sqlite'

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

/** SQLite does neither by default. With recursive triggers, REPLACE fires the triggers that refuse deletion. */
export const constrain = (sqlite: SqliteDatabase): void => {
  sqlite.run('PRAGMA foreign_keys = ON')
  sqlite.run('PRAGMA recursive_triggers = ON')
}

export const openReader = (path: string, busyTimeoutMs: number): SqliteDatabase => {
  const reader = new SqliteDatabase(path, { readwrite: true, create: false, strict: true })
  reader.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  reader.run('PRAGMA query_only = ON')
  return reader
}
