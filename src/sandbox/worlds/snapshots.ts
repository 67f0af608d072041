import { Database } from '../../db/database.ts'
import { copyBeside } from '../../db/disk.ts'
import { asImage } from '../../db/image.ts'
import { isPassing, tryLater } from '../../db/storage.ts'
import { DomainError } from '../../kernel/failure.ts'
import { snapshotDamaged, snapshotsExhausted, snapshotTooLarge } from '../errors.ts'
import type { DamagedFile } from './damaged-file.ts'
import { type DatabaseFolder, StagedFile } from './database-folder.ts'
import type { Images, KeptImage } from './images.ts'
import { FILE_BYTES_MAX } from './snapshot-file.ts'
import { type StateBesideData, soundState, type WorldState, wholeImage } from './state.ts'
import type { Saved, SnapshotStore } from './store.ts'

export const SNAPSHOTS_MAX = 1_000

/** @throws DomainError snapshots_exhausted */
const requireRoom = ({ names }: SnapshotStore, name: string): void => {
  if (names.length < SNAPSHOTS_MAX || names.includes(name)) return
  throw new DomainError(snapshotsExhausted(SNAPSHOTS_MAX))
}

/** @throws DomainError snapshot_too_large */
const requireReadable = (bytes: number): void => {
  if (bytes > FILE_BYTES_MAX) throw new DomainError(snapshotTooLarge(FILE_BYTES_MAX))
}

/** Looks at a database, and closes it. */
const looking = <T>(database: Database, look: (database: Database) => T): T => {
  try {
    return look(database)
  } finally {
    database.close()
  }
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

  find(name: string): Promise<StagedFile | undefined> {
    return this.#unlessDamaged(name, async (path) => {
      const copy = await this.folder.stage((staged) => copyBeside(path, staged))
      try {
        looking(Database.openFile(copy.path), (database) => soundState(database, this.seed))
        return copy
      } catch (error) {
        copy[Symbol.dispose]()
        throw error
      }
    })
  }

  read(name: string): Promise<WorldState | undefined> {
    return this.#unlessDamaged(name, async (path) => {
      requireReadable(Bun.file(path).size)
      const image = asImage(await Bun.file(path).bytes())
      return { image, ...looking(Database.inMemory(image), (database) => soundState(database, this.seed)) }
    })
  }

  /** Undefined if there is none, or if it is removed meanwhile. @throws DomainError snapshot_damaged */
  async #unlessDamaged<T>(name: string, use: (path: string) => Promise<T>): Promise<T | undefined> {
    if (!this.folder.has(name)) return undefined
    try {
      const damaged = this.folder.findDamage(name)
      if (damaged) throw damaged
      return await use(this.folder.path(name))
    } catch (error) {
      if (error instanceof DomainError) throw error
      if (!this.folder.has(name)) return undefined
      throw isPassing(error) ? tryLater(error) : new DomainError(snapshotDamaged(name), { cause: error })
    }
  }

  keep(name: string, saved: Saved): void {
    requireRoom(this, name)
    this.folder.write(name, saved instanceof StagedFile ? saved : wholeImage(saved))
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

  async read(name: string): Promise<WorldState | undefined> {
    const found = await this.find(name)
    requireReadable(found?.image.byteLength ?? 0)
    return found
  }

  keep(name: string, saved: Saved): void {
    if (saved instanceof StagedFile) throw new Error('nothing in memory was saved as a file')
    const { image, ...state } = saved
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
