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
import { keptState, requireWorld, type StateBesideData, type WorldState, wholeImage } from './state.ts'
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

const looking = <T>({ path }: StagedFile, look: (database: Database) => T): T => {
  const database = Database.openFile(path)
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

  async find(name: string): Promise<StagedFile | undefined> {
    if (!this.folder.has(name)) return undefined
    let copy: StagedFile | undefined
    try {
      if (this.folder.findDamage(name)) throw new Error('is damaged')
      copy = await this.folder.stage((path) => copyBeside(this.folder.path(name), path))
      looking(copy, (database) => requireWorld(database, this.seed))
      return copy
    } catch (error) {
      copy?.[Symbol.dispose]()
      if (!this.folder.has(name)) return undefined // it was removed meanwhile
      throw isPassing(error) ? tryLater(error) : new DomainError(snapshotDamaged(name), { cause: error })
    }
  }

  async read(name: string): Promise<WorldState | undefined> {
    // Before it is copied.
    requireReadable(Bun.file(this.folder.path(name)).size)
    using copy = await this.find(name)
    if (!copy) return undefined
    const file = Bun.file(copy.path)
    const state = looking(copy, ({ query }) => keptState(query, this.seed))
    return { image: asImage(await file.bytes()), ...state }
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
