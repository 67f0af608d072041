import { Database } from '../db/database.ts'
import { type Clock, MovableClock } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { SeededRandomness } from '../kernel/ids.ts'
import { World } from './world.ts'

/** The world that belongs to no name: the sandbox's own credentials, or all of live mode. */
export const DEFAULT_WORLD = 'default'
/** How many named worlds one process holds (contract C15). */
export const WORLDS_MAX = 10_000
const WORLD_NAME = /^[a-z0-9_-]{1,64}$/

export interface WorldsOptions {
  /** The clock that every world's own clock runs with. */
  clock: Clock
  /** Opens the default world, as it was left or, if it is new, as it is seeded. */
  openDefault: () => World
  /** Removes what the default world has written, so that it opens as new. */
  wipeDefault: () => void
  /** The image of a fresh named world's database; asked for once, when the first is made. */
  freshImage: () => Uint8Array
  /** What named worlds draw their randomness from. */
  seed: string
}

/** The worlds of this process by name. */
export class Worlds {
  #default: World
  readonly #named = new Map<string, World>()
  #image: Uint8Array | undefined

  constructor(private readonly options: WorldsOptions) {
    this.#default = options.openDefault()
  }

  get default(): World {
    return this.#default
  }

  /** True for a name that a world may have: lower-case letters, digits, - and _, 64 at most. */
  static isName(name: string): boolean {
    return WORLD_NAME.test(name)
  }

  find(name: string): World | undefined {
    return name === DEFAULT_WORLD ? this.#default : this.#named.get(name)
  }

  /**
   * Makes a world as it is seeded.
   *
   * @throws DomainError worlds_exhausted
   */
  create(name: string): World {
    if (this.#named.size >= WORLDS_MAX) throw new DomainError({ code: 'worlds_exhausted', worldsMax: WORLDS_MAX })
    const world = this.#fresh(name)
    this.#named.set(name, world)
    return world
  }

  /** Puts a seeded world in the place of this one, whose tokens, data and clock are gone with it. */
  reset(world: World): World {
    world.close()
    if (world.name === DEFAULT_WORLD) {
      this.options.wipeDefault()
      this.#default = this.options.openDefault()
      return this.#default
    }
    const fresh = this.#fresh(world.name)
    this.#named.set(world.name, fresh)
    return fresh
  }

  close(): void {
    this.#default.close()
    for (const world of this.#named.values()) world.close()
  }

  #fresh(name: string): World {
    this.#image ??= this.options.freshImage()
    return new World(
      name,
      Database.inMemory(this.#image),
      new MovableClock(this.options.clock),
      new SeededRandomness(this.options.seed),
    )
  }
}
