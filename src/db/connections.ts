import { constants, Database as SqliteDatabase } from 'bun:sqlite'
import { dirname } from 'node:path'
import { makePrivateFile } from '../folder/files.ts'

/** A command waits this long for another process to write, and then gives up. */
export const BUSY_TIMEOUT_MS = 5_000

/** Memory for pages of the file: it holds the index that the largest list reads (decision 120). */
const CACHE = 'cache_size = -16384'
/** Half of the default: a commit writes each page that it touches, and an insert touches one for each index. */
export const PAGE_BYTES = 2_048
/** 8 MiB. The server's thread copies these pages into the file, which takes 10 to 40 ms. */
const WAL_PAGES_MAX = 4_096

/**
 * Closes a connection. While the garbage collector has not collected all of its statements, it stays open; when it ends, it
 * must not remove the log of a database that has meanwhile replaced its own.
 */
export const closeConnection = (sqlite: SqliteDatabase): void => {
  try {
    sqlite.close(true)
  } catch {
    if (sqlite.filename !== ':memory:') sqlite.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
    sqlite.close()
  }
}

/** Turns on both, which SQLite does not by default. With recursive triggers, REPLACE fires the triggers that refuse deletion. */
export const constrain = (sqlite: SqliteDatabase): void => {
  sqlite.run('PRAGMA foreign_keys = ON')
  sqlite.run('PRAGMA recursive_triggers = ON')
}

/**
 * Makes this process write the temporary files of SQLite beside a database. A system without a writable /tmp has no other place for them,
 * and a file that is rewritten (VACUUM) needs one.
 */
export const keepTemporaryFilesBeside = (sqlite: SqliteDatabase): void => {
  const folder = dirname(sqlite.filename).replaceAll("'", "''")
  try {
    sqlite.run(`PRAGMA temp_store_directory = '${folder}'`)
  } catch {
    // The folder cannot be written. Then nothing is rewritten in it either.
  }
}

/** A connection to the file of a database, which is made if it is missing. */
export const openWriter = (path: string): SqliteDatabase => {
  makePrivateFile(path)
  const sqlite = new SqliteDatabase(path, { create: true, readwrite: true, strict: true })
  keepTemporaryFilesBeside(sqlite)
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  sqlite.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  sqlite.run(`PRAGMA ${CACHE}`)
  // Every acknowledged commit outlives a crash or a loss of power.
  sqlite.run('PRAGMA synchronous = FULL')
  sqlite.run('PRAGMA journal_mode = WAL')
  sqlite.run(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`)
  sqlite.run(`PRAGMA journal_size_limit = ${WAL_PAGES_MAX * PAGE_BYTES}`)
  // Deleted data is overwritten: personal data must not stay in pages that are free.
  sqlite.run('PRAGMA secure_delete = ON')
  // Otherwise the undo data of a savepoint goes to a temporary file, page by page, once it exceeds 64 KiB.
  sqlite.run('PRAGMA temp_store = MEMORY')
  constrain(sqlite)
  return sqlite
}

export const openReader = (path: string): SqliteDatabase => {
  const reader = new SqliteDatabase(path, { readwrite: true, create: false, strict: true })
  keepTemporaryFilesBeside(reader)
  reader.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  reader.run(`PRAGMA ${CACHE}`)
  reader.run('PRAGMA query_only = ON')
  return reader
}
