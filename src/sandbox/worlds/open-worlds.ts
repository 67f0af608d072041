import { turns } from '../../kernel/turns.ts'
import type { World } from '../../worlds/world.ts'
import type { SandboxWorldsOptions } from './options.ts'

/** A closed connection keeps its memory until what was made on it is collected: after so many, that is asked for. */
const SUSPENSIONS_PER_COLLECTION = 8
/** Each open file takes three descriptors, of which macOS allows 10,240 to a process. */
const FILES_OPEN_MAX = 256

/** What open worlds may take of the memory: a process that opens and closes them takes a multiple of it. */
const OPEN_SHARE = 1 / 8

/** The named worlds whose data is open, the longest unused first (decision 34). */
export class OpenWorlds {
  readonly #worlds = new Set<World>()
  #suspensions = 0
  #isSuspending = false

  constructor(private readonly options: Pick<SandboxWorldsOptions, 'memoryBytesMax' | 'store'>) {}

  /** A world has been opened. Others are suspended if it does not fit. */
  add(world: World): void {
    this.#worlds.add(world)
    this.makeRoom(world)
  }

  delete(world: World): void {
    this.#worlds.delete(world)
  }

  /** A world has been used since the last tick: it comes behind all others. */
  used(world: World): void {
    if (this.#worlds.delete(world)) this.#worlds.add(world)
  }

  /** Suspends worlds until the open ones keep to their share. */
  makeRoom(except?: World): void {
    const bytesMax = this.options.memoryBytesMax * OPEN_SHARE
    let [bytes, files] = [0, 0]
    for (const world of this.#worlds) {
      bytes += world.memoryBytes
      files += Number(world.isOnFile)
    }
    for (const world of this.#worlds) {
      if (bytes <= bytesMax && files <= FILES_OPEN_MAX) return
      if (world === except || !world.canSuspend) continue
      bytes -= world.memoryBytes
      files -= Number(world.isOnFile)
      this.suspend(world)
    }
  }

  suspend(world: World): void {
    world.suspend((database) => this.options.store.close(world, database))
    this.#worlds.delete(world)
    this.#suspensions += 1
    if (this.#suspensions % SUSPENSIONS_PER_COLLECTION === 0) Bun.gc(false)
  }

  /** In time slices, so that nobody waits for hundreds of worlds. */
  suspendIdle(idle: readonly World[]): void {
    if (idle.length > 0 && !this.#isSuspending) void this.#suspendIdle(idle)
  }

  async #suspendIdle(idle: readonly World[]): Promise<void> {
    this.#isSuspending = true
    await turns.run(this, this.#suspendInSteps(idle))
    Bun.gc(false)
    this.#isSuspending = false
  }

  *#suspendInSteps(idle: readonly World[]): Generator<undefined, void> {
    for (const world of idle) {
      if (world.isIdle && this.#worlds.has(world)) this.suspend(world)
      yield
    }
  }
}
