import type { Database } from '../../db/database.ts'
import type { SteadyClock } from '../../kernel/clock.ts'
import type { DataAtRest, World } from '../../worlds/world.ts'
import { StagedFile } from './database-folder.ts'
import { Images, inMemory, sharedImage } from './images.ts'
import { MemorySnapshots } from './snapshots.ts'
import { stateOf, type WorldState, worldFrom } from './state.ts'
import type { OnResume, Saved, WorldStore } from './store.ts'

/** The share of the memory for compressed images. */
const IMAGE_SHARE = 1 / 8

interface MemoryStoreOptions {
  clock: SteadyClock
  /** The random seed of a world that draws from the machine. */
  seed: string
  initial: WorldState
  /** The limit of the temporary file, too (contract C15). */
  memoryBytesMax: number
}

/** Worlds and snapshots in memory, and in a temporary file while nobody uses them. */
export class MemoryStore implements WorldStore {
  readonly names = []
  readonly damaged = []
  readonly snapshots: MemorySnapshots
  readonly #images: Images

  constructor(private readonly options: MemoryStoreOptions) {
    this.#images = new Images(options.memoryBytesMax * IMAGE_SHARE, (bytes) => this.fits(bytes))
    this.snapshots = new MemorySnapshots(this.#images)
  }

  get memoryBytes(): number {
    return this.#images.memoryBytes
  }

  make(name: string, saved: Saved | undefined, onResume: OnResume, old?: World): World {
    if (saved instanceof StagedFile) throw new Error('nothing in memory was saved as a file')
    old?.close()
    const { image, ...state } = saved ?? this.options.initial
    return worldFrom(name, sharedImage(image), state, this.options.clock, onResume)
  }

  load(name: string): never {
    throw new Error(`no earlier process has left ${name} in memory`)
  }

  fits(bytes: number): boolean {
    return this.#images.fileBytes + bytes <= this.options.memoryBytesMax
  }

  async save(world: World): Promise<WorldState> {
    return stateOf(world, this.options.seed)
  }

  close(_: World, database: Database): DataAtRest {
    return inMemory(this.#images.keep(database.closeToImage()))
  }

  remove = (): void => undefined

  dispose(): void {
    this.#images.close()
  }
}
