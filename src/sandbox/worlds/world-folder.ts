import type { Database } from '../../db/database.ts'
import type { ClockState } from './movable-clock.ts'

/** Bytes in a file or in memory. */
export interface KeptBytes {
  readonly byteCount: number
  read: () => Uint8Array
  drop: () => void
}

/** Stores worlds at rest, or snapshots, in a data folder or in a temporary one (decision 129). */
export interface WorldFolder {
  /** All names, in any order, with those of an earlier process. */
  readonly names: readonly string[]
  has: (name: string) => boolean
  /** For messages. */
  path: (name: string) => string
  /** Makes a world, or replaces one, which `release` closes. It rests until it is opened. */
  begin: (name: string, image: Uint8Array, release?: () => void) => void
  /** Opens a world that rests. @throws Error that says what is wrong with its file, as far as that shows */
  open: (name: string) => Database
  /** Closes a world that nobody uses. */
  rest: (name: string, database: Database) => void
  /** @throws Error that says what is wrong with the file, as far as that shows */
  read: (name: string) => Uint8Array
  write: (name: string, image: Uint8Array) => void
  remove: (name: string) => boolean
  /** Keeps the journal of a world beside its database. */
  keepJournal: (name: string, bytes: Uint8Array) => KeptBytes
  /** The journal that an earlier process has kept. */
  findJournal: (name: string) => KeptBytes | undefined
  /** The clock of a world that nobody has opened in this process; undefined where it is in its file alone. */
  findClock: (name: string) => ClockState | undefined
  keepClock: (name: string, clock: ClockState) => void
  forgetClock: (name: string) => void
  /** Ends with the process. */
  dispose: () => void
}

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
