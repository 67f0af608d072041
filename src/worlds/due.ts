import type { Query, Tx } from '../db/database.ts'
import { nextTurn } from '../kernel/turns.ts'
import { type World, worldPart } from './world.ts'

/** Due work: orders are delivered, payouts move on, events and attempts at their delivery are deleted. */
type DueKind = 'orders' | 'payouts' | 'events' | 'attempts'

/** Due work of one module. */
export interface DueSource {
  kind: DueKind
  /** In Unix milliseconds. */
  nextMs: (query: Query) => number | undefined
  waiting: (query: Query) => number
  /** Does the next one, dated at its due time. It must not be due at that time afterwards. */
  step: (tx: Tx, world: World) => void
}

/** The earliest due times of a world, as its database has them; those that are missing are read when they are needed. */
const earliestMs = worldPart(() => new Map<DueKind, number>(), 'derived')

/** Called in the transaction that writes a due time. */
export const schedule = (world: World, kind: DueKind, dueMs: number): void =>
  world.db.afterCommit(() => {
    const known = world.of(earliestMs)
    if (dueMs < (known.get(kind) ?? Number.NEGATIVE_INFINITY)) known.delete(kind)
  })

type Write = <T>(work: (tx: Tx) => T) => Promise<T>

/** Steps in one transaction, after which others come: skipping a month blocks nobody for long. */
const STEPS_MAX = 100

/** Due work is in the database and survives restarts. It is done once, in order, before requests of its world can see it. */
export class DueWork {
  /** The worlds that are catching up: all requests of a world wait for the same work. */
  readonly #catchingUp = new WeakMap<World, Promise<void>>()
  /** The queued steps of a world. */
  readonly #queued = new WeakMap<World, Promise<void>>()

  constructor(private readonly sources: readonly DueSource[]) {}

  /** Infinity if nothing is due. */
  nextMs(world: World): number {
    return this.#earliest(world, world.db.query)?.dueMs ?? Number.POSITIVE_INFINITY
  }

  isDue(world: World): boolean {
    return this.nextMs(world) <= world.clock.nowMs()
  }

  waiting(world: World): number {
    return this.sources.reduce((sum, source) => sum + source.waiting(world.db.query), 0)
  }

  async catchUp(world: World): Promise<void> {
    const underway = this.#catchingUp.get(world)
    if (underway) return underway
    if (!this.isDue(world)) return
    const whole = this.#doAll(world).finally(() => this.#catchingUp.delete(world))
    this.#catchingUp.set(world, whole)
    return whole
  }

  async #doAll(world: World): Promise<void> {
    while (this.isDue(world)) {
      await this.#doSome(world)
      await nextTurn()
    }
  }

  /** Runs a unit of work after all due work. They share a commit, unless much is due. */
  async write<T>(world: World, write: Write, work: (tx: Tx) => T): Promise<T> {
    if (!this.isDue(world)) return write(work)
    if (!this.#catchingUp.has(world)) {
      const steps = this.#doSome(world)
      const own = write((tx) => (this.isDue(world) ? undefined : { value: work(tx) }))
      const [, done] = await Promise.all([steps, own])
      if (done) return done.value
    }
    await this.catchUp(world)
    return this.write(world, write, work)
  }

  /** Queues steps that all waiting requests share. If their commit fails, their work is due again. */
  #doSome(world: World): Promise<void> {
    const queued = this.#queued.get(world)
    if (queued) return queued
    const steps = world.db
      .write((tx) => this.#steps(tx, world))
      .catch((error: unknown) => {
        world.of(earliestMs).clear()
        throw error
      })
      .finally(() => this.#queued.delete(world))
    this.#queued.set(world, steps)
    return steps
  }

  #steps(tx: Tx, world: World): void {
    const known = world.of(earliestMs)
    known.clear() // what a request has cancelled is no longer due
    for (let count = 0; count < STEPS_MAX; count++) {
      const next = this.#earliest(world, tx)
      if (!next || next.dueMs > world.clock.nowMs()) break
      next.source.step(tx, world)
      known.delete(next.source.kind)
    }
  }

  #earliest(world: World, query: Query): { source: DueSource; dueMs: number } | undefined {
    const known = world.of(earliestMs)
    let earliest: { source: DueSource; dueMs: number } | undefined
    for (const source of this.sources) {
      const dueMs = known.get(source.kind) ?? source.nextMs(query) ?? Number.POSITIVE_INFINITY
      known.set(source.kind, dueMs)
      if (!earliest || dueMs < earliest.dueMs) earliest = { source, dueMs }
    }
    return earliest
  }
}
