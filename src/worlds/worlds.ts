import type { SteadyClock } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { stateOf, type WorldState, worldFrom } from './state.ts'
import type { World } from './world.ts'

/** The world that belongs to no name: the sandbox's own credentials, or all of live mode. */
export const DEFAULT_WORLD = 'default'
/** How many named worlds one process holds (contract C15). */
export const WORLDS_MAX = 10_000
/** After how many ticks without a request a world goes to sleep, and how many do so at once: each takes 0.3 ms. */
const IDLE_TICKS = 10
const RESTS_PER_TICK = 50
const WORLD_NAME = /^[a-z0-9_-]{1,64}$/

export interface WorldsOptions {
  /** The clock that every world's own clock runs with. */
  clock: SteadyClock
  /** Opens the default world, as it was left or, if it is new, as it is seeded; or goes on from a state. */
  openDefault: (state?: WorldState) => World
  /** Removes what the default world has written, so that it opens as new. */
  wipeDefault: () => void
  /** The state in which a named world begins; asked for once, when the first is made. */
  fresh: () => WorldState
  /** What a world draws from that drew from the machine before. */
  seed: string
}

/** The worlds of this process by name. */
export class Worlds {
  #default: World
  readonly #named = new Map<string, World>()
  #fresh: WorldState | undefined

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

  get all(): readonly World[] {
    return [this.#default, ...this.#named.values()]
  }

  /** The state of a world as it is now. */
  stateOf(world: World): WorldState {
    return stateOf(world, this.options.seed)
  }

  /**
   * Makes a world as it is seeded, or one that goes on from a state.
   *
   * @throws DomainError worlds_exhausted
   */
  create(name: string, state: WorldState = this.#freshState): World {
    if (this.#named.size >= WORLDS_MAX) throw new DomainError({ code: 'worlds_exhausted', worldsMax: WORLDS_MAX })
    const world = worldFrom(name, state, this.options.clock)
    this.#named.set(name, world)
    return world
  }

  /** Puts a seeded world in the place of this one, or one that goes on from a state; what it held is gone with it. */
  replace(world: World, state?: WorldState): World {
    world.close()
    if (world.name === DEFAULT_WORLD) {
      this.options.wipeDefault()
      this.#default = this.options.openDefault(state)
      return this.#default
    }
    const next = worldFrom(world.name, state ?? this.#freshState, this.options.clock)
    this.#named.set(world.name, next)
    return next
  }

  /** Ends a named world. */
  drop(world: World): void {
    world.close()
    this.#named.delete(world.name)
  }

  /** A tick of time: a few of the worlds that nobody has asked for long go to sleep. */
  rest(): void {
    let left = RESTS_PER_TICK
    for (const world of this.#named.values()) {
      if (world.rest(IDLE_TICKS)) left -= 1
      if (left === 0) return
    }
    // A closed connection keeps its memory until the statements that were made on it are collected.
    if (left < RESTS_PER_TICK) Bun.gc(false)
  }

  close(): void {
    for (const world of this.all) world.close()
  }

  get #freshState(): WorldState {
    this.#fresh ??= this.options.fresh()
    return this.#fresh
  }
}
