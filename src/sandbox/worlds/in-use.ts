import type { World } from '../../work/world.ts'
import { Journals } from './journals.ts'

/** A used connection takes up to a megabyte besides its data, and an open file three descriptors. */
const IN_USE_MAX = 64
/** The maximum memory of all worlds in use together, for data and journals. */
const DATA_BYTES_MAX = 134_217_728
const JOURNAL_BYTES_MAX = 67_108_864
/** A world rests after this many ticks without a request. */
const IDLE_TICKS = 10
/** The most worlds that go to rest with one tick, so that no request waits for hundreds. Each takes a millisecond or two. */
const RESTED_PER_TICK = 25
/** A closed connection keeps its memory until the garbage collector runs: after this many, Scrip requests a run. */
const RESTS_PER_COLLECTION = 8

/** The named worlds that are in use. The others rest. */
export class WorldsInUse {
  /** The longest unused first, with the ticks since their last use. */
  readonly #ticks = new Map<World, number>()
  #rests = 0

  constructor(private readonly letRest: (world: World) => void) {}

  add(world: World): void {
    this.#ticks.set(world, 0)
    for (const longest of this.#ticks.keys()) {
      if (this.#ticks.size <= IN_USE_MAX) return
      if (longest !== world) this.#rest(longest)
    }
  }

  delete(world: World): void {
    this.#ticks.delete(world)
  }

  tick(worlds: Iterable<World | undefined>): void {
    for (const [world, ticks] of this.#ticks) this.#ticks.set(world, ticks + 1)
    for (const world of worlds) if (world?.wasUsed) this.#used(world)
    const idle = [...this.#ticks].filter(([, ticks]) => ticks >= IDLE_TICKS)
    for (const [world] of idle.slice(0, RESTED_PER_TICK)) this.#rest(world)
    this.#makeRoom()
  }

  #used(world: World): void {
    world.wasUsed = false
    this.#ticks.delete(world) // to the end
    this.#ticks.set(world, 0)
  }

  /** The world that was used last stays open, however large it is. */
  #makeRoom(): void {
    const worlds = [...this.#ticks.keys()]
    let data = sum(worlds.map(dataBytesOf))
    let journals = sum(worlds.map(Journals.bytesOf))
    for (const world of worlds.slice(0, -1)) {
      if (data <= DATA_BYTES_MAX && journals <= JOURNAL_BYTES_MAX) return
      data -= dataBytesOf(world)
      journals -= Journals.bytesOf(world)
      this.#rest(world)
    }
  }

  #rest(world: World): void {
    this.letRest(world)
    world.wasUsed = false
    this.#ticks.delete(world)
    this.#rests += 1
    if (this.#rests % RESTS_PER_COLLECTION === 0) Bun.gc(false)
  }
}

/** Pages of a file are on the disk, apart from a small cache. */
const dataBytesOf = ({ openDatabase }: World): number =>
  openDatabase && !openDatabase.onFile ? openDatabase.byteCount : 0

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
