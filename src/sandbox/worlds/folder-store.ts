import { join } from 'node:path'
import { Glob } from 'bun'
import { Database } from '../../db/database.ts'
import { asFile } from '../../db/image.ts'
import { isPassing, tryLater } from '../../db/storage.ts'
import type { SteadyClock } from '../../kernel/clock.ts'
import { DomainError } from '../../kernel/failure.ts'
import type { DataAtRest, World } from '../../worlds/world.ts'
import { worldNotFound } from '../errors.ts'
import { DamagedFile } from './damaged-file.ts'
import { DatabaseFolder, StagedFile } from './database-folder.ts'
import { FolderSnapshots } from './snapshots.ts'
import {
  keepRandomness,
  keptState,
  type StateBesideData,
  soundState,
  type WorldState,
  wholeImage,
  worldFrom,
} from './state.ts'
import type { OnResume, Saved, WorldStore } from './store.ts'

const WORLDS = { folder: 'worlds', prefix: 'world-' } as const
const SNAPSHOTS = { folder: 'snapshots', prefix: 'snapshot-' } as const

/** The files of the named worlds and snapshots in a data folder. */
export const worldFilesIn = (dataDir: string): string[] =>
  [WORLDS, SNAPSHOTS].flatMap(({ folder, prefix }) => [
    ...new Glob(`${folder}/${prefix}*.sqlite`).scanSync({ cwd: dataDir, absolute: true }),
  ])

interface FolderStoreOptions {
  dataDir: string
  clock: SteadyClock
  /** The random seed of a copy of the default world. */
  seed: string
  initial: WorldState
  /** Migrates the database of an earlier release, and brings its seed data up to date. */
  prepare: (database: Database) => void
}

/** Named worlds and snapshots in a data folder: one database each, which has everything that outlives a restart. */
export class FolderStore implements WorldStore {
  readonly snapshots: FolderSnapshots
  readonly memoryBytes = 0
  readonly #worlds: DatabaseFolder
  #initialImage: Uint8Array | undefined

  constructor(private readonly options: FolderStoreOptions) {
    const inside = ({ folder, prefix }: { folder: string; prefix: string }) =>
      new DatabaseFolder(join(options.dataDir, folder), prefix)
    this.#worlds = inside(WORLDS)
    this.snapshots = new FolderSnapshots(inside(SNAPSHOTS), options.seed)
  }

  get names(): readonly string[] {
    return this.#worlds.names
  }

  get damaged(): DamagedFile[] {
    return [...this.#worlds.damaged, ...this.snapshots.damaged]
  }

  make(name: string, saved: Saved | undefined, onResume: OnResume, old?: World): World {
    const release = () => old?.close()
    if (saved instanceof StagedFile) {
      this.#worlds.write(name, saved, release)
      return this.#load(name, onResume)
    }
    this.#worlds.write(name, saved ? this.#prepared(saved) : this.#initial(), release)
    return this.#world(name, this.#atRest(name), saved ?? this.options.initial, onResume)
  }

  #initial(): Uint8Array {
    this.#initialImage ??= this.#prepared(this.options.initial)
    return this.#initialImage
  }

  /** Prepared here, because each write to a file is synced. */
  #prepared(state: WorldState): Uint8Array {
    return asFile(wholeImage(state, this.options.prepare))
  }

  load(name: string, onResume: OnResume): World {
    const damaged = this.#worlds.findDamage(name)
    if (damaged) throw damaged
    return this.#load(name, onResume, (database) => soundState(database, this.options.seed))
  }

  #load(name: string, onResume: OnResume, check: (database: Database) => unknown = () => undefined): World {
    const { seed, prepare } = this.options
    let database: Database | undefined
    try {
      database = Database.openFile(this.#worlds.path(name))
      check(database)
      prepare(database)
      database.serve()
      return this.#world(name, database, keptState(database.query, seed), onResume)
    } catch (error) {
      database?.close()
      if (isPassing(error)) throw tryLater(error)
      throw new DamagedFile(this.#worlds.path(name), error instanceof Error ? error.message : String(error))
    }
  }

  #world(name: string, data: Database | DataAtRest, state: StateBesideData, onResume: OnResume): World {
    const resumed = (world: World) => {
      keepRandomness(world)
      onResume(world)
    }
    const world = worldFrom(name, data, state, this.options.clock, resumed)
    if (data instanceof Database) resumed(world)
    return world
  }

  fits(): boolean {
    return true
  }

  async save(world: World): Promise<StagedFile> {
    try {
      return await this.#worlds.stage((path) => world.db.copyTo(path))
    } catch (error) {
      throw world.closed ? new DomainError(worldNotFound(world.name)) : error
    }
  }

  close({ name }: World, database: Database): DataAtRest {
    database.close()
    return this.#atRest(name)
  }

  remove(name: string): void {
    this.#worlds.remove(name)
  }

  dispose = (): void => undefined

  #atRest(name: string): DataAtRest {
    const open = (): Database => {
      const database = Database.openFile(this.#worlds.path(name))
      database.serve()
      return database
    }
    return { open, drop: () => undefined }
  }
}
