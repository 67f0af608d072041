import { readText } from '../../http/body.ts'
import type { Incoming } from '../../http/incoming.ts'
import { documentedRoute } from '../../http/target.ts'
import { MINUTE_MS } from '../../kernel/clock.ts'
import type { Reference } from '../../reference/reference.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { DueWork } from '../../work/due.ts'
import type { World } from '../../work/world.ts'
import { clockOf } from '../worlds/state.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'
import { type Purchase, purchasesOf } from './statement.ts'
import { type Loss, Numbering, type Write } from './writes.ts'

/** Longer than the clock takes to end an order or a payout (contracts C12 and C13). */
const SETTLED_AFTER_MS = MINUTE_MS

/** A write, and the purchases in its world at the end. */
export interface WriteResult {
  write: Write
  purchases: readonly Purchase[]
}

/** The writes of one run of a command, the one whose response is lost, and the purchases in its worlds at the end (decision 49). */
export class Exploration {
  readonly #writes: Write[] = []
  /** The write whose response was lost. */
  lost: Write | undefined
  readonly #open = new Map<Request, Write>()
  readonly #numbering: Numbering | undefined
  #onSettled: () => void = () => undefined
  /** The last state of worlds that were reset or dropped. */
  readonly #last = new Map<World, World>()

  constructor(
    worlds: SandboxWorlds,
    private readonly reference: Reference,
    private readonly loss: Loss | undefined,
  ) {
    this.#numbering = loss && new Numbering(loss.byName)
    worlds.onEnd((world) => {
      if (this.#writes.some((write) => write.world === world)) this.#last.set(world, worlds.copyOf(world))
    })
  }

  /** Called before a request is handled. Returns the moment at which its response is to be lost; undefined if it is not. */
  async admitted(incoming: Incoming, { world, client }: Session): Promise<Loss['when'] | undefined> {
    const body = await readText(incoming).catch(() => '') // the route refuses an unreadable body
    const { request, route } = incoming
    const { method } = request
    const write = { world, client: client.username, method, route: documentedRoute(route), body, isDone: false }
    this.#writes.push(write)
    this.#open.set(request, write)
    if (!this.loss || this.#numbering?.keyOf(write) !== this.loss.key) return undefined
    this.lost = write
    return this.loss.when
  }

  ended(request: Request, changedRows: boolean): void {
    const write = this.#open.get(request)
    if (!write) return
    write.isDone = changedRows
    this.#open.delete(request)
    if (this.#open.size === 0) this.#onSettled()
  }

  /** Every write, and the purchases in its world once the clock has moved all orders and payouts. Called at the end. */
  async results(due: DueWork): Promise<WriteResult[]> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onSettled = resolve))
    const purchases = new Map<World, Purchase[]>()
    for (const { world } of this.#writes) {
      if (!purchases.has(world)) purchases.set(world, await this.#purchasesIn(world, due))
    }
    return this.#writes.map((write) => ({ write, purchases: purchases.get(write.world) ?? [] }))
  }

  async #purchasesIn(world: World, due: DueWork): Promise<Purchase[]> {
    const last = this.#last.get(world) ?? world
    const clock = clockOf(last)
    clock.set(clock.nowMs() + SETTLED_AFTER_MS)
    await due.catchUp(last)
    return purchasesOf(last, this.reference)
  }
}
