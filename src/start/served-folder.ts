import { Database } from '../db/database.ts'
import type { CommitGate } from '../db/shared-commit.ts'
import { tryLater } from '../db/storage.ts'
import { databasePath } from '../folder/files.ts'
import { lockForServing } from '../folder/lock.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import { secureRandomness } from '../kernel/ids.ts'
import { queueEventsOf } from '../webhooks/queue.ts'
import { type OpenData, World } from '../work/world.ts'
import { DEFAULT_WORLD } from '../work/worlds.ts'

interface ServedFolderOptions {
  dataDir: string
  clock: SteadyClock
  /** Opens the database for the first time: creates and migrates it. */
  prepare: () => Database
  bringUpToDate: (database: Database) => void
  /** The lock of the folder, if another part of this process has it. */
  isLocked?: boolean
}

/** The data folder of a live server. With PostgreSQL, a server takes and releases it with the lease. */
export class ServedFolder {
  /** Until the folder is taken, a request that needs its data gets a 503. */
  readonly world: World
  #lock: Disposable | undefined
  /** PostgreSQL, in which each write is committed first. The folder is its copy. */
  gateOf: ((database: Database) => CommitGate) | undefined

  constructor(private readonly options: ServedFolderOptions) {
    this.world = new World(DEFAULT_WORLD, this.#atRest(options.prepare), options.clock, secureRandomness)
    queueEventsOf(this.world)
  }

  get dataDir(): string {
    return this.options.dataDir
  }

  bringUpToDate(database: Database): void {
    this.options.bringUpToDate(database)
  }

  /** Locks the folder, and opens the database. @throws DataFault */
  take(): void {
    this.#lock = this.options.isLocked ? { [Symbol.dispose]: () => undefined } : lockForServing(this.dataDir)
    this.world.db.serve() // opening may wait for a command that writes
  }

  /** Commits waiting units of work, and closes the database. */
  letGo(): void {
    this.world.suspend((database) => {
      database.leave()
      return this.#atRest(() => Database.openFile(databasePath(this.dataDir)))
    })
    this.release()
  }

  release(): void {
    this.#lock?.[Symbol.dispose]()
    this.#lock = undefined
  }

  /** Throws unavailable until the folder is taken. */
  #atRest(open: OpenData): OpenData {
    return () => {
      if (!this.#lock) throw tryLater()
      const database = open()
      if (this.gateOf) database.gateBy(this.gateOf(database))
      return database
    }
  }
}
