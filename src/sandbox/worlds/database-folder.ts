import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDataFolder, placeDatabase, removeDatabase, STAGED, writeDatabase } from '../../db/data-folder.ts'
import { flushFolder, releasingBeside } from '../../db/disk.ts'
import { SECOND_MS } from '../../kernel/clock.ts'
import { DamagedFile, problemIn } from './damaged-file.ts'

/** A database that is not in use yet: it is moved into place, or removed at the end of its scope. */
export class StagedFile implements Disposable {
  constructor(readonly path: string) {}

  [Symbol.dispose](): void {
    releasingBeside(this.path, () => rmSync(this.path, { force: true }))
  }
}

/** A saved file is removed at the end of a request, unless it has become a world or a snapshot. */
export const stagedIn = (saved: unknown): StagedFile | undefined => (saved instanceof StagedFile ? saved : undefined)

/** A folder with one database for each name (decision 58). The prefix is there because names such as `con` mean a device to Windows. */
export class DatabaseFolder {
  readonly #names: Set<string>
  /** When the last file was written, as its own time says. */
  #lastMs: number
  #staged = 0

  constructor(
    private readonly folder: string,
    private readonly prefix: string,
  ) {
    const files = existsSync(folder) ? readdirSync(folder) : [] // it is made with its first file
    for (const file of files) {
      if (file.startsWith(prefix) && file.endsWith(STAGED)) rmSync(join(folder, file)) // of a process that was killed
    }
    const isOwn = new RegExp(`^${prefix}([a-z0-9_-]{1,64})\\.sqlite$`)
    const found = files
      .flatMap((file) => isOwn.exec(file)?.[1] ?? [])
      .map((name) => ({ name, writtenMs: statSync(this.path(name)).mtimeMs }))
    found.sort((a, b) => a.writtenMs - b.writtenMs || (a.name < b.name ? -1 : 1))
    this.#names = new Set(found.map(({ name }) => name))
    this.#lastMs = found.at(-1)?.writtenMs ?? 0
  }

  /** The oldest first. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  path(name: string): string {
    return join(this.folder, `${this.prefix}${name}.sqlite`)
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

  async stage(copyTo: (path: string) => Promise<void>): Promise<StagedFile> {
    this.#make()
    const staged = new StagedFile(join(this.folder, `${this.prefix}.${++this.#staged}${STAGED}`))
    try {
      await copyTo(staged.path)
      return staged
    } catch (error) {
      staged[Symbol.dispose]()
      throw error
    }
  }

  /** Writes or replaces a database; one that is open is closed in `release`. */
  write(name: string, database: Uint8Array | StagedFile, release?: () => void): void {
    this.#make()
    if (database instanceof StagedFile) placeDatabase(database.path, this.path(name), release)
    else writeDatabase(this.path(name), database, release)
    this.#keepOrder(this.path(name))
    this.#names.delete(name) // to the end
    this.#names.add(name)
  }

  #make(): void {
    if (existsSync(this.folder)) return
    makeDataFolder(this.folder)
    flushFolder(dirname(this.folder))
  }

  /** The times of files that are written within the same four milliseconds are equal. */
  #keepOrder(path: string): void {
    const { mtimeMs } = statSync(path)
    this.#lastMs = Math.max(mtimeMs, this.#lastMs + 1)
    if (mtimeMs < this.#lastMs) utimesSync(path, this.#lastMs / SECOND_MS, this.#lastMs / SECOND_MS)
  }

  remove(name: string): boolean {
    if (!this.#names.delete(name)) return false
    removeDatabase(this.path(name))
    flushFolder(this.folder)
    return true
  }
}
