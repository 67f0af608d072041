import { join } from 'node:path'
import { Glob } from 'bun'
import { Database } from '../../db/database.ts'
import { asFile } from '../../db/image.ts'
import { isPassing, tryLater } from '../../db/storage.ts'
import type { SteadyClock } from '../../kernel/clock.ts'
import { DomainError } from '../../kernel/failure.ts'
import type { DataAtRest, World } from '../../worlds/world.ts'
import { worldNotFound } from '../errors.ts'
import { DamagedFile, requireSoundPages } from './damaged-file.ts'
import { DatabaseFolder, StagedFile } from './database-folder.ts'
import { FolderSnapshots } from './snapshots.ts'
import { keepBesideData, keepRandomness, keptState, type StateBesideData, type WorldState, worldFrom } from './state.ts'
import type { OnResume, Saved, WorldStore } from './store.ts'

const WORLDS = { folder: 'worlds', prefix: 'world-' } as const
const SNAPSHOTS = { folder: 'snapshots', prefix: 'snapshot-' } as const

/** The files of the named worlds and snapshots in a data folder. */
export const worldFilesIn = (dataDir: string): string[] =>
  [WORLDS, SNAPSHOTS].flatMap(({ folder, prefix }) => [
    ...new Glob(`${folder}/${prefix}*.sqlite`).scanSync({ cwd: dataDir, absolute: true }),
  ])

/** A larger world is written to a file beside other requests: to copy so many bytes takes some 5 ms. */
export const IN_MEMORY_BYTES_MAX = 8_388_608

interface FolderStoreOptions {
  folder: string
  /** Whether acknowledged writes outlive a crash. */
  isDurable: boolean
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
      new DatabaseFolder({ folder: join(options.folder, folder), prefix, isDurable: options.isDurable })
    this.#worlds = inside(WORLDS)
    this.snapshots = new FolderSnapshots(inside(SNAPSHOTS), options.seed)
  }

  get names(): readonly string[] {
    return this.#worlds.names
  }

  get byteCount(): number {
    return this.#worlds.byteCount + this.snapshots.byteCount
  }

  make(name: string, saved: Saved | undefined, onResume: OnResume, old?: World): World {
    using staged = saved instanceof StagedFile ? saved : this.#worlds.stageImage(this.#imageOf(saved))
    old?.close()
    this.#worlds.place(name, staged)
    if (saved instanceof StagedFile) return this.#load(name, onResume)
    return this.#world(name, this.#atRest(this.#worlds.path(name)), saved ?? this.options.initial, onResume)
  }

  #imageOf(state: WorldState | undefined): Uint8Array {
    if (state) return this.#prepared(state)
    this.#initialImage ??= this.#prepared(this.options.initial)
    return this.#initialImage
  }

  /** Prepared here, because each write to a file is synced. */
  #prepared({ image, ...state }: WorldState): Uint8Array {
    const database = Database.inMemory(image)
    this.options.prepare(database)
    keepBesideData(database, state)
    return asFile(database.closeToImage())
  }

  get damaged(): DamagedFile[] {
    return [...this.#worlds.damaged, ...this.snapshots.damaged]
  }

  load(name: string, onResume: OnResume): World {
    const damaged = this.#worlds.findDamage(name)
    if (damaged) throw damaged
    return this.#load(name, onResume, requireSoundPages)
  }

  #load(name: string, onResume: OnResume, check: (database: Database) => void = () => undefined): World {
    const path = this.#worlds.path(name)
    try {
      return this.#read(name, path, onResume, check)
    } catch (error) {
      if (isPassing(error)) throw tryLater(error)
      throw new DamagedFile(path, error instanceof Error ? error.message : String(error))
    }
  }

  #read(name: string, path: string, onResume: OnResume, check: (database: Database) => void): World {
    const { seed, prepare } = this.options
    const database = this.#open(path)
    try {
      check(database)
      prepare(database)
      database.serve()
      return this.#world(name, database, keptState(database.query, seed), onResume)
    } catch (error) {
      database.close()
      throw error
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
      return await this.#worlds.stageCopy((path) => world.db.copyTo(path, this.options.isDurable))
    } catch (error) {
      throw world.closed ? new DomainError(worldNotFound(world.name)) : error
    }
  }

  close({ name }: World, database: Database): DataAtRest {
    database.close()
    return this.#atRest(this.#worlds.path(name))
  }

  /** Takes over a world from memory. */
  adopt(name: string, image: Uint8Array): DataAtRest {
    using staged = this.#worlds.stageImage(image)
    this.#worlds.place(name, staged)
    return this.#atRest(this.#worlds.path(name))
  }

  outgrows(): boolean {
    return false
  }

  remove(name: string): void {
    this.#worlds.remove(name)
  }

  dispose = (): void => undefined

  #atRest(path: string): DataAtRest {
    return {
      open: () => {
        const database = this.#open(path)
        database.serve()
        return database
      },
      drop: () => undefined,
    }
  }

  #open(path: string): Database {
    return Database.openFile(path, this.options.isDurable ? 'FULL' : 'OFF')
  }
}
