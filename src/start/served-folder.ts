import { databasePath } from '../db/data-folder.ts'
import { Database } from '../db/database.ts'
import { lockForServing } from '../db/folder-lock.ts'
import { requireCurrentSchema } from '../db/migrate.ts'
import { tryLater } from '../db/storage.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import type { World } from '../worlds/world.ts'

/** A process that was killed may hold its lock for a moment. */
const TAKE_BACK_WAIT_MS = SECOND_MS

/** The data folder of a live server, which it can hand over to another server, and take back (decision 76). */
export class ServedFolder {
  #lock: Disposable | undefined

  constructor(
    readonly dataDir: string,
    private readonly world: World,
    lock: Disposable,
  ) {
    this.#lock = lock
  }

  /** Commits what is waiting, and closes the database. Until it is taken back, who needs the data gets a 503. */
  handOver(): void {
    this.world.suspend((database) => {
      database.leave()
      return { open: () => this.#open(), drop: () => undefined }
    })
    this.release()
  }

  /** @throws DataFault when another server has the folder, SchemaMismatch when it has migrated the database */
  takeBack(): void {
    this.#lock = lockForServing(this.dataDir, TAKE_BACK_WAIT_MS)
    requireCurrentSchema(this.world.db.sqlite)
  }

  release(): void {
    this.#lock?.[Symbol.dispose]()
    this.#lock = undefined
  }

  /** @throws DomainError unavailable while another server has the folder */
  #open(): Database {
    if (!this.#lock) throw tryLater()
    const database = Database.openFile(databasePath(this.dataDir))
    database.serve()
    return database
  }
}
