import type { Query } from '../db/database.ts'
import { EVENT_KEPT_MS } from '../events/expiry.ts'
import { findQueuedEvent } from '../events/queries.ts'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { schedule } from '../work/due.ts'
import { type World, worldPart } from '../work/world.ts'
import { type AttemptResult, type AttemptStatus, recordAttempt } from './attempt.ts'
import { clearDropped } from './clearing.ts'
import { DeliverySlots, slotsIn } from './delivery-slots.ts'
import type { Deliver } from './outgoing.ts'
import { findAnyWebhook, queuesToDeliver, type Webhook } from './queries.ts'
import { finishQueued, listenToQueue } from './queue.ts'
import { nextQueued, type QueuedDelivery } from './queue-queries.ts'
import type { Secrets } from './secrets.ts'

/** Deliveries at once, over all webhooks (contract C16). */
const ALL_IN_FLIGHT_MAX = 64
/** Those of webhooks whose last attempt failed: receivers that never respond leave places to the others (contract C16). */
const ALL_FAILING_IN_FLIGHT_MAX = 48
/** The interval between checks for deliveries that are due by a running clock. */
const TICK_MS = SECOND_MS
/** A pause after a result that could not be written. */
const TROUBLE_MS = 5 * SECOND_MS

/** Attempts of all worlds since the process started, for metrics. */
export const attemptTotals: Record<AttemptStatus, number> = { delivered: 0, retrying: 0, failed: 0 }

interface DeliveriesOptions {
  deliver: Deliver
  secrets: Secrets
  /** True while nothing may be sent: another server may be sending it. */
  isHeld: () => boolean
  onDisabled: (webhook: Pick<Webhook, 'id' | 'clientId'>, reason: string) => void
  onError: (error: unknown) => void
}

/** True if the waiting deliveries in the database of a world are known in memory. */
const knowledge = worldPart(() => ({ isLoaded: false }), 'derived')

/** Delivers queued events, outside of transactions and requests. An attempt that was not recorded is made again. */
export class Deliveries {
  /** The worlds with deliveries that wait or are in flight. */
  readonly #worlds = new Set<World>()
  #abort = new AbortController()
  /** The paused worlds, which send nothing, with the number of calls that pause each. */
  readonly #paused = new Map<World, number>()
  #inFlight = 0
  /** Those of webhooks that were failing when they began. */
  #failingInFlight = 0
  #isPumpDue = false
  #pumped = Promise.withResolvers<void>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly options: DeliveriesOptions) {}

  /** Delivers the queue of a world, now and from now on. Called often: for a known world, it does nothing. */
  watch(world: World): void {
    if (!world.closed && !world.of(knowledge).isLoaded) this.#read(world)
  }

