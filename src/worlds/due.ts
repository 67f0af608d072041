import type { Tx } from '../db/database.ts'
import { turns } from '../kernel/turns.ts'
import { type World, worldPart } from './world.ts'

/** Records of some room that fall due by the clock. */
export interface DueSource {
  /** When the next of them falls due, in Unix milliseconds. */
  nextMs: (tx: Tx) => number | undefined
  /** How many there are, whenever they fall due. */
  waiting: (tx: Tx) => number
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

/** How many steps one slice has at most, which shares one transaction: a month that is skipped stops nobody for long. */
const STEPS_PER_SLICE = 100

/**
 * What falls due is in the database and survives restarts; it is done once, in order of due time, before anything that
 * happens after it can be seen: each request of a world waits for what is due in it.
 */
export class DueWork {
  /** Worlds that are catching up, and the end of it: all who wait for a world wait for the same work. */
  readonly #catchingUp = new WeakMap<World, Promise<void>>()

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
      await world.db.write((tx) => this.#slice(tx, world))
      world.of(horizon).nextMs = undefined
    }
  }

  /**
   * What a request has to wait for before it may look at a world, if anything. What is due is done at once for a request
   * that is going to write, and shares its commit; one that reads waits until what it reads is durable.
   */
  before(world: World, isWriting: boolean): Promise<void> | undefined {
    if (isWriting) return this.isDue(world) && !this.#catchUpNow(world) ? this.catchUp(world) : undefined
    if (this.isDue(world)) return this.catchUp(world)
    return world.db.underway?.then(() => this.catchUp(world))
  }

  /** Answers whether that was all: a long while that was skipped is done in slices. Should the commit fail, all is due again. */
  #catchUpNow(world: World): boolean {
    if (!turns.isFree || this.#catchingUp.has(world)) return false
    const stands = world.db.writeNow((tx) => this.#slice(tx, world))
    if (!stands) return false
    stands.then((stood) => stood || world.forgetDerived())
    world.of(horizon).nextMs = undefined
    return !this.isDue(world)
  }

  #slice(tx: Tx, world: World): void {
    turns.slice((isOver) => {
      for (let count = 0; count < STEPS_PER_SLICE && !isOver(); count++) {
        const next = this.#earliest(tx)
        if (!next || next.dueMs > world.clock.nowMs()) return
        next.source.step(tx, world)
      }
    })
  }

  #earliest(tx: Tx): { source: DueSource; dueMs: number } | undefined {
    let earliest: { source: DueSource; dueMs: number } | undefined
    for (const source of this.sources) {
      const dueMs = source.nextMs(tx)
      if (dueMs !== undefined && (!earliest || dueMs < earliest.dueMs)) earliest = { source, dueMs }
    }
    return earliest
  }
}
