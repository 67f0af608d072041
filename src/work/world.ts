import { Database } from '../db/database.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import { DomainError, unauthorized } from '../kernel/failure.ts'
import { IdSource, type IdState, type Randomness } from '../kernel/ids.ts'

/** Opens the data of a world while its connection is closed. */
export type OpenData = () => Database

/** State in memory that a module keeps for each world. It is created on first use and goes with its world. */
interface WorldPart<T> {
  readonly index: number
  readonly create: (world: World) => T
}

/** A derived part follows from the database alone. It may be dropped at any time, and is made again. */
type PartKind = 'own' | 'derived'

const kinds: PartKind[] = []

/** Declares a part. Modules do this once, at the top of a file, and read it with {@link World.of}. */
export const worldPart = <T>(create: (world: World) => T, kind: PartKind = 'own'): WorldPart<T> => ({
  index: kinds.push(kind) - 1,
  create,
})

/**
 * Everything that can change (contract C15): data, clock, randomness, and the modules' data in memory. Live mode has one, so that
 * each module has one way to read the time, to draw an id and to write.
 */
export class World {
  readonly ids: IdSource
  /** True if its data was used since this was set to false. */
  wasUsed = false
  #closed = false
  #database: Database | undefined
  /** Opens the data of a world that is suspended or was never used. */
  #open: OpenData | undefined
  readonly #parts: unknown[] = []
  #requests = 0

  constructor(
    readonly name: string,
    data: Database | OpenData,
    readonly clock: SteadyClock,
    readonly randomness: Randomness,
    ids?: IdState,
    /** Called when the data has been opened. */
    private readonly onResume: (world: World) => void = () => undefined,
  ) {
    this.ids = new IdSource(randomness, ids)
    if (data instanceof Database) this.#database = data
    else this.#open = data
  }

  /** True once the world was reset or dropped. Requests in progress may still hold it. */
  get closed(): boolean {
    return this.#closed
  }

  /** The data. @throws DomainError unauthorized once the world is closed, to end requests in progress */
  get db(): Database {
    if (this.#closed) throw new DomainError(unauthorized(true))
    this.wasUsed = true
    this.#database ??= this.#resume()
    return this.#database
  }

  /** The data of a world that is not suspended. Reading this property does not count as use. */
  get openDatabase(): Database | undefined {
    return this.#database
  }

  /** Closes the connection of a world. The next use resumes it. */
  suspend(close: (database: Database) => OpenData): void {
    if (!this.#database) return
    this.#open = close(this.#database)
    this.#database = undefined
    this.forgetDerived()
  }

  #resume(): Database {
    if (!this.#open) throw new Error('a world without data')
    this.#database = this.#open()
    this.#open = undefined
    this.onResume(this)
    return this.#database
  }

  of<T>(part: WorldPart<T>): T {
    const existing = this.#parts[part.index] as T | undefined
    if (existing !== undefined) return existing
    const created = part.create(this)
    this.#parts[part.index] = created
    return created
  }

  /** Drops all derived parts, after an act or an edit. */
  forgetDerived(): void {
    this.#parts.forEach((_, index) => {
      if (kinds[index] === 'derived') this.#parts[index] = undefined
    })
  }

  /** A request identifier that depends only on this world's requests. */
  nextRequestId(): string {
    return `req_${this.name}_${++this.#requests}`
  }

  /** Ends the world. A request that still holds it finds nothing in it. */
  close(): void {
    this.#database?.close()
    this.#database = undefined
    this.#open = undefined
    this.#parts.length = 0
    this.#closed = true
  }
}