  #read(world: World): void {
    world.of(knowledge).isLoaded = true
    listenToQueue(world, (webhookId, dueAtMs) => {
      this.#slotsOf(world, webhookId).expect(dueAtMs)
      this.#pumpSoon()
    })
    for (const queue of queuesToDeliver(world.db.query)) {
      this.#look(world.db.query, this.#slotsOf(world, queue.id), queue)
    }
    this.clear(world)
    this.#pumpSoon()
  }

  #slotsOf(world: World, webhookId: string): DeliverySlots {
    this.#worlds.add(world)
    return slotsIn(world).getOrInsertComputed(webhookId, () => new DeliverySlots(world, webhookId))
  }

  /** Called after the clock of a world was moved. */
  wake(): void {
    this.#pumpSoon()
  }

  /** Resolves once nothing is left to deliver in a world at its present time. */
  settled(world: World): Promise<void> {
    if (!world.of(knowledge).isLoaded) this.#read(world)
    return this.#until(world, (slots) => slots.isBusy)
  }

  /** Runs work while no delivery of a world is in flight: a copy must not repeat the deliveries of the original. */
  async whilePaused<T>(world: World, work: () => Promise<T>): Promise<T> {
    this.#paused.set(world, (this.#paused.get(world) ?? 0) + 1)
    try {
      await this.#until(world, (slots) => slots.inFlight.size > 0)
      return await work()
    } finally {
      const reasons = (this.#paused.get(world) ?? 0) - 1
      if (reasons > 0) this.#paused.set(world, reasons)
      else this.#paused.delete(world)
      this.#pumpSoon()
    }
  }

  async #until(world: World, isHeldUpBy: (slots: DeliverySlots) => boolean): Promise<void> {
    this.#pumpSoon()
    do await this.#pumped.promise
    while (!world.closed && !this.#isClosing && slotsIn(world).values().some(isHeldUpBy))
  }

  /** Deletes dropped deliveries, in steps between which others write. */
  clear(world: World): void {
    clearDropped(world).catch((error: unknown) => this.#report(world, error))
  }

  /** Stops sending. Deliveries in flight get some milliseconds and are then given up: they are sent again later. */
  async close(drainMsMax: number): Promise<void> {
    clearTimeout(this.#timer)
    this.#isClosing = true
    const endsMs = sinceStartMs() + drainMsMax
    while (this.#inFlight > 0 && sinceStartMs() < endsMs) await Bun.sleep(CLOSING_LOOK_MS)
    this.#abort.abort()
    while (this.#inFlight > 0) await Bun.sleep(CLOSING_LOOK_MS)
  }
  #isClosing = false

  /** Delivers again after {@link close}. */
  resume(): void {
    this.#abort = new AbortController()
    this.#isClosing = false
    this.#pumpSoon()
  }

  /** The next delivery of a webhook that is not in flight, and when it is due. */
  #look(query: Query, slots: DeliverySlots, { droppedTo, failingSinceMs }: Webhook): QueuedDelivery | undefined {
    slots.isFailing = failingSinceMs !== null
    const waiting = nextQueued(query, { webhookId: slots.webhookId, droppedTo }, slots.inFlight.size + 1)
    const next = waiting.find(({ id }) => !slots.inFlight.has(id))
    slots.nextDueMs = next?.dueAtMs ?? Number.POSITIVE_INFINITY
    return next
  }

  /** Starts deliveries after the commit of the caller, once for any number of calls. */
  readonly #pumpSoon = (): void => {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    setImmediate(() => this.#pump())
  }

  #pump(): void {
    this.#isPumpDue = false
    this.#startAll()
    this.#pumped.resolve()
    this.#pumped = Promise.withResolvers()
    clearTimeout(this.#timer)
    if (this.#isClosing || this.#worlds.size === 0) return
    this.#timer = setTimeout(this.#pumpSoon, TICK_MS)
    this.#timer.unref()
  }

  /** Prefers the webhook with the fewest deliveries in flight; among equal ones, the one that has waited the longest. */
  #startAll(): void {
    if (this.options.isHeld()) return
    const ready = [...this.#worlds].flatMap((world) => this.#readyIn(world))
    while (!this.#isClosing && this.#inFlight < ALL_IN_FLIGHT_MAX) {
      const [head, ...others] = ready.filter((slots) => this.#hasPlace(slots))
      if (!head) return
      const slots = others.reduce((first, other) => (other.comesBefore(first) ? other : first), head)
      if (!this.#start(slots) || !slots.isReady) ready.splice(ready.indexOf(slots), 1)
    }
  }

  #hasPlace({ isFailing }: DeliverySlots): boolean {
    return !isFailing || this.#failingInFlight < ALL_FAILING_IN_FLIGHT_MAX
  }

  /** The slots that may send now. A webhook without waiting deliveries is forgotten, and so is a world that was dropped. */
  #readyIn(world: World): DeliverySlots[] {
    const all = slotsIn(world)
    for (const [webhookId, { isIdle }] of all) if (isIdle) all.delete(webhookId)
    if (world.closed || all.size === 0) this.#worlds.delete(world)
    return world.closed || this.#paused.has(world) ? [] : [...all.values()].filter(({ isReady }) => isReady)
  }

  /** Returns whether there was something to send. */
  #start(slots: DeliverySlots): boolean {
    const { world, webhookId } = slots
    try {
      const webhook = findAnyWebhook(world.db.query, webhookId)
      if (!webhook?.active) {
        slots.nextDueMs = Number.POSITIVE_INFINITY
        return false
      }
      const queued = this.#look(world.db.query, slots, webhook)
      if (!queued || slots.nextDueMs > world.clock.nowMs() || !this.#hasPlace(slots)) return false
      slots.begin(queued.id)
      const { isFailing } = slots
      this.#count(isFailing, 1)
      void this.#deliver(slots, webhook, queued).finally(() => {
        this.#count(isFailing, -1)
        slots.end(queued.id)
        this.#pumpSoon()
      })
      return true
    } catch (error) {
      slots.pause(TROUBLE_MS)
      this.#report(world, error)
      return false
    }
  }

  async #deliver(slots: DeliverySlots, webhook: Webhook, queued: QueuedDelivery): Promise<void> {
    const { world } = slots
    try {
      const event = findQueuedEvent(world.db.query, queued.eventId)
      const atMs = world.clock.nowMs()
      if (!event) {
        await world.db.write((tx) => finishQueued(tx, webhook, queued, atMs))
        this.#report(world, `event ${queued.eventId} is missing, and its delivery to ${webhook.id} is dropped`)
        return
      }
      const secrets = this.options.secrets.of(world.db.query, webhook, atMs)
      const { signal } = this.#abort
      const response = await this.options.deliver({ world, webhook, event, queued, atMs, secrets }, signal)
      if (!response || (signal.aborted && response.status === null)) return
      const attempted = { queued, event, response, atMs, nowMs: world.clock.nowMs() }
      const result = await world.db.writePatiently((tx) => recordAttempt(tx, attempted))
      this.#finish(world, webhook, result)
      schedule(world, 'events', event.createdAtMs + EVENT_KEPT_MS) // an event with waiting deliveries is kept longer
      schedule(world, 'attempts', atMs + EVENT_KEPT_MS)
    } catch (error) {
      slots.pause(TROUBLE_MS)
      this.#report(world, error)
    }
  }

  #count(isFailing: boolean, change: 1 | -1): void {
    this.#inFlight += change
    if (isFailing) this.#failingInFlight += change
  }

  #finish(world: World, webhook: Webhook, result: AttemptResult | undefined): void {
    if (result) attemptTotals[result.status] += 1
    if (result?.disabledReason === undefined) return
    this.options.onDisabled(webhook, result.disabledReason)
    this.clear(world)
  }

  /** Reports an error, except for a world that was reset or dropped, together with its deliveries. */
  #report(world: World, error: unknown): void {
    if (!world.closed && !this.#isClosing) this.options.onError(error)
  }
}

const CLOSING_LOOK_MS = 10
