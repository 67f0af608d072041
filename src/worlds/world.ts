import { Database } from '../db/database.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { IdSource, type IdState, type Randomness } from '../kernel/ids.ts'

/** A piece of a world that some room owns: made when first asked for, gone with its world. */
export interface WorldPart<T> {
  readonly index: number
  readonly create: (world: World) => T
}

/** A part that follows from the database alone may be dropped at any time: it is made again from what is there. */
export type PartKind = 'own' | 'derived'

const kinds: PartKind[] = []

/** Declares a part. Rooms do this once, at the top of a file, and read it with {@link World.of}. */
export const worldPart = <T>(create: (world: World) => T, kind: PartKind = 'own'): WorldPart<T> => ({
  index: kinds.push(kind) - 1,
  create,
})

/**
 * Everything that can change (contract C15): the data, the clock, the randomness, and the parts that rooms keep in
 * memory: limits, caches, tokens. Nothing that changes lives outside of one.
 */
export class World {
  readonly ids: IdSource
  #closed = false
  #database: Database | undefined
  /** The data of a world that is asleep, packed. */
  #packed: Uint8Array | undefined
  #wasUsed = true
  #idleTicks = 0
  readonly #parts: unknown[] = []
  #requests = 0

  constructor(
    readonly name: string,
    database: Database,
    readonly clock: SteadyClock,
    readonly randomness: Randomness,
    ids?: IdState,
  ) {
    this.ids = new IdSource(randomness, ids)
    this.#database = database
  }

  /** True once the world was reset or dropped: whoever still holds it holds a thing of the past. */
  get closed(): boolean {
    return this.#closed
  }

  /**
   * The data. A request that is under way when its world is reset gets no further: its token is dead.
   *
   * @throws DomainError unauthorized, once the world is closed
   */
  get db(): Database {
    if (this.#closed) throw new DomainError({ code: 'unauthorized', tokenSent: true })
    this.#wasUsed = true
    this.#database ??= this.#wake()
    return this.#database
  }

  /**
   * Puts a world in memory to sleep that nobody has used for so many ticks: the data is packed and the connection closed,
   * which takes a twentieth of the memory. The next use wakes it. Answers whether it has just fallen asleep.
   */
  rest(ticks: number): boolean {
    this.#idleTicks = this.#wasUsed ? 0 : this.#idleTicks + 1
    this.#wasUsed = false
    if (this.#idleTicks < ticks || !this.#database || this.#database.onFile) return false
    this.#packed = Bun.zstdCompressSync(this.#database.closeToImage(), { level: 1 })
    this.#database = undefined
    this.forgetDerived()
    return true
  }

  #wake(): Database {
    if (!this.#packed) throw new Error('a world without data')
    const database = Database.inMemory(Bun.zstdDecompressSync(this.#packed as Uint8Array<ArrayBuffer>))
    this.#packed = undefined
    return database
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
    this.#packed = undefined
    this.#parts.length = 0
    this.#closed = true
  }
}
