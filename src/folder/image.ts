import { closeSync, openSync, readSync } from 'node:fs'

/** The bytes of a database, in memory and in a file. */

/** The offset of the journal mode in the header of a database file: it is there twice, for writing and for reading. */
const JOURNAL_MODE_OFFSET = 18
const ROLLBACK_JOURNAL = 1
const WRITE_AHEAD_LOG = 2

/** Turns on the write-ahead log in an image, in place, for a file. Otherwise the first process that opens the file writes and syncs it. */
export const asFile = (image: Uint8Array): Uint8Array =>
  image.fill(WRITE_AHEAD_LOG, JOURNAL_MODE_OFFSET, JOURNAL_MODE_OFFSET + 2)

/** Turns off the write-ahead log in the bytes of a file, in place: an image has no log, and would not open with one. */
export const asImage = (file: Uint8Array): Uint8Array =>
  file.fill(ROLLBACK_JOURNAL, JOURNAL_MODE_OFFSET, JOURNAL_MODE_OFFSET + 2)

const HEADER_BYTES = 100
const PAGE_BYTES_OFFSET = 16
/** The header has 1 for this size, which does not fit. */
const PAGE_BYTES_MAX = 65_536
const PAGE_COUNT_OFFSET = 28
const FIRST_BYTES = 'SQLite format 3\0'

/** The header of a database file, without opening the database. */
export const headerOf = (path: string): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, header)
  } finally {
    closeSync(descriptor)
  }
  return header
}

/** SQLite takes an empty file for a database, and removes the log beside a file that it does not know. */
export const isSqlite = (path: string): boolean => headerOf(path).toString('latin1').startsWith(FIRST_BYTES)

/** The length of a database file in bytes, according to its header (SQLite's file format, sections 1.3.2 and 1.3.7). */
export const bytesByHeader = (path: string): number => {
  const header = headerOf(path)
  const pageBytes = header.readUInt16BE(PAGE_BYTES_OFFSET)
  return (pageBytes === 1 ? PAGE_BYTES_MAX : pageBytes) * header.readUInt32BE(PAGE_COUNT_OFFSET)
}
