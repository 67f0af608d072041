import { closeSync, openSync, writeSync } from 'node:fs'

/** The bytes of a database, in memory and in a file. Both functions change the bytes that they are given. */

/** Where the header of a database file has its journal mode: twice, for writing and for reading. */
const JOURNAL_MODE_OFFSET = 18
const ROLLBACK_JOURNAL = 1
const WRITE_AHEAD_LOG = 2

/** Makes the image of a database one that a file starts with: otherwise the first to open the file writes and syncs it. */
export const asFile = (image: Uint8Array): Uint8Array =>
  image.fill(WRITE_AHEAD_LOG, JOURNAL_MODE_OFFSET, JOURNAL_MODE_OFFSET + 2)

/** Makes the bytes of a whole file an image: with a write-ahead log, which an image has not, it would not open. */
export const asImage = (file: Uint8Array): Uint8Array =>
  file.fill(ROLLBACK_JOURNAL, JOURNAL_MODE_OFFSET, JOURNAL_MODE_OFFSET + 2)

/** The same for a file that was written without a log. */
export const withWriteAheadLog = (path: string): void => {
  const descriptor = openSync(path, 'r+')
  try {
    writeSync(descriptor, new Uint8Array([WRITE_AHEAD_LOG, WRITE_AHEAD_LOG]), 0, 2, JOURNAL_MODE_OFFSET)
  } finally {
    closeSync(descriptor)
  }
}
