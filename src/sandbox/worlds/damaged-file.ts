import type { Database } from '../../db/database.ts'

/** The file of a world or a snapshot that cannot be read. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile'

  constructor(path: string, problem: unknown) {
    super(`${path}: ${problem instanceof Error ? problem.message : problem}`)
  }
}

/** The check takes about a millisecond for each mebibyte. Damage in a larger file shows when its pages are read. */
const CHECKED_BYTES_MAX = 67_108_864

/** @throws Error for what is wrong with the pages of a database */
export const requireSoundPages = ({ sqlite, byteCount }: Database): void => {
  if (byteCount > CHECKED_BYTES_MAX) return
  const problem = sqlite.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
  if (problem !== 'ok') throw new Error(`is damaged: ${problem}`)
}
