import { databasePath } from '../db/data-folder.ts'
import { Database } from '../db/database.ts'
import { lockForServing } from '../db/folder-lock.ts'
import { requireCurrentSchema } from '../db/migrate.ts'
import type { Gate } from '../db/shared-commit.ts'
import { tryLater } from '../db/storage.ts'
import { SECOND_MS, type SteadyClock } from '../kernel/clock.ts'
import { secureRandomness } from '../kernel/ids.ts'
import { type DataAtRest, World } from '../worlds/world.ts'
import { DEFAULT_WORLD } from '../worlds/worlds.ts'

/** A process that was killed may hold its lock for a moment. */
const TAKE_BACK_WAIT_MS = SECOND_MS

interface ServedFolderOptions {
  dataDir: string
  clock: SteadyClock
  /** How long another server may take to let go. */
  waitMs: number
  /** Opens the database for the first time: creates and migrates it. */
  prepare: () => Database
  /** Brings a database that is open up to date. */
  bringUpToDate: (database: Database) => void
  /** The lock of the folder, if another part of this process has it. */
  isLocked?: boolean
}

/** The data folder of a live server, which it can hand over to another server, and take back (decision 76). */
export class ServedFolder {
  /** Until the folder is taken, who needs its data gets a 503. */
  readonly world: World
  #lock: Disposable | undefined
  /** Where what is written is committed first: the record of which the folder is a copy. */
  gateOf: ((database: Database) => Gate) | undefined

  constructor(private readonly options: ServedFolderOptions) {
    this.world = new World(DEFAULT_WORLD, this.#atRest(options.prepare), options.clock, secureRandomness)
  }

  get dataDir(): string {
    return this.options.dataDir
  }

  bringUpToDate(database: Database): void {
    this.options.bringUpToDate(database)
  }

  /** Locks the folder, and opens the database. @throws DataFault, SchemaMismatch, FileFault */
  take(): void {
    this.#take(this.options.waitMs)
  }

  /** Commits what is waiting, and closes the database. */
  handOver(): void {
    this.world.suspend((database) => {
      database.leave()
      return this.#atRest(() => Database.openFile(databasePath(this.dataDir)))
    })
    this.release()
  }

  /** @throws DataFault when another server has the folder, SchemaMismatch when it has migrated the database */
  takeBack(): void {
    this.#take(TAKE_BACK_WAIT_MS)
    requireCurrentSchema(this.world.db.sqlite)
  }

  release(): void {
    this.#lock?.[Symbol.dispose]()
    this.#lock = undefined
  }

  #take(waitMs: number): void {
    this.#lock = this.options.isLocked ? { [Symbol.dispose]: () => undefined } : lockForServing(this.dataDir, waitMs)
    this.world.db.serve() // until here it may wait for a command that writes
  }

  /** Throws unavailable while another server has the folder. */
  #atRest(open: () => Database): DataAtRest {
    return {
      open: () => {
        if (!this.#lock) throw tryLater()
        const database = open()
        if (this.gateOf) database.gateBy(this.gateOf(database))
        return database
      },
      drop: () => undefined,
    }
  }
}
