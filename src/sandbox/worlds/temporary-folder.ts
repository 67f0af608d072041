import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../../db/database.ts'
import { PRIVATE_FILE_MODE } from '../../folder/files.ts'
import { lockForLife } from '../../folder/lock.ts'
import { zlib } from './snapshot-file.ts'
import { DamagedFile, type KeptBytes, type WorldFolder } from './world-folder.ts'

const PREFIX = 'scrip-worlds-'
/** A file takes at least a block of the disk. Smaller images stay in memory, such as a world that has only been logged in to. */
const BLOCK_BYTES = 4_096

/** Files of this process, in a folder that is created with the first of them (contract C15). */
export class TemporaryFiles {
  #folder: (Disposable & { path: string }) | undefined
  #isRefused = false
  #count = 0

  constructor(private readonly parent = tmpdir()) {
    removeAbandoned(parent)
  }

  /** Keeps the bytes in memory if the file cannot be written. */
  keep(bytes: Uint8Array): KeptBytes {
    const { byteLength: byteCount } = bytes
    const path = byteCount > BLOCK_BYTES ? this.#write(bytes) : undefined
    if (path === undefined) return { byteCount, read: () => bytes, drop: () => undefined }
    return { byteCount, read: () => readFileSync(path), drop: () => rmSync(path, { force: true }) }
  }

  #write(bytes: Uint8Array): string | undefined {
    if (this.#isRefused) return undefined
    try {
      this.#folder ??= lockedFolder(this.parent)
    } catch {
      this.#isRefused = true
      return undefined
    }
    const path = join(this.#folder.path, String(++this.#count))
    try {
      writeFileSync(path, bytes, { mode: PRIVATE_FILE_MODE })
      return path
    } catch {
      rmSync(path, { force: true }) // the disk is full
      return undefined
    }
  }

  dispose(): void {
    this.#folder?.[Symbol.dispose]()
    this.#folder = undefined
    this.#isRefused = true
  }
}

/** Creates a folder with a lock, which shows that its process is alive. */
const lockedFolder = (parent: string): Disposable & { path: string } => {
  const path = mkdtempSync(join(parent, PREFIX)) // with the mode 0700
  const lock = lockForLife(path)
  return {
    path,
    [Symbol.dispose]: () => {
      lock[Symbol.dispose]()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Removes the folders of processes that were killed. */
const removeAbandoned = (parent: string): void => {
  for (const name of foldersIn(parent)) {
    const path = join(parent, name)
    try {
      lockForLife(path)[Symbol.dispose]()
      rmSync(path, { recursive: true, force: true })
    } catch {} // a process uses it, or it belongs to another user
  }
}

const foldersIn = (parent: string): string[] => {
  try {
    return readdirSync(parent).filter((name) => name.startsWith(PREFIX))
  } catch {
    return []
  }
}

/** Packing takes a millisecond or two for this many bytes: larger images are kept as they are. */
const PACKED_BYTES_MAX = 1_048_576

/** Worlds or snapshots without a data folder. A world in use is in memory. */
export class TemporaryFolder implements WorldFolder {
  readonly #kept = new Map<string, KeptBytes & { isPacked: boolean }>()

  constructor(
    private readonly files: TemporaryFiles,
    /** The image of a new world. It is the dictionary for packing, so that a world that has written little is small. */
    private readonly initial: () => Uint8Array,
  ) {}

  get names(): readonly string[] {
    return [...this.#kept.keys()]
  }

  has(name: string): boolean {
    return this.#kept.has(name)
  }

  path(name: string): string {
    return name
  }

  begin(name: string, image: Uint8Array, release: () => void = () => undefined): void {
    release()
    this.remove(name)
    const { byteLength: byteCount } = image
    this.#kept.set(name, { byteCount, read: () => image, drop: () => undefined, isPacked: false })
  }

  open(name: string): Database {
    const image = this.#found(name)
    this.remove(name)
    return Database.inMemory(image)
  }

  #found(name: string): Uint8Array {
    try {
      return this.read(name)
    } catch (error) {
      throw new DamagedFile(name, error) // somebody has cleaned the folder
    }
  }

  rest(name: string, database: Database): void {
    this.write(name, database.closeToImage())
  }

  read(name: string): Uint8Array {
    const kept = this.#kept.get(name)
    if (!kept) throw new Error(`nothing is kept of ${name}`)
    const bytes = kept.read()
    return kept.isPacked ? zlib().zstdDecompressSync(bytes, { dictionary: this.initial() }) : bytes
  }

  write(name: string, image: Uint8Array): void {
    const isPacked = image.byteLength <= PACKED_BYTES_MAX
    const kept = this.files.keep(isPacked ? this.#packed(image) : image)
    this.remove(name)
    this.#kept.set(name, { ...kept, isPacked })
  }

  #packed(image: Uint8Array): Uint8Array {
    return zlib().zstdCompressSync(image, { dictionary: this.initial() })
  }

  remove(name: string): boolean {
    this.#kept.get(name)?.drop()
    return this.#kept.delete(name)
  }

  keepJournal(_: string, bytes: Uint8Array): KeptBytes {
    return this.files.keep(bytes)
  }

  findJournal = (): undefined => undefined

  // Each world of the folder was made by this process, which has its clock in memory.
  findClock = (): undefined => undefined

  keepClock = (): void => undefined

  forgetClock = (): void => undefined

  dispose(): void {
    this.files.dispose()
  }
}
