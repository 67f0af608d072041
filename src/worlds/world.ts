import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { IdSource, type Randomness } from '../kernel/ids.ts'

/** A piece of a world that some room owns: made when first asked for, gone with its world. */
export interface WorldPart<T> {
  readonly index: number
  readonly create: (world: World) => T
}

let partCount = 0

/** Declares a part. Rooms do this once, at the top of a file, and read it with {@link World.of}. */
export const worldPart = <T>(create: (world: World) => T): WorldPart<T> => ({ index: partCount++, create })

/**
 * Everything that can change (contract C15): the data, the clock, the randomness, and the parts that rooms keep in
 * memory: limits, caches, tokens. Nothing that changes lives outside of one.
 */
export class World {
  readonly ids: IdSource
  /** True once the world was reset or dropped: whoever still holds it holds a thing of the past. */
  closed = false
  readonly #parts: unknown[] = []
  #requests = 0

  constructor(
    readonly name: string,
    readonly db: Database,
    readonly clock: Clock,
    readonly randomness: Randomness,
  ) {
    this.ids = new IdSource(randomness)
  }

  of<T>(part: WorldPart<T>): T {
    const existing = this.#parts[part.index] as T | undefined
    if (existing !== undefined) return existing
    const created = part.create(this)
    this.#parts[part.index] = created
    return created
  }

  /** A request identifier that depends on nothing but this world's own requests. */
  nextRequestId(): string {
    return `req_${this.name}_${++this.#requests}`
  }

  close(): void {
    this.closed = true
    this.db.close()
  }
}
