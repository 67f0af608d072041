import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { Database } from '../../db/database.ts'
import { flushFolder } from '../../folder/disk.ts'
import { makeDataFolder, PRIVATE_FILE_MODE, removeDatabase, STAGED, writeDatabase } from '../../folder/files.ts'
import { asFile, asImage } from '../../folder/image.ts'
import { statOf } from '../../folder/permissions.ts'
import { ClockIndex } from './clock-index.ts'
import type { ClockState } from './movable-clock.ts'
import { DamagedFile, type KeptBytes, type WorldFolder } from './world-folder.ts'

const WORLDS = { folder: 'worlds', prefix: 'world-' } as const
const SNAPSHOTS = { folder: 'snapshots', prefix: 'snapshot-' } as const
/** The ending of the file with the journal of a world, beside its database. */
const JOURNAL = '.requests'
const CLOCKS = 'clocks.jsonl'

/** The files of the named worlds and snapshots in a data folder. */
export const worldFilesIn = (dataDir: string): string[] =>
  [WORLDS, SNAPSHOTS].flatMap(({ folder, prefix }) => [
    ...new Glob(`${folder}/${prefix}*.sqlite`).scanSync({ cwd: dataDir, absolute: true }),
  ])

export const worldFoldersIn = (dataDir: string): { worlds: DatabaseFolder; snapshots: DatabaseFolder } => {
  const inside = ({ folder, prefix }: typeof WORLDS | typeof SNAPSHOTS) =>
    new DatabaseFolder(join(dataDir, folder), prefix)
  return { worlds: inside(WORLDS), snapshots: inside(SNAPSHOTS) }
}

/**
 * A folder with one database for each name, opened in place. The file names have a prefix because names such as `con` are
 * devices on Windows.
 */
class DatabaseFolder implements WorldFolder {
  readonly #names: Set<string>
  readonly #clocks: ClockIndex

  constructor(
    private readonly folder: string,
    private readonly prefix: string,
  ) {
    const files = existsSync(folder) ? readdirSync(folder) : [] // it is made with its first file
    for (const file of files) {
      if (file.startsWith(prefix) && file.endsWith(STAGED)) rmSync(join(folder, file)) // of a process that was killed
    }
    const isOwn = new RegExp(`^${prefix}([a-z0-9_-]{1,64})\\.sqlite$`)
    this.#clocks = new ClockIndex(join(folder, CLOCKS))
    this.#names = new Set(files.flatMap((file) => isOwn.exec(file)?.[1] ?? []))
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  path(name: string): string {
    return join(this.folder, `${this.prefix}${name}.sqlite`)
  }

  begin(name: string, image: Uint8Array, release?: () => void): void {
    this.#make()
    writeDatabase(this.path(name), asFile(new Uint8Array(image)), release)
    this.#names.add(name)
  }

  open(name: string): Database {
    const path = this.path(name)
    // SQLite would create a new database there.
    if (!statOf(path)?.size) throw new DamagedFile(path, 'is empty or gone')
    const database = Database.openFile(path)
    database.serve()
    return database
  }

  rest(_: string, database: Database): void {
    database.close()
  }

  read(name: string): Uint8Array {
    return asImage(readFileSync(this.path(name)))
  }

  write(name: string, image: Uint8Array): void {
    this.begin(name, image)
  }

  remove(name: string): boolean {
    rmSync(this.#journalPath(name), { force: true })
    this.#clocks.forget(name)
    if (!this.#names.delete(name)) return false
    removeDatabase(this.path(name))
    flushFolder(this.folder)
    return true
  }

  /** Does not wait for the disk: only a loss of power can lose the journal. */
  keepJournal(name: string, bytes: Uint8Array): KeptBytes {
    this.#make()
    writeFileSync(this.#journalPath(name), bytes, { mode: PRIVATE_FILE_MODE })
    return this.#journal(name, bytes.byteLength)
  }

  findJournal(name: string): KeptBytes | undefined {
    const size = statOf(this.#journalPath(name))?.size
    return size === undefined ? undefined : this.#journal(name, size)
  }

  findClock(name: string): ClockState | undefined {
    return this.#clocks.find(name)
  }

  keepClock(name: string, clock: ClockState): void {
    this.#clocks.keep(name, clock)
  }

  forgetClock(name: string): void {
    this.#clocks.forget(name)
  }

  #journal(name: string, byteCount: number): KeptBytes {
    const path = this.#journalPath(name)
    return { byteCount, read: () => readFileSync(path), drop: () => rmSync(path, { force: true }) }
  }

  #journalPath(name: string): string {
    return join(this.folder, `${this.prefix}${name}${JOURNAL}`)
  }

  dispose = (): void => undefined

  #make(): void {
    if (existsSync(this.folder)) return
    makeDataFolder(this.folder)
    flushFolder(dirname(this.folder))
  }
}
