import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { Database } from '../../db/database.ts'

/** The file of a world or a snapshot that cannot be read. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile'

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`)
  }
}

/** The header of a database file (https://sqlite.org/fileformat.html, section 1.3). */
const HEADER_BYTES = 100
const FORMAT = 'SQLite format 3\0'
const PAGE_BYTES_OFFSET = 16
const PAGE_COUNT_OFFSET = 28

/** What is wrong with a file, as far as size and header show. */
export const problemIn = (path: string): string | undefined => {
  const size = sizeOf(path)
  const header = headerOf(path)
  if (size === 0) return 'is empty'
  if (size < HEADER_BYTES || header.toString('latin1', 0, FORMAT.length) !== FORMAT) return 'is not a database'
  const isWhole = size >= header.readUInt16BE(PAGE_BYTES_OFFSET) * header.readUInt32BE(PAGE_COUNT_OFFSET)
  // The missing part of the file may be in the log of a killed process.
  return isWhole || sizeOf(`${path}-wal`) > 0 ? undefined : 'is cut short'
}

/** The check takes about a millisecond for each mebibyte. Damage in a larger file shows when its pages are read. */
const CHECKED_BYTES_MAX = 67_108_864

/** @throws Error for what is wrong with the pages of a database */
export const requireSoundPages = ({ sqlite, byteCount }: Database): void => {
  if (byteCount > CHECKED_BYTES_MAX) return
  const problem = sqlite.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
  if (problem !== 'ok') throw new Error(`is damaged: ${problem}`)
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const headerOf = (path: string): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  const file = openSync(path, 'r')
  readSync(file, header)
  closeSync(file)
  return header
}
