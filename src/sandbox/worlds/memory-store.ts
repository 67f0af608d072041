import type { Database } from '../../db/database.ts'
import { asFile } from '../../db/image.ts'
import type { SteadyClock } from '../../kernel/clock.ts'
import type { DataAtRest, World } from '../../worlds/world.ts'
import { StagedFile } from './database-folder.ts'
import { FolderStore, IN_MEMORY_BYTES_MAX } from './folder-store.ts'
import { Images, inMemory, sharedImage } from './images.ts'
import { MemorySnapshots } from './snapshots.ts'
import { besideDataOf, keepBesideData, keepRandomness, stateOf, type WorldState, worldFrom } from './state.ts'
import type { OnResume, Saved, WorldStore } from './store.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

/** The share of the memory for compressed images. */
const IMAGE_SHARE = 1 / 8

interface MemoryStoreOptions {
  clock: SteadyClock
  /** The random seed of a world that draws from the machine. */
  seed: string
  initial: WorldState
  /** The limit of the temporary files (contract C15). */
  memoryBytesMax: number
}

/** Worlds and snapshots in memory; large ones in temporary files, which are copied without blocking other requests. */
export class MemoryStore implements WorldStore {
  readonly names: readonly string[] = []
  readonly damaged = []
  readonly snapshots: MemorySnapshots
  readonly #images: Images
  #temporary: { folder: Disposable; store: FolderStore } | undefined

  constructor(private readonly options: MemoryStoreOptions) {
    this.#images = new Images(options.memoryBytesMax * IMAGE_SHARE, (bytes) => this.fits(bytes))
    this.snapshots = new MemorySnapshots(this.#images, () => this.#files.snapshots)
  }

  get memoryBytes(): number {
    return this.#images.memoryBytes
  }

  make(name: string, saved: Saved | undefined, onResume: OnResume, old?: World): World {
    if (saved instanceof StagedFile) return this.#files.make(name, saved, onResume, old)
    old?.close()
    this.remove(name)
    const { image, ...state } = saved ?? this.options.initial
    return worldFrom(name, sharedImage(image), state, this.options.clock, (world) => {
      if (world.db.onFile) keepRandomness(world)
      onResume(world)
    })
  }

  load(name: string): never {
    throw new Error(`no earlier process has left ${name} in memory`)
  }

  fits(bytes: number): boolean {
    const used = this.#images.fileBytes + (this.#temporary?.store.byteCount ?? 0)
    return used + bytes <= this.options.memoryBytesMax
  }

  async save(world: World): Promise<Saved> {
    if (this.#isLarge(world.db)) world.suspend((database) => this.close(world, database))
    return world.db.onFile ? this.#files.save(world) : stateOf(world, this.options.seed)
  }

  close(world: World, database: Database): DataAtRest {
    if (database.onFile) return this.#files.close(world, database)
    if (!this.#isLarge(database)) return inMemory(this.#images.keep(database.closeToImage()))
    keepBesideData(database, besideDataOf(world, this.options.seed))
    return this.#files.adopt(world.name, asFile(database.closeToImage()))
  }

  outgrows({ bytesInMemory }: World): boolean {
    return bytesInMemory > IN_MEMORY_BYTES_MAX && this.fits(bytesInMemory)
  }

  #isLarge({ onFile, byteCount }: Database): boolean {
    return !onFile && byteCount > IN_MEMORY_BYTES_MAX && this.fits(byteCount)
  }

  remove(name: string): void {
    this.#temporary?.store.remove(name)
  }

  dispose(): void {
    this.#images.close()
    this.#temporary?.folder[Symbol.dispose]()
  }

  get #files(): FolderStore {
    this.#temporary ??= this.#createTemporary()
    return this.#temporary.store
  }

  #createTemporary() {
    const { clock, seed, initial } = this.options
    const folder = createTemporaryFolder()
    const store = new FolderStore({
      folder: folder.path,
      isDurable: false,
      clock,
      seed,
      initial,
      prepare: () => undefined,
    })
    return { folder, store }
  }
}
