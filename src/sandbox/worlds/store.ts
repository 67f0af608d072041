import type { Database } from '../../db/database.ts'
import type { DataAtRest, World } from '../../worlds/world.ts'
import type { DamagedFile } from './damaged-file.ts'
import type { StagedFile } from './database-folder.ts'
import type { WorldState } from './state.ts'

/** A saved world: in memory, or as a file with all of it in tables. It is used once. */
export type Saved = WorldState | StagedFile

export type OnResume = (world: World) => void

/** The storage of worlds and snapshots: in memory, or in a data folder. */
export interface WorldStore {
  readonly snapshots: SnapshotStore
  /** The worlds that an earlier process has left. */
  readonly names: readonly string[]
  /** The data of closed worlds. */
  readonly memoryBytes: number
  /** The files that cannot be read, as far as a quick look shows. */
  readonly damaged: readonly DamagedFile[]
  /** Makes a world from a saved one, otherwise from seed data, instead of `old`. */
  make: (name: string, saved: Saved | undefined, onResume: OnResume, old?: World) => World
  /** One of `names`. @throws DamagedFile */
  load: (name: string, onResume: OnResume) => World
  /** Whether there is room for a copy of this many bytes. */
  fits: (bytes: number) => boolean
  save: (world: World) => Promise<Saved>
  /** Closes the database of a world that nobody uses. */
  close: (world: World, database: Database) => DataAtRest
  remove: (name: string) => void
  /** Ends with the process. */
  dispose: () => void
}

export interface SnapshotStore {
  /** In the order in which they were saved. */
  readonly names: readonly string[]
  /** To make a world from it. @throws DomainError snapshot_damaged */
  find: (name: string) => Promise<Saved | undefined>
  /** To write it to a file. @throws DomainError snapshot_damaged or snapshot_too_large */
  read: (name: string) => Promise<WorldState | undefined>
  /** @throws DomainError snapshots_exhausted */
  keep: (name: string, saved: Saved) => void
  drop: (name: string) => boolean
}
