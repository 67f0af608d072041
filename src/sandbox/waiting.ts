import { Type } from '@sinclair/typebox'
import { filter, ParameterProblem } from '../http/parameters.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import type { Deliveries } from '../webhooks/deliveries.ts'
import type { DueWork } from '../work/due.ts'
import type { World } from '../work/world.ts'
import type { SandboxWorlds } from './worlds/worlds.ts'

/** Lists that wait for their first item, instead of being polled (contract C15). */

const WAIT = '^(?:[1-9]|[12][0-9]|30)s$'

/** The longest time that a list waits, in milliseconds. */
export const waitFilter = filter<number>(
  Type.String({
    pattern: WAIT,
    description:
      'If nothing matches yet, waits for the first item that does: 1s to 30s of real time. Then the list is empty',
    example: '1s',
  }),
  (text) =>
    new RegExp(WAIT).test(text)
      ? Number.parseInt(text, 10) * SECOND_MS
      : new ParameterProblem('format', 'must be a time from 1s to 30s, such as 5s'),
)

/** Due work of a world in which somebody waits is done this soon: nobody else may send a request meanwhile. */
const LOOK_MS = 100
/** The time of work that may be due at any moment. */
const NOW = 0

interface Waited<Item> {
  /** Undefined for all worlds. */
  world: World | undefined
  /** Without it, the list is returned as it is. */
  waitMs: number | undefined
  read: () => readonly Item[] | Promise<readonly Item[]>
  /** Calls back for each item that may be in the list. An event may still be undone with its transaction. */
  listen: (onCome: () => void) => Disposable
}

interface Waiter {
  world: World | undefined
  isOver: boolean
  wake: () => void
}

export class Waiting {
  readonly #waiters = new Set<Waiter>()
  /** The time of the next work of worlds that have gone to rest. It does not change while they do. */
  readonly #dueAtRest = new WeakMap<World, number>()
  #isClosed = false
  #looking: ReturnType<typeof setInterval> | undefined

  constructor(private readonly parts: { worlds: SandboxWorlds; due: DueWork; deliveries: Deliveries }) {
    parts.worlds.onEnd((world) => this.#end((waiter) => waiter.world === world))
    parts.worlds.onRest((world) => this.#dueAtRest.set(world, this.#isWaitedIn(world) ? this.#nextMs(world) : NOW))
  }

  /** A list as soon as it has an item, or when the time is up, its world is reset or dropped, or the server stops. */
  async list<Item>({ world, waitMs, read, listen }: Waited<Item>): Promise<readonly Item[]> {
    if (waitMs === undefined) return read()
    const waiter: Waiter = { world, isOver: this.#isClosed, wake: () => undefined }
    using _listening = listen(() => waiter.wake())
    using _waiting = this.#add(waiter, waitMs)
    for (;;) {
      const came = new Promise<void>((resolve) => {
        waiter.wake = resolve
      })
      const items = await read()
      if (items.length > 0 || waiter.isOver) return items
      await came
      if (world?.closed) return []
    }
  }

  close(): void {
    this.#isClosed = true
    this.#end(() => true)
  }

  #end(isMeant: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) if (isMeant(waiter)) endWait(waiter)
  }

  #add(waiter: Waiter, waitMs: number): Disposable {
    const timer = setTimeout(() => endWait(waiter), waitMs)
    this.#waiters.add(waiter)
    this.#looking ??= setInterval(() => this.#doDueWork(), LOOK_MS)
    return {
      [Symbol.dispose]: () => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        if (this.#waiters.size > 0) return
        clearInterval(this.#looking)
        this.#looking = undefined
      },
    }
  }

  #isWaitedIn(world: World): boolean {
    for (const waiter of this.#waiters) if (waiter.world === world) return true
    return false
  }

  /** A failure is seen by the next request, which does the same work first. */
  #nextMs(world: World): number {
    try {
      return this.parts.due.nextMs(world)
    } catch {
      return Number.POSITIVE_INFINITY
    }
  }

  #doDueWork(): void {
    const { due, deliveries } = this.parts
    for (const world of new Set([...this.#waiters].map((waiter) => waiter.world))) {
      if (!world || world.closed) continue
      const nowMs = world.clock.nowMs()
      if (!world.openDatabase && (this.#dueAtRest.get(world) ?? NOW) > nowMs) continue
      if (this.#nextMs(world) <= nowMs) due.catchUp(world).catch(() => undefined)
      deliveries.watch(world)
    }
  }
}

const endWait = (waiter: Waiter): void => {
  waiter.isOver = true
  waiter.wake()
}
