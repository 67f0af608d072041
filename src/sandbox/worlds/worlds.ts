import type { SteadyClock } from '../../kernel/clock.ts'
import { DomainError } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD, type Worlds } from '../../worlds/worlds.ts'
import { worldDamaged, worldNotFound, worldsExhausted } from '../errors.ts'
import { isAccount } from '../seed/accounts.ts'
import { DamagedFile } from './damaged-file.ts'
import { sharedImage } from './images.ts'
import { logBudget, memoryOf, tick } from './memory.ts'
import { OpenWorlds } from './open-worlds.ts'
import { stateOf, worldFrom } from './state.ts'
import type { Saved, SnapshotStore, WorldStore } from './store.ts'

/** How many named worlds one process holds (contract C15). */
export const WORLDS_MAX = 10_000
/** Ticks without a request after which a world is suspended... */
const IDLE_TICKS = 10
/** ...and how many are with one tick, so that nobody waits for hundreds. Each takes a millisecond or two. */
const SUSPENDED_PER_TICK = 25
/** The share of the memory that request logs may take. */
const LOG_SHARE = 1 / 4

interface SandboxWorldsOptions {
  clock: SteadyClock
  default: World
  /** Closes the default world, and opens it again from seed data or a saved world. */
  reopenDefault: (old: World, saved?: Saved) => World
  /** Where the other worlds and the snapshots are. */
  store: WorldStore
  /** The clients that a new world has, besides those that every world has. */
  initialClients?: readonly string[]
  /** The random seed of a copy of a world that draws from the machine. */
  seed: string
  /** The memory for all worlds together (contract C15). */
  memoryBytesMax: number
}

type OnPresent = (world: World, about: { isSeeded: boolean }) => void

/** The default world and the named ones, which are suspended while nobody uses them (decision 0034). */
export class SandboxWorlds implements Worlds {
  #default: World
  /** Undefined for a world of an earlier process that nobody has asked for yet. */
  readonly #named: Map<string, World | undefined>
  readonly #open: OpenWorlds
  /** Called before a world is reset or dropped. */
  onEnd: (world: World) => void = () => undefined
  #onSeeded: (world: World) => void = () => undefined
  #onDamaged: (file: DamagedFile) => void = () => undefined
  readonly #onPresent: OnPresent[] = []

  constructor(private readonly options: SandboxWorldsOptions) {
    this.#default = options.default
    this.#open = new OpenWorlds(options)
    this.#named = new Map(options.store.names.map((name) => [name, undefined]))
  }

  /** Where worlds draw from that drew from the machine before. */
  get seed(): string {
    return this.options.seed
  }

  get clock(): SteadyClock {
    return this.options.clock
  }

  /** Whether a new world has a client of this name. */
  beginsWith(client: string): boolean {
    return isAccount(client) || this.options.initialClients?.includes(client) === true
  }

  /** Calls back with each world that begins as it is seeded. */
  onSeeded(callback: (world: World) => void): void {
    this.#onSeeded = callback
    for (const world of this.all) callback(world)
  }

  /** Calls back with each world that there is, and with each that is made or read from now on. */
  onPresent(callback: OnPresent): void {
    this.#onPresent.push(callback)
    for (const world of this.all) callback(world, { isSeeded: false })
  }

  #present(world: World, isSeeded: boolean): void {
    for (const callback of this.#onPresent) callback(world, { isSeeded })
  }

  get default(): World {
    return this.#default
  }

  get snapshots(): SnapshotStore {
    return this.options.store.snapshots
  }

  static isName(name: string): boolean {
    return /^[a-z0-9_-]{1,64}$/.test(name)
  }

  get names(): readonly string[] {
    return [DEFAULT_WORLD, ...this.#named.keys()]
  }

  /** Undefined as well for a world whose file is damaged. */
  find(name: string): World | undefined {
    if (name === DEFAULT_WORLD) return this.#default
    return this.#named.get(name) ?? (this.#named.has(name) ? this.#load(name) : undefined)
  }

  /** Whether there is a named world, readable or not. */
  has(name: string): boolean {
    return this.#named.has(name)
  }

  /** Undefined if its file is damaged. */
  #load(name: string): World | undefined {
    const world = this.#loadUndamaged(name)
    if (!world) return undefined
    this.#named.set(name, world)
    this.#present(world, false)
    return world
  }

  #loadUndamaged(name: string): World | undefined {
    try {
      return this.options.store.load(name, this.#onResume)
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error
      this.#onDamaged(error)
      return undefined
    }
  }

