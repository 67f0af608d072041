import type { World } from '../../worlds/world.ts'
import { memoryOf } from './memory.ts'
import type { WorldStore } from './store.ts'

/** A larger world in memory is not suspended: copying this many bytes takes about 10 ms. */
const SUSPENDED_BYTES_MAX = 33_554_432
/** A closed connection keeps its memory until the garbage collector runs: after this many, Scrip requests a run. */
const SUSPENSIONS_PER_COLLECTION = 8
/** Each open file takes three descriptors, of which macOS allows 10,240 to a process. */
const FILES_OPEN_MAX = 256
/** The share of the memory for open worlds: a process that opens and closes them takes a multiple of it. */
const OPEN_SHARE = 1 / 8

/** The named worlds whose data is open, the longest unused first (decision 34). */
export class OpenWorlds {
  readonly #worlds = new Set<World>()
  #suspensions = 0

  constructor(private readonly options: { memoryBytesMax: number; store: WorldStore }) {}

  /** A world has been opened. Others are suspended if it does not fit. */
  add(world: World): void {
    this.#worlds.add(world)
    this.makeRoom(world)
  }

  delete(world: World): void {
    this.#worlds.delete(world)
  }

  /** A world has been used since the last tick: it moves behind all others. */
  used(world: World): void {
    if (this.#worlds.delete(world)) this.#worlds.add(world)
  }

  /** Suspends worlds until the open ones keep to their share. */
  makeRoom(except?: World): void {
    const bytesMax = this.options.memoryBytesMax * OPEN_SHARE
    let [bytes, files] = [0, 0]
    for (const world of this.#worlds) {
      bytes += memoryOf(world)
      files += filesOf(world)
    }
    for (const world of this.#worlds) {
      if (bytes <= bytesMax && files <= FILES_OPEN_MAX) return
      if (world === except || !canSuspend(world)) continue
      bytes -= memoryOf(world)
      files -= filesOf(world)
      this.suspend(world)
    }
  }

  suspend(world: World): void {
    if (!this.#worlds.has(world) || !canSuspend(world)) return
    world.suspend((database) => this.options.store.close(world, database))
    this.#worlds.delete(world)
    this.#suspensions += 1
    if (this.#suspensions % SUSPENSIONS_PER_COLLECTION === 0) Bun.gc(false)
  }
}

/** None once it is closed: a world that is being replaced is. */
const filesOf = ({ openDatabase }: World): number => (openDatabase?.onFile ? 1 : 0)

/** Whether suspending it would delay no other request. */
export const canSuspend = ({ openDatabase }: World): boolean =>
  openDatabase !== undefined && (openDatabase.onFile || openDatabase.byteCount <= SUSPENDED_BYTES_MAX)
