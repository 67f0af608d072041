import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDataFolder, PRIVATE_FILE_MODE, removeDatabase, replaceDatabase } from '../../db/data-folder.ts'
import { copyBeside, flushFolder, releasingBeside } from '../../db/disk.ts'
import { DamagedFile, problemIn } from './damaged-file.ts'

/** A database that is not in its place yet: it is moved there, or removed at the end of its scope. */
export class StagedFile implements Disposable {
  constructor(readonly path: string) {}

  [Symbol.dispose](): void {
    releasingBeside(this.path, () => rmSync(this.path, { force: true }))
  }
}

const STAGED = '.staged-'

interface DatabaseFolderOptions {
  folder: string
  /** Precedes each name, because names such as `con` mean a device to Windows. */
  prefix: string
  /** Whether what is in the folder outlives a loss of power. */
  isDurable: boolean
}

/** A folder with one database for each name (decision 58). */
export class DatabaseFolder {
  readonly #names: Set<string>
  readonly #fileName: RegExp
  #staged = 0

  constructor(private readonly options: DatabaseFolderOptions) {
    this.#fileName = new RegExp(`^${options.prefix}([a-z0-9_-]{1,64})\\.sqlite$`)
    this.#removeStaged()
    this.#names = new Set(this.#namesByTime())
  }

  /** The oldest first. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  path(name: string): string {
    const { folder, prefix } = this.options
    return join(folder, `${prefix}${name}.sqlite`)
  }

  get byteCount(): number {
    return this.names.reduce((sum, name) => sum + statSync(this.path(name)).size, 0)
  }

  /** The files that cannot be read, as far as a quick look shows. */
  get damaged(): DamagedFile[] {
    return this.names.flatMap((name) => this.findDamage(name) ?? [])
  }

  findDamage(name: string): DamagedFile | undefined {
    const path = this.path(name)
    const problem = problemIn(path)
    return problem === undefined ? undefined : new DamagedFile(path, problem)
  }

  stageImage(image: Uint8Array): StagedFile {
    const staged = this.#newStaged()
    writeFileSync(staged.path, image, { mode: PRIVATE_FILE_MODE, flush: this.options.isDurable })
    return staged
  }

  /** Undefined if there is none, or if it is removed meanwhile. */
  async findCopy(name: string): Promise<StagedFile | undefined> {
    if (!this.has(name)) return undefined
    try {
      return await this.stageCopy((path) => copyBeside(this.path(name), path, this.options.isDurable))
    } catch (error) {
      if (this.has(name)) throw error
      return undefined
    }
  }

  async stageCopy(copyTo: (path: string) => Promise<void>): Promise<StagedFile> {
    const staged = this.#newStaged()
    try {
      await copyTo(staged.path)
      return staged
    } catch (error) {
      staged[Symbol.dispose]()
      throw error
    }
  }

  /** Replaces the database of this name, which must be closed. A process that is killed leaves the old one or the new one. */
  place(name: string, staged: StagedFile): void {
    this.#make()
    this.#names.delete(name) // to the end
    replaceDatabase(staged.path, this.path(name), { isDurable: this.options.isDurable })
    this.#names.add(name)
  }

  remove(name: string): boolean {
    if (!this.#names.delete(name)) return false
    removeDatabase(this.path(name))
    if (this.options.isDurable) flushFolder(this.options.folder)
    return true
  }

  #make(): void {
    const { folder } = this.options
    if (existsSync(folder)) return
    makeDataFolder(folder)
    if (this.options.isDurable) flushFolder(dirname(folder))
  }

  #newStaged(): StagedFile {
    this.#make()
    return new StagedFile(join(this.options.folder, `${STAGED}${++this.#staged}`))
  }

  #removeStaged(): void {
    const { folder } = this.options
    for (const file of this.#files()) {
      if (file.startsWith(STAGED)) rmSync(join(folder, file), { force: true })
    }
  }

  /** The folder is made with its first file. */
  #files(): string[] {
    const { folder } = this.options
    return existsSync(folder) ? readdirSync(folder) : []
  }

  #namesByTime(): string[] {
    return this.#files()
      .flatMap((file) => this.#fileName.exec(file)?.[1] ?? [])
      .map((name) => ({ name, writtenMs: statSync(this.path(name)).mtimeMs }))
      .sort((a, b) => a.writtenMs - b.writtenMs || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name)
  }
}

/** What was saved in a file is removed at the end of a request, unless it has become a world or a snapshot. */
export const stagedIn = (saved: unknown): StagedFile | undefined => (saved instanceof StagedFile ? saved : undefined)
