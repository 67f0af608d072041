import { Type } from '@sinclair/typebox'
import { filter, ParameterProblem } from '../http/parameters.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import type { Deliveries } from '../webhooks/deliveries.ts'
import type { DueWork } from '../work/due.ts'
import type { World } from '../work/world.ts'
import { waitersOf } from './worlds/resting.ts'
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
  #isClosed = false
  #looking: ReturnType<typeof setInterval> | undefined

  constructor(private readonly parts: { worlds: SandboxWorlds; due: DueWork; deliveries: Deliveries }) {
    parts.worlds.onEnd((world) => this.#end((waiter) => waiter.world === world))
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

  /** Ends all that wait. */
  close(): void {
    this.#isClosed = true
    this.#end(() => true)
  }

  #end(isMeant: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) if (isMeant(waiter)) endWait(waiter)
  }

  #add(waiter: Waiter, waitMs: number): Disposable {
    const timer = setTimeout(() => endWait(waiter), waitMs)
    const { world } = waiter
    this.#waiters.add(waiter)
    if (world) waitersOf(world).count += 1
    this.#looking ??= setInterval(() => this.#doDueWork(), LOOK_MS)
    return {
      [Symbol.dispose]: () => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        if (world && !world.closed) waitersOf(world).count -= 1
        if (this.#waiters.size > 0) return
        clearInterval(this.#looking)
        this.#looking = undefined
      },
    }
  }

  #doDueWork(): void {
    const { due, deliveries } = this.parts
    for (const world of new Set([...this.#waiters].map((waiter) => waiter.world))) {
      if (!world || world.closed) continue
      deliveries.watch(world)
      // A failure is seen by the next request, which does the same work first.
      if (due.isDue(world)) due.catchUp(world).catch(() => undefined)
    }
  }
}

const endWait = (waiter: Waiter): void => {
  waiter.isOver = true
  waiter.wake()
}
