import { Database } from '../db/database.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import { DomainError, unauthorized } from '../kernel/failure.ts'
import { IdSource, type IdState, type Randomness } from '../kernel/ids.ts'

/** The data of a world while its connection is closed. */
export interface DataAtRest {
  open: () => Database
  /** Frees its memory. It is not opened again. */
  drop: () => void
}

/** What a world takes of the memory when nothing of it is open, roughly. */
const WORLD_BYTES = 28_672
/** What a connection takes besides its data: its schema and triggers. */
const CONNECTION_BYTES = 262_144
/** What a statement takes, with its objects and the pages that it copies. */
const STATEMENT_BYTES = 24_576
/** What is counted for a connection at most. */
const STATEMENTS_MAX = 48
/** Until the next tick measures it: hundreds of worlds may begin within a second, and most of them with little. */
const STATEMENTS_UNMEASURED = 12
/** A larger world is not suspended: copying so many bytes takes about 10 ms. */
const SUSPENDED_BYTES_MAX = 33_554_432

/** State in memory that a module keeps for each world. It is created on first use and goes with its world. */
interface WorldPart<T> {
  readonly index: number
  readonly create: (world: World) => T
}

/** A part that follows from the database alone may be dropped at any time: it is made again from what is there. */
type PartKind = 'own' | 'derived'

const kinds: PartKind[] = []

/** Declares a part. Rooms do this once, at the top of a file, and read it with {@link World.of}. */
export const worldPart = <T>(create: (world: World) => T, kind: PartKind = 'own'): WorldPart<T> => ({
  index: kinds.push(kind) - 1,
  create,
})

/** Everything that can change (contract C15): data, clock, randomness, and what modules keep in memory. */
export class World {
  readonly ids: IdSource
  #closed = false
  #database: Database | undefined
  /** The data of a world that is suspended, or was never used. */
  #atRest: DataAtRest | undefined
  #wasUsed = true
  #idleTicks = 0
  #databaseBytes = 0
  #connectionBytes = 0
  /** The bytes of the world's request log, and their limit, which the log itself enforces. */
  keptBytes = 0
  #keptBytesMax = Number.POSITIVE_INFINITY
  #onLimited: () => void = () => undefined
  readonly #parts: unknown[] = []
  #requests = 0

  constructor(
    readonly name: string,
    data: Database | DataAtRest,
    readonly clock: SteadyClock,
    readonly randomness: Randomness,
    ids?: IdState,
    /** Called when the data has been opened. */
    private readonly onResume: (world: World) => void = () => undefined,
  ) {
    this.ids = new IdSource(randomness, ids)
    if (data instanceof Database) {
      this.#database = data
      this.#measure(data, STATEMENTS_UNMEASURED)
    } else this.#atRest = data
  }

  /** True once the world was reset or dropped. Requests in progress may still hold it. */
  get closed(): boolean {
    return this.#closed
  }

  /** The data. @throws DomainError unauthorized once the world is closed, to end requests in progress */
  get db(): Database {
    if (this.#closed) throw new DomainError(unauthorized(true))
    this.#wasUsed = true
    this.#database ??= this.#resume()
    return this.#database
  }

  get memoryBytes(): number {
    return WORLD_BYTES + this.keptBytes + (this.#database ? this.#connectionBytes + this.#databaseBytes : 0)
  }

  /** The bytes of its data in memory, as of the last tick. */
  get bytesInMemory(): number {
    return this.#databaseBytes
  }

  get isOnFile(): boolean {
    return this.#database?.onFile ?? false
  }

  /** Called regularly. Returns for how many calls nobody has used the world. */
  tick(): number {
    this.#idleTicks = this.#wasUsed ? 0 : this.#idleTicks + 1
    if (this.#wasUsed && this.#database) this.#measure(this.#database, this.#database.statementCount)
    this.#wasUsed = false
    return this.#idleTicks
  }

  get keptBytesMax(): number {
    return this.#keptBytesMax
  }

  /** Limits the bytes of the request log. */
  limitKept(bytesMax: number): void {
    this.#keptBytesMax = bytesMax
    this.#onLimited()
  }

  /** Calls back when the limit changes. */
  onLimited(callback: () => void): void {
    this.#onLimited = callback
  }

  /** Whether suspending it would delay no other request. */
  get canSuspend(): boolean {
    if (!this.#database) return false
    const { onFile, isBeingCopied, byteCount } = this.#database
    return onFile ? !isBeingCopied : byteCount <= SUSPENDED_BYTES_MAX
  }

  /** Whether nobody has used it since the last tick, and it can be suspended. */
  get isIdle(): boolean {
    return !this.#wasUsed && this.canSuspend
  }

  /** Closes the connection of a world. The next use resumes it. */
  suspend(close: (database: Database) => DataAtRest): void {
    if (!this.#database) return
    this.#atRest = close(this.#database)
    this.#database = undefined
    this.#databaseBytes = 0
    this.forgetDerived()
  }

  #resume(): Database {
    if (!this.#atRest) throw new Error('a world without data')
    this.#database = this.#atRest.open()
    this.#atRest.drop()
    this.#atRest = undefined
    this.#measure(this.#database, STATEMENTS_UNMEASURED)
    this.onResume(this)
    return this.#database
  }

  /** Pages of a file are on disk, apart from a small cache. */
  #measure({ onFile, byteCount }: Database, statementCount: number): void {
    this.#databaseBytes = onFile ? 0 : byteCount
    this.#connectionBytes = CONNECTION_BYTES + STATEMENT_BYTES * Math.min(statementCount, STATEMENTS_MAX)
  }

  of<T>(part: WorldPart<T>): T {
    const existing = this.#parts[part.index] as T | undefined
    if (existing !== undefined) return existing
    const created = part.create(this)
    this.#parts[part.index] = created
    return created
  }

  /** Drops what follows from the database, after another process has written to it. */
  forgetDerived(): void {
    this.#parts.forEach((_, index) => {
      if (kinds[index] === 'derived') this.#parts[index] = undefined
    })
  }

  /** A request identifier that depends on nothing but this world's own requests. */
  nextRequestId(): string {
    return `req_${this.name}_${++this.#requests}`
  }

  /** Ends the world. Whoever still holds it, a request that is under way, holds nothing of what was in it. */
  close(): void {
    this.#database?.close()
    this.#database = undefined
    this.#atRest?.drop()
    this.#atRest = undefined
    this.#parts.length = 0
    this.#closed = true
  }
}
