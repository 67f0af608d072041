import { Database } from '../../db/database.ts'
import { asImage } from '../../db/image.ts'
import { isPassing, tryLater } from '../../db/storage.ts'
import { DomainError } from '../../kernel/failure.ts'
import { snapshotDamaged, snapshotsExhausted } from '../errors.ts'
import { type DamagedFile, requireSoundPages } from './damaged-file.ts'
import type { DatabaseFolder } from './database-folder.ts'
import type { Images, KeptImage } from './images.ts'
import { keptState, type StateBesideData, type WorldState, wholeImage } from './state.ts'
import type { SnapshotStore } from './store.ts'

export const SNAPSHOTS_MAX = 1_000

/** @throws DomainError snapshots_exhausted */
const requireRoom = ({ names }: SnapshotStore, name: string): void => {
  if (names.length < SNAPSHOTS_MAX || names.includes(name)) return
  throw new DomainError(snapshotsExhausted(SNAPSHOTS_MAX))
}

export class FolderSnapshots implements SnapshotStore {
  constructor(
    private readonly folder: DatabaseFolder,
    /** The random seed of a snapshot of the default world. */
    private readonly seed: string,
  ) {}

  get names(): readonly string[] {
    return this.folder.names
  }

  get damaged(): DamagedFile[] {
    return this.folder.damaged
  }

  async find(name: string): Promise<WorldState | undefined> {
    if (!this.folder.has(name)) return undefined
    try {
      const image = asImage(await Bun.file(this.folder.path(name)).bytes())
      return { image, ...this.#stateIn(image) }
    } catch (error) {
      if (!this.folder.has(name)) return undefined // it was removed meanwhile
      throw isPassing(error) ? tryLater(error) : new DomainError(snapshotDamaged(name), { cause: error })
    }
  }

  #stateIn(image: Uint8Array): StateBesideData {
    const database = Database.inMemory(image)
    try {
      requireSoundPages(database)
      return keptState(database.query, this.seed)
    } finally {
      database.close()
    }
  }

  keep(name: string, saved: WorldState): void {
    requireRoom(this, name)
    this.folder.write(name, wholeImage(saved))
  }

  drop(name: string): boolean {
    return this.folder.remove(name)
  }
}

export class MemorySnapshots implements SnapshotStore {
  readonly #byName = new Map<string, StateBesideData & { kept: KeptImage }>()

  constructor(private readonly images: Images) {}

  get names(): readonly string[] {
    return [...this.#byName.keys()]
  }

  async find(name: string): Promise<WorldState | undefined> {
    const found = this.#byName.get(name)
    if (!found) return undefined
    const { kept, ...state } = found
    return { ...state, image: kept.read() }
  }

  keep(name: string, { image, ...state }: WorldState): void {
    requireRoom(this, name)
    const kept = this.images.keep(image)
    this.drop(name)
    this.#byName.set(name, { ...state, kept })
  }

  drop(name: string): boolean {
    this.#byName.get(name)?.kept.drop()
    return this.#byName.delete(name)
  }
}
