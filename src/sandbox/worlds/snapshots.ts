import { Database } from '../../db/database.ts'
import { asImage } from '../../db/image.ts'
import { DomainError } from '../../kernel/failure.ts'
import { snapshotDamaged, snapshotsExhausted, snapshotTooLarge } from '../errors.ts'
import { type DamagedFile, requireSoundPages } from './damaged-file.ts'
import { type DatabaseFolder, StagedFile } from './database-folder.ts'
import type { Images, KeptImage } from './images.ts'
import { keptState, type StateBesideData, type WorldState, wholeImage } from './state.ts'
import type { Saved, SnapshotStore } from './store.ts'

/** A larger snapshot is not written to a file: it is held in memory several times, as bytes and as text. */
export const FILE_BYTES_MAX = 67_108_864
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

  get byteCount(): number {
    return this.folder.byteCount
  }

  get damaged(): DamagedFile[] {
    return this.folder.damaged
  }

  async find(name: string): Promise<StagedFile | undefined> {
    if (this.folder.has(name) && this.folder.findDamage(name)) throw new DomainError(snapshotDamaged(name))
    const copy = await this.folder.findCopy(name)
    if (copy) this.#requireSound(name, copy)
    return copy
  }

  #requireSound(name: string, copy: StagedFile): void {
    try {
      const database = Database.openFile(copy.path)
      try {
        requireSoundPages(database)
      } finally {
        database.close()
      }
    } catch (error) {
      copy[Symbol.dispose]()
      throw new DomainError(snapshotDamaged(name), { cause: error })
    }
  }

  async read(name: string): Promise<WorldState | undefined> {
    if (Bun.file(this.folder.path(name)).size > FILE_BYTES_MAX) {
      throw new DomainError(snapshotTooLarge(FILE_BYTES_MAX)) // before it is copied
    }
    using copy = await this.find(name)
    if (!copy) return undefined
    const file = Bun.file(copy.path)
    const state = this.#stateIn(copy)
    // Beside the thread that serves requests, unlike what SQLite reads.
    return { image: asImage(await file.bytes()), ...state }
  }

  #stateIn({ path }: StagedFile): StateBesideData {
    const database = Database.openFile(path)
    try {
      return keptState(database.query, this.seed)
    } finally {
      database.close()
    }
  }

  keep(name: string, saved: Saved): void {
    using staged = saved instanceof StagedFile ? saved : this.folder.stageImage(wholeImage(saved))
    requireRoom(this, name)
    this.folder.place(name, staged)
  }

  drop(name: string): boolean {
    return this.folder.remove(name)
  }
}

export class MemorySnapshots implements SnapshotStore {
  /** Undefined for one that is in a temporary file. */
  readonly #byName = new Map<string, (StateBesideData & { kept: KeptImage }) | undefined>()

  constructor(
    private readonly images: Images,
    private readonly files: () => FolderSnapshots,
  ) {}

  get names(): readonly string[] {
    return [...this.#byName.keys()]
  }

  async find(name: string): Promise<Saved | undefined> {
    return this.#isInFile(name) ? this.files().find(name) : this.#find(name)
  }

  async read(name: string): Promise<WorldState | undefined> {
    return this.#isInFile(name) ? this.files().read(name) : this.#find(name)
  }

  #isInFile(name: string): boolean {
    return this.#byName.has(name) && this.#byName.get(name) === undefined
  }

  #find(name: string): WorldState | undefined {
    const found = this.#byName.get(name)
    if (!found) return undefined
    const { kept, ...state } = found
    return { ...state, image: kept.read() }
  }

  keep(name: string, saved: Saved): void {
    requireRoom(this, name)
    const kept = saved instanceof StagedFile ? undefined : this.#packed(saved)
    this.drop(name)
    if (saved instanceof StagedFile) this.files().keep(name, saved)
    this.#byName.set(name, kept)
  }

  #packed({ image, ...state }: WorldState) {
    return { ...state, kept: this.images.keep(image) }
  }

  drop(name: string): boolean {
    if (this.#isInFile(name)) this.files().drop(name)
    this.#byName.get(name)?.kept.drop()
    return this.#byName.delete(name)
  }
}
