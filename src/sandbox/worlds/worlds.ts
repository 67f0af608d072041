import type { SteadyClock } from '../../kernel/clock.ts'
import { DomainError } from '../../kernel/failure.ts'
import { turns } from '../../kernel/turns.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD, type Worlds } from '../../worlds/worlds.ts'
import { worldsExhausted, worldTooLarge } from '../errors.ts'
import { Images } from './images.ts'
import { stateOf, type WorldState, worldFrom } from './state.ts'

/** How many named worlds one process holds (contract C15). */
export const WORLDS_MAX = 10_000
/** Ticks without a request after which a world is suspended. */
const IDLE_TICKS = 10
/** A closed connection keeps its memory until what was made on it is collected: after so many, that is asked for. */
const SUSPENSIONS_PER_COLLECTION = 50
/** A larger world is neither kept nor copied: to copy so many bytes takes some 20 ms. */
export const STATE_BYTES_MAX = 67_108_864

/** Shares of the memory: half for open worlds, a quarter for request logs, an eighth for compressed images. */
const OPEN_SHARE = 1 / 2
const LOG_SHARE = 1 / 4
const IMAGE_SHARE = 1 / 8

export interface SandboxWorldsOptions {
  clock: SteadyClock
  default: World
  /** Opens the default world anew once it was closed: as it is seeded, or from a state. */
  reopenDefault: (state?: WorldState) => World
  initial: WorldState
  /** What a world draws from that drew from the machine before. */
  seed: string
  /** What all worlds may take of the memory together (contract C15). */
  memoryBytesMax: number
}

/** The default world and the named ones, which are suspended while nobody uses them (decision 0034). */
export class SandboxWorlds implements Worlds {
  #default: World
  readonly #named = new Map<string, World>()
  /** The named worlds whose data is open, the longest unused first, as of the last tick. */
  readonly #open = new Set<World>()
  #suspensions = 0
  readonly images: Images
  /** Called before a world is reset or dropped. */
  onEnd: (world: World) => void = () => undefined

  constructor(private readonly options: SandboxWorldsOptions) {
    this.images = new Images(options.memoryBytesMax * IMAGE_SHARE)
    this.#default = options.default
  }

  get default(): World {
    return this.#default
  }

  static isName(name: string): boolean {
    return /^[a-z0-9_-]{1,64}$/.test(name)
  }

  find(name: string): World | undefined {
    return name === DEFAULT_WORLD ? this.#default : this.#named.get(name)
  }

  get all(): readonly World[] {
    return [this.#default, ...this.#named.values()]
  }

  /** The state of a world as it is now. @throws DomainError world_too_large */
  stateOf(world: World): WorldState {
    if (world.db.byteCount > STATE_BYTES_MAX) throw new DomainError(worldTooLarge(STATE_BYTES_MAX))
    return stateOf(world, this.options.seed)
  }

  /** A world of its own that goes on from where another is now. @throws DomainError world_too_large */
  copyOf(world: World): World {
    return worldFrom(world.name, this.stateOf(world), this.options.clock)
  }

  get memoryBytes(): number {
    return this.all.reduce((sum, world) => sum + world.memoryBytes, this.images.memoryBytes)
  }

  /** Makes a world as it is seeded, or one that goes on from a state. @throws DomainError worlds_exhausted */
  create(name: string, state: WorldState = this.options.initial): World {
    if (this.#named.size >= WORLDS_MAX || this.memoryBytes > this.options.memoryBytesMax) {
      throw new DomainError(worldsExhausted(this.#named.size))
    }
    const world = this.#from(name, state)
    this.#named.set(name, world)
    return world
  }

  #from(name: string, state: WorldState): World {
    return worldFrom(name, state, this.options.clock, (world) => {
      this.#open.add(world)
      this.#makeRoom(world)
    })
  }

  /** Suspends worlds, the least recently used first, until the open ones fit into their share. */
  #makeRoom(except?: World): void {
    const bytesMax = this.options.memoryBytesMax * OPEN_SHARE
    let bytes = 0
    for (const world of this.#open) bytes += world.memoryBytes
    for (const world of this.#open) {
      if (bytes <= bytesMax) return
      if (world === except || !world.canSuspend) continue
      bytes -= world.memoryBytes
      this.#suspend(world)
    }
  }

  #suspend(world: World): void {
    world.suspend((image) => this.images.keep(image))
    this.#open.delete(world)
    this.#suspensions += 1
    if (this.#suspensions % SUSPENSIONS_PER_COLLECTION === 0) Bun.gc(false)
  }

  /** Replaces this world by a seeded one, or by one that continues from a state. Its data is lost. */
  replace(world: World, state?: WorldState): World {
    this.onEnd(world)
    world.close()
    this.#open.delete(world)
    if (world.name === DEFAULT_WORLD) {
      this.#default = this.options.reopenDefault(state)
      return this.#default
    }
    const next = this.#from(world.name, state ?? this.options.initial)
    this.#named.set(world.name, next)
    return next
  }

  drop(world: World): void {
    this.onEnd(world)
    world.close()
    this.#open.delete(world)
    this.#named.delete(world.name)
  }

  /** Suspends idle worlds and limits the request logs. Called at each tick of time. */
  rest(): void {
    this.#limitKept()
    const idle: World[] = []
    for (const world of this.all) {
      const ticks = world.tick()
      if (!this.#open.has(world)) continue
      if (ticks >= IDLE_TICKS && world.canSuspend) idle.push(world)
      if (ticks > 0) continue
      this.#open.delete(world) // behind all others
      this.#open.add(world)
    }
    this.#makeRoom()
    turns.slice((isOver) => {
      for (const world of idle) {
        this.#suspend(world)
        if (isOver()) return
      }
    })
    if (idle.length > 0) Bun.gc(false)
  }

  /** Request logs that exceed their share together are limited to equal parts of it. */
  #limitKept(): void {
    const worlds = this.all
    const share = this.options.memoryBytesMax * LOG_SHARE
    const kept = worlds.reduce((sum, { keptBytes }) => sum + keptBytes, 0)
    for (const world of worlds) world.limitKept(kept > share ? share / worlds.length : Number.POSITIVE_INFINITY)
  }

  close(): void {
    for (const world of this.all) world.close()
    this.images.close()
  }
}
