import { Database } from '../../db/database.ts'
import { isPassing, tryLater } from '../../db/storage.ts'
import type { Clock, SteadyClock } from '../../kernel/clock.ts'
import { DomainError } from '../../kernel/failure.ts'
import { inParts } from '../../kernel/turns.ts'
import type { OpenData, World } from '../../work/world.ts'
import { DEFAULT_WORLD, type Worlds } from '../../work/worlds.ts'
import { worldDamaged, worldNotFound, worldsExhausted } from '../errors.ts'
import { requestLog } from '../requests/request-log.ts'
import { isAccount } from '../seed/accounts.ts'
import { WorldsInUse } from './in-use.ts'
import { Journals } from './journals.ts'
import { type ClockState, MovableClock } from './movable-clock.ts'
import { holdsRecords } from './queries.ts'
import { wake } from './resting.ts'
import { Snapshots } from './snapshots.ts'
import { type InitialState, imageOf, keepRandomness, keptState, onClockKept, stateIn, worldFrom } from './state.ts'
import { DamagedFile, type WorldFolder } from './world-folder.ts'

/** Named worlds, in use and at rest (contract C15). */
export const WORLDS_MAX = 10_000

interface SandboxWorldsOptions {
  clock: SteadyClock
  default: World
  /** Closes the default world, and opens it again from seed data or an image. */
  reopenDefault: (old: World, image?: Uint8Array) => World
  /** The folder of the other worlds at rest. */
  folder: WorldFolder
  /** True if the folder outlives the process. */
  isLasting: boolean
  snapshotFolder: WorldFolder
  /** The image of a new world. */
  initial: () => Uint8Array
  /** Checks data of an earlier process, and brings it up to date. @throws Error that says what is wrong with it */
  prepare: (database: Database) => void
  /** The random seed of a new world. */
  seed: string
  /** The maximum number of named worlds, if it is not {@link WORLDS_MAX}. */
  worldsMax?: number
}

type OnPresent = (world: World, about: { isSeeded: boolean }) => void

/** The default world and the named ones. Worlds in use are open, the others rest (decision 129). */
export class SandboxWorlds implements Worlds {
  #default: World
  /** Undefined for a world of an earlier process that nobody has asked for yet. */
  readonly #named: Map<string, World | undefined>
  readonly #inUse = new WorldsInUse((world) => this.#rest(world))
  readonly #journals: Journals
  readonly snapshots: Snapshots
  readonly #onEnd: ((world: World) => void)[] = []
  readonly #onRest: ((world: World) => void)[] = []
  #onSeeded: (world: World) => void = () => undefined
  /** Called with the file of a world or a snapshot that cannot be read, when it is needed. */
  onDamaged: (file: DamagedFile) => void = () => undefined
  readonly #onPresent: OnPresent[] = []

  constructor(private readonly options: SandboxWorldsOptions) {
    this.#default = options.default
    this.#named = new Map(options.folder.names.map((name) => [name, undefined]))
    this.#journals = new Journals(options.folder)
    const prepare = options.isLasting ? options.prepare : undefined
    this.snapshots = new Snapshots(options.snapshotFolder, prepare, (file) => this.onDamaged(file))
    this.#default.of(requestLog).beginsFresh = !holdsRecords(this.#default.db.query)
    this.#journals.load(this.#default)
  }

  get clock(): SteadyClock {
    return this.options.clock
  }