  /** Calls back once with each unreadable file: at once, or when it is needed. */
  onDamaged(callback: (file: DamagedFile) => void): void {
    const reported = new Set<string>()
    this.#onDamaged = (file) => {
      if (!reported.has(file.message)) callback(file)
      reported.add(file.message)
    }
    for (const file of this.options.store.damaged) this.#onDamaged(file)
  }

  get all(): readonly World[] {
    return [this.#default, ...[...this.#named.values()].filter((world) => world !== undefined)]
  }

  /** A separate world in memory that continues from the present state of another. */
  copyOf(world: World): World {
    const { image, ...state } = stateOf(world, this.options.seed)
    return worldFrom(world.name, sharedImage(image), state, this.clock)
  }

  get memoryBytes(): number {
    let bytes = this.options.store.memoryBytes + memoryOf(this.#default)
    for (const world of this.#named.values()) if (world) bytes += memoryOf(world)
    return bytes
  }

  /** Whether there is room for another world or snapshot, and for as much data as this one has. */
  fits(world: World): boolean {
    return this.#hasRoom() && this.options.store.fits(world.db.byteCount)
  }

  /** Saves a world as it is now. @throws DomainError world_not_found if it is dropped meanwhile */
  async save(world: World): Promise<Saved> {
    if (world.closed) throw new DomainError(worldNotFound(world.name))
    return this.options.store.save(world)
  }

  /** @throws DomainError worlds_exhausted */
  requireRoomFor(world: World): void {
    if (!this.fits(world)) throw this.#exhausted()
  }

  /**
   * Makes a world as it is seeded, or one that goes on from what was saved.
   *
   * @throws DomainError worlds_exhausted, or world_damaged if a file of this name cannot be read
   */
  create(name: string, saved?: Saved): World {
    if (this.has(name)) throw new DomainError(worldDamaged(name))
    if (this.#named.size >= WORLDS_MAX || !this.#hasRoom()) throw this.#exhausted()
    const world = this.#make(name, saved)
    if (saved === undefined) this.#onSeeded(world)
    return world
  }

  /** Suspends open worlds if they take what another one needs. */
  #hasRoom(): boolean {
    const { memoryBytesMax } = this.options
    if (this.memoryBytes > memoryBytesMax) this.#open.makeRoom()
    return this.memoryBytes <= memoryBytesMax
  }

  #make(name: string, saved: Saved | undefined, old?: World): World {
    const world = this.options.store.make(name, saved, this.#onResume, old)
    this.#named.set(name, world)
    this.#present(world, saved === undefined)
    return world
  }

  #exhausted(): DomainError {
    return new DomainError(worldsExhausted(this.#named.size))
  }

  readonly #onResume = (world: World): void => this.#open.add(world)

  /** Replaces this world by a seeded one, or by one that continues from what was saved. Its data is lost. */
  replace(world: World, saved?: Saved): World {
    this.onEnd(world)
    const next = this.#replaced(world, saved) // the old one stays if there is no room on the disk
    this.#open.delete(world)
    if (saved === undefined) this.#onSeeded(next)
    return next
  }

  #replaced(world: World, saved: Saved | undefined): World {
    if (world.name !== DEFAULT_WORLD) return this.#make(world.name, saved, world)
    this.#default = this.options.reopenDefault(world, saved)
    this.#present(this.#default, saved === undefined)
    return this.#default
  }

  /** Drops a named world, which need not be readable. Returns whether there was one. */
  drop(name: string): boolean {
    const world = this.#named.get(name)
    if (world) {
      this.onEnd(world)
      world.close()
      this.#open.delete(world)
    }
    this.options.store.remove(name)
    return this.#named.delete(name)
  }

  /** Suspends idle worlds and limits the request logs. Called at each tick of time. */
  rest(): void {
    this.#limitLogs()
    const idle: World[] = []
    for (const world of this.all) {
      const ticks = tick(world)
      if (ticks === 0) this.#open.used(world)
      else if (ticks >= IDLE_TICKS && world.openDatabase) idle.push(world)
    }
    this.#open.makeRoom()
    for (const world of idle.slice(0, SUSPENDED_PER_TICK)) this.#open.suspend(world)
  }

  /** Request logs that exceed their share together are limited to equal parts of it. */
  #limitLogs(): void {
    const budgets = this.all.map((world) => world.of(logBudget))
    const share = this.options.memoryBytesMax * LOG_SHARE
    const bytes = budgets.reduce((sum, budget) => sum + budget.bytes, 0)
    for (const budget of budgets) {
      budget.bytesMax = bytes > share ? share / budgets.length : Number.POSITIVE_INFINITY
      budget.onLimited()
    }
  }

  close(): void {
    for (const world of this.all) world.close()
    this.options.store.dispose()
  }
}
