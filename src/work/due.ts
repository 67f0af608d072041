import type { Query, Tx } from '../db/database.ts'
import { isDamage, isPassing } from '../db/storage.ts'
import { isUnavailable } from '../kernel/failure.ts'
import { nextTurn } from '../kernel/turns.ts'
import { type World, worldPart } from './world.ts'

/** Due work: orders are delivered, payouts move on, events and attempts at their delivery are deleted. */
type DueKind = 'orders' | 'payouts' | 'events' | 'attempts'

/** A step of the clock. */
interface Due {
  /** The id of its record. */
  id: string | number
  /** In Unix milliseconds. */
  dueMs: number
  /** Does the step, dated at its due time. The record must not be due at that time afterwards. */
  step: (tx: Tx, world: World) => void
}

/** Due work of one module. */
export interface DueSource {
  kind: DueKind
  /** The earliest step of a record that is not set aside. */
  first: (query: Query, quarantined: ReadonlySet<unknown>) => Due | undefined
  waiting: (query: Query) => number
}

/** The earliest steps of a world. A missing one is read from the database when it is needed. */
const earliest = worldPart(() => new Map<DueKind, Due | undefined>(), 'derived')

/** The records whose step has failed. They are tried again after a start or an act. */
const quarantined = worldPart(() => new Map<DueKind, Set<unknown>>(), 'derived')
const quarantinedIn = (world: World, kind: DueKind): Set<unknown> => {
  const known = world.of(quarantined).get(kind) ?? new Set()
  world.of(quarantined).set(kind, known)
  return known
}

/** Called in the transaction that writes a due time. */
export const schedule = (world: World, kind: DueKind, dueMs: number): void =>
  world.db.afterCommit(() => {
    const known = world.of(earliest)
    if (dueMs < (known.get(kind)?.dueMs ?? Number.POSITIVE_INFINITY)) known.delete(kind)
  })

type Write = <T>(work: (tx: Tx) => T) => Promise<T>

/** The maximum number of steps in one transaction. Other requests come in between, even after a jump of a month. */
const STEPS_MAX = 100

/** In place of the result of a unit of work that has found more due work, and has done nothing. */
const STILL_DUE = Symbol('still due')

/** The failure of a step. The step is set aside, so that the others continue. */
class StepFailed extends Error {
  constructor(
    readonly kind: DueKind,
    readonly id: Due['id'],
    override readonly cause: unknown,
  ) {
    super(`a step of ${kind} failed`)
  }
}

/** Due work is in the database and survives restarts. It is done once, in order, before a request of its world can see it. */
export class DueWork {
  /** The worlds that are catching up: all requests of a world wait for the same work. */
  readonly #catchingUp = new WeakMap<World, Promise<void>>()
  readonly #queued = new WeakMap<World, Promise<void>>()

  constructor(
    private readonly sources: readonly DueSource[],
    private readonly onSetAside: (step: { kind: DueKind; id: Due['id'] }, cause: unknown) => void,
  ) {}

  /** Infinity if nothing is due. */
  nextMs(world: World): number {
    return this.#first(world, world.db.query)?.dueMs ?? Number.POSITIVE_INFINITY
  }

  isDue(world: World): boolean {
    return this.nextMs(world) <= world.clock.nowMs()
  }

  waiting(world: World): number {
    return this.sources.reduce((sum, source) => sum + source.waiting(world.db.query), 0)
  }

  /** The number of steps that have failed. */
  quarantinedCount(world: World): number {
    return this.sources.reduce((sum, { kind }) => sum + quarantinedIn(world, kind).size, 0)
  }

  async catchUp(world: World): Promise<void> {
    const underway = this.#catchingUp.get(world)
    if (underway) return underway
    if (!this.isDue(world)) return
    const whole = this.#doAll(world).finally(() => this.#catchingUp.delete(world))
    this.#catchingUp.set(world, whole)
    return whole
  }

  /** As {@link catchUp}, for a read, which is answered also while nothing can be written, as on a full disk (contract C4). */
  async catchUpToRead(world: World): Promise<void> {
    await this.catchUp(world).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error
    })
  }

  async #doAll(world: World): Promise<void> {
    while (this.isDue(world)) {
      await this.#doSome(world)
      await nextTurn()
    }
  }

  /** Runs a unit of work after all due work. They share a commit, unless much is due. */
  async write<T>(world: World, write: Write, work: (tx: Tx) => T): Promise<T> {
    while (this.isDue(world)) {
      if (!this.#catchingUp.has(world)) {
        const steps = this.#doSome(world)
        const written = write((tx) => (this.isDue(world) ? STILL_DUE : work(tx)))
        const [, result] = await Promise.all([steps, written])
        if (result !== STILL_DUE) return result
      }
      await this.catchUp(world)
    }
    return write(work)
  }

  /** Queues steps that all waiting requests share. If their commit fails, their work is due again. */
  #doSome(world: World): Promise<void> {
    const queued = this.#queued.get(world)
    if (queued) return queued
    const steps = world.db
      .write((tx) => this.#steps(tx, world))
      .catch((error: unknown) => {
        world.of(earliest).clear()
        if (!(error instanceof StepFailed)) throw error
        const { kind, id, cause } = error
        quarantinedIn(world, kind).add(id)
        this.onSetAside({ kind, id }, cause)
      })
      .finally(() => this.#queued.delete(world))
    this.#queued.set(world, steps)
    return steps
  }

  /** @throws StepFailed, and then none of them is done */
  #steps(tx: Tx, world: World): void {
    const known = world.of(earliest)
    known.clear() // a request may have cancelled due work
    for (let count = 0; count < STEPS_MAX; count++) {
      const due = this.#first(world, tx)
      if (!due || due.dueMs > world.clock.nowMs()) break
      try {
        due.step(tx, world)
      } catch (error) {
        if (isPassing(error) || isDamage(error)) throw error
        throw new StepFailed(due.kind, due.id, error)
      }
      known.delete(due.kind)
    }
  }

  #first(world: World, query: Query): (Due & { kind: DueKind }) | undefined {
    const known = world.of(earliest)
    let first: (Due & { kind: DueKind }) | undefined
    for (const { kind, first: firstOf } of this.sources) {
      if (!known.has(kind)) known.set(kind, firstOf(query, quarantinedIn(world, kind)))
      const due = known.get(kind)
      if (due && due.dueMs < (first?.dueMs ?? Number.POSITIVE_INFINITY)) first = { ...due, kind }
    }
    return first
  }
}