  /** True if a new world has a client of this name. */
  beginsWith(client: string): boolean {
    return isAccount(client) || this.#initial.clients.includes(client)
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

  /** Calls back with each world that goes to rest, while its data is still open. */
  onRest(callback: (world: World) => void): void {
    this.#onRest.push(callback)
  }

  /** Calls back before a world is reset or dropped. */
  onEnd(callback: (world: World) => void): void {
    this.#onEnd.push(callback)
  }

  #end(world: World): void {
    for (const callback of this.#onEnd) callback(world)
  }

  #present(world: World, isSeeded: boolean): void {
    for (const callback of this.#onPresent) callback(world, { isSeeded })
  }

  get default(): World {
    return this.#default
  }

  static isName(name: string): boolean {
    return /^[a-z0-9_-]{1,64}$/.test(name)
  }

  get names(): readonly string[] {
    return [DEFAULT_WORLD, ...[...this.#named.keys()].sort()]
  }

  /** Undefined as well for a world whose file is damaged. */
  find(name: string): World | undefined {
    if (name === DEFAULT_WORLD || name === this.#default.name) return this.#default
    return this.#named.get(name) ?? (this.#named.has(name) ? this.#load(name) : undefined)
  }

  /** True for a named world, even if its file cannot be read. */
  has(name: string): boolean {
    return this.#named.has(name)
  }

  /** Undefined if its file is damaged. */
  #load(name: string): World | undefined {
    let database: Database | undefined
    try {
      database = this.options.folder.open(name)
      this.options.prepare(database)
      const world = this.#begun(name, database)
      this.#journals.load(world)
      return world
    } catch (error) {
      database?.close()
      if (isPassing(error)) throw tryLater(error)
      this.options.folder.forgetClock(name)
      this.onDamaged(error instanceof DamagedFile ? error : new DamagedFile(this.options.folder.path(name), error))
      return undefined
    }
  }

  /** The clock of a world, which is not opened for it if possible. Undefined if its file is damaged. */
  findClock(name: string): Clock | undefined {
    const kept = this.#named.get(name) ? undefined : this.options.folder.findClock(name)
    return kept ? new MovableClock(this.clock, kept) : this.find(name)?.clock
  }

  /** All worlds, those of an earlier process too, which are read in parts that leave the thread to others. */
  async everyOne(): Promise<readonly World[]> {
    for await (const name of inParts(this.names)) if (!this.#default.closed) this.find(name)
    return this.all
  }

  /** The worlds that were opened or made in this process. */
  get all(): readonly World[] {
    return [this.#default, ...[...this.#named.values()].filter((world) => world !== undefined)]
  }

  /** A separate world in memory that continues from the present state of another. */
  copyOf(world: World): World {
    const database = Database.inMemory(this.imageOf(world))
    return worldFrom(world.name, database, keptState(database.query, this.options.seed), this.clock)
  }

  /** A world as it is now. @throws DomainError world_not_found if it was dropped meanwhile */
  imageOf(world: World): Uint8Array {
    if (world.closed) throw new DomainError(worldNotFound(world.name))
    return imageOf(world)
  }

  /**
   * Makes a seeded world, or one that continues from an image.
   *
   * @throws DomainError worlds_exhausted, or world_damaged if a file of this name cannot be read
   */
  create(name: string, image?: Uint8Array): World {
    if (this.has(name)) throw new DomainError(worldDamaged(name))
    if (this.#named.size >= (this.options.worldsMax ?? WORLDS_MAX))
      throw new DomainError(worldsExhausted(this.#named.size))
    const world = this.#make(name, image)
    if (image === undefined) this.#onSeeded(world)
    return world
  }

  #make(name: string, image: Uint8Array | undefined, old?: World): World {
    const { folder, initial } = this.options
    folder.begin(name, image ?? initial(), () => old?.close())
    this.#journals.remove(name)
    return this.#begun(name, image && folder.open(name))
  }

  /** A seeded world is opened by the first request that needs its data. */
  #begun(name: string, database: Database | undefined): World {
    const state = database ? keptState(database.query, this.options.seed) : this.#initial.state
    const world = worldFrom(name, database ?? this.#atRest(name), state, this.clock, this.#onResume)
    this.#named.set(name, world)
    const keepClock = (clock: ClockState) => this.options.folder.keepClock(name, clock)
    onClockKept(world, keepClock)
    keepClock(state.clock)
    world.of(requestLog).beginsFresh = database ? !holdsRecords(database.query) : this.#initial.isFresh
    if (database) this.#onResume(world)
    this.#present(world, !database)
    return world
  }

  get #initial(): InitialState {
    this.#readInitial ??= stateIn(this.options.initial(), this.options.seed)
    return this.#readInitial
  }
  #readInitial: InitialState | undefined

  #atRest(name: string): OpenData {
    return () => this.options.folder.open(name)
  }

  readonly #onResume = (world: World): void => {
    if (world.openDatabase?.onFile) keepRandomness(world)
    wake(world)
    this.#inUse.add(world)
  }

  /** Replaces this world by a seeded one, or by one that continues from an image. Its data is lost. */
  replace(world: World, image?: Uint8Array): World {
    this.#end(world)
    const next = this.#replaced(world, image) // the old one stays if there is no room on the disk
    this.#inUse.delete(world)
    if (image === undefined) this.#onSeeded(next)
    return next
  }

  #replaced(world: World, image: Uint8Array | undefined): World {
    if (world.name !== DEFAULT_WORLD) return this.#make(world.name, image, world)
    this.#default = this.options.reopenDefault(world, image)
    this.#journals.remove(DEFAULT_WORLD)
    this.#default.of(requestLog).beginsFresh = !holdsRecords(this.#default.db.query)
    this.#present(this.#default, image === undefined)
    return this.#default
  }

  /** Drops a named world, which need not be readable. Returns whether there was one. */
  drop(name: string): boolean {
    const world = this.#named.get(name)
    if (world) {
      this.#end(world)
      world.close()
      this.#inUse.delete(world)
    }
    this.#journals.remove(name)
    this.options.folder.remove(name)
    return this.#named.delete(name)
  }

  /** Called at each tick of time. */
  rest(): void {
    this.#inUse.tick(this.#named.values())
  }

  #rest(world: World): void {
    for (const callback of this.#onRest) callback(world)
    world.suspend((database) => {
      this.options.folder.rest(world.name, database)
      return this.#atRest(world.name)
    })
    this.#journals.rest(world)
  }

  /** Keeps the journals if the folder outlives the process. */
  close(): void {
    if (this.options.isLasting) for (const world of this.all) this.#journals.rest(world)
    for (const world of this.all) world.close()
    this.options.folder.dispose()
  }
}
