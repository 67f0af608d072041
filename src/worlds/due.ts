import type { Query, Tx } from '../db/database.ts'
import { turns } from '../kernel/turns.ts'
import { type World, worldPart } from './world.ts'

/** Due work of one module. */
export interface DueSource {
  /** When the next of them falls due, in Unix milliseconds. */
  nextMs: (query: Query) => number | undefined
  /** How many there are, whenever they fall due. */
  waiting: (query: Query) => number
  /** Does the next one, dated at when it fell due. Whatever happens, it is then no longer due at that time. */
  step: (tx: Tx, world: World) => void
}

/** The earliest due time of a world: known from its database when first asked, then kept as work is scheduled. */
const horizon = worldPart<{ nextMs: number | undefined }>(() => ({ nextMs: undefined }), 'derived')

/** Tells that a record falls due. Called in the transaction that writes it. */
export const schedule = (world: World, dueMs: number): void => {
  const known = world.of(horizon)
  if (known.nextMs !== undefined && dueMs < known.nextMs) known.nextMs = dueMs
}

/** Queues a unit of work. */
type Write = <T>(work: (tx: Tx) => T) => Promise<T>

/** How many steps one slice has at most, which shares one transaction: a month that is skipped stops nobody for long. */
const STEPS_PER_SLICE = 100

/**
 * What falls due is in the database and survives restarts; it is done once, in order of due time, before anything that
 * happens after it can be seen: each request of a world waits for what is due in it.
 */
export class DueWork {
  /** Worlds that are catching up, and the end of it: all who wait for a world wait for the same work. */
  readonly #catchingUp = new WeakMap<World, Promise<void>>()
  /** The slice of a world that has not run yet. */
  readonly #queued = new WeakMap<World, Promise<void>>()

  constructor(private readonly sources: readonly DueSource[]) {}

  /** When the next record of a world falls due; Infinity when none does. */
  nextMs(world: World): number {
    const known = world.of(horizon)
    known.nextMs ??= this.#earliest(world.db.query)?.dueMs ?? Number.POSITIVE_INFINITY
    return known.nextMs
  }

  isDue(world: World): boolean {
    return this.nextMs(world) <= world.clock.nowMs()
  }

  /** How many records of a world wait for their time. */
  waiting(world: World): number {
    return this.sources.reduce((sum, source) => sum + source.waiting(world.db.query), 0)
  }

  /** Does all that is due in a world by its own clock, in slices. */
  async catchUp(world: World): Promise<void> {
    const underway = this.#catchingUp.get(world)
    if (underway) return underway
    if (!this.isDue(world)) return
    const whole = this.#catchUpInSlices(world).finally(() => this.#catchingUp.delete(world))
    this.#catchingUp.set(world, whole)
    return whole
  }

  async #catchUpInSlices(world: World): Promise<void> {
    while (this.isDue(world)) {
      await turns.next(world)
      await this.#nextSlice(world)
    }
  }

  /**
   * Runs a unit of work after all that is due. What is due shares its commit, unless a long while was skipped: that is
   * caught up with first.
   */
  async write<T>(world: World, write: Write, work: (tx: Tx) => T): Promise<T> {
    if (!this.isDue(world)) return write(work)
    if (turns.isFree && !this.#catchingUp.has(world)) {
      const slice = this.#nextSlice(world)
      const own = write((tx) => (this.isDue(world) ? undefined : { value: work(tx) }))
      const [, done] = await Promise.all([slice, own])
      if (done) return done.value
    }
    await this.catchUp(world)
    return this.write(world, write, work)
  }

  /** Queues a slice, which all share who wait for it. Should its commit fail, what it did is due again. */
  #nextSlice(world: World): Promise<void> {
    const queued = this.#queued.get(world)
    if (queued) return queued
    const slice = world.db
      .write((tx) => this.#slice(tx, world))
      .finally(() => {
        this.#queued.delete(world)
        world.of(horizon).nextMs = undefined
      })
    this.#queued.set(world, slice)
    return slice
  }

  #slice(tx: Tx, world: World): void {
    turns.slice((isOver) => {
      for (let count = 0; count < STEPS_PER_SLICE && !isOver(); count++) {
        const next = this.#earliest(tx)
        if (!next || next.dueMs > world.clock.nowMs()) break
        next.source.step(tx, world)
      }
    })
    world.of(horizon).nextMs = undefined
  }

  #earliest(query: Query): { source: DueSource; dueMs: number } | undefined {
    let earliest: { source: DueSource; dueMs: number } | undefined
    for (const source of this.sources) {
      const dueMs = source.nextMs(query)
      if (dueMs !== undefined && (!earliest || dueMs < earliest.dueMs)) earliest = { source, dueMs }
    }
    return earliest
  }
}
