import { MINUTE_MS } from '../../kernel/clock.ts'
import type { Reference } from '../../reference/reference.ts'
import type { DueWork } from '../../worlds/due.ts'
import type { World } from '../../worlds/world.ts'
import { clockOf } from '../worlds/state.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'
import { type Purchase, purchasesOf } from './statement.ts'
import { type Loss, type Write, WriteLog } from './writes.ts'

/** Longer than the clock takes to end an order or a payout (contracts C12 and C13). */
const SETTLED_AFTER_MS = MINUTE_MS

/** A write, and the purchases in its world at the end. */
export interface WriteResult {
  write: Write
  purchases: readonly Purchase[]
}

/** Watches the writes of a command, and lists the purchases in its worlds when it has ended (decision 49). */
export class Exploration {
  readonly log: WriteLog
  /** The last state of worlds that were reset or dropped. */
  readonly #last = new Map<World, World>()

  constructor(
    worlds: SandboxWorlds,
    private readonly reference: Reference,
    loss: Loss | undefined,
  ) {
    this.log = new WriteLog(loss)
    worlds.onEnd = (world) => {
      if (this.log.writes.some((write) => write.world === world)) this.#last.set(world, worlds.copyOf(world))
    }
  }

  /** Every write, and the purchases in its world once the clock has moved all orders and payouts. Called at the end. */
  async results(due: DueWork): Promise<WriteResult[]> {
    await this.log.settled()
    const purchases = new Map<World, Purchase[]>()
    for (const { world } of this.log.writes) {
      if (!purchases.has(world)) purchases.set(world, await this.#purchasesIn(world, due))
    }
    return this.log.writes.map((write) => ({ write, purchases: purchases.get(write.world) ?? [] }))
  }

  async #purchasesIn(world: World, due: DueWork): Promise<Purchase[]> {
    const last = this.#last.get(world) ?? world
    const clock = clockOf(last)
    clock.set(clock.nowMs() + SETTLED_AFTER_MS)
    await due.catchUp(last)
    return purchasesOf(last, this.reference)
  }
}
