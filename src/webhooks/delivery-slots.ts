import { sinceStartMs } from '../kernel/clock.ts'
import { type World, worldPart } from '../work/world.ts'

/** Deliveries at once for a webhook (contract C16). */
const IN_FLIGHT_MAX = 4
/** Deliveries at once for a webhook whose last attempt has failed. */
const FAILING_IN_FLIGHT_MAX = 1

let starts = 0

/** The deliveries of one webhook in flight, and the due time of the next. The database has the rest. */
export class DeliverySlots {
  readonly inFlight = new Set<number>()
  /** By the clock of the world; Infinity when nothing waits. */
  nextDueMs = Number.POSITIVE_INFINITY
  /** True if the last attempt has failed. */
  isFailing = false
  #pausedUntilMs = 0
  #lastStart = 0

  constructor(
    readonly world: World,
    readonly webhookId: string,
  ) {}

  expect(dueAtMs: number): void {
    this.nextDueMs = Math.min(this.nextDueMs, dueAtMs)
  }

  /** Marks a delivery as in flight. The next look then finds the one after it. */
  begin(queuedId: number): void {
    this.inFlight.add(queuedId)
    this.nextDueMs = Number.NEGATIVE_INFINITY
    this.#lastStart = ++starts
  }

  end(queuedId: number): void {
    this.inFlight.delete(queuedId)
    this.nextDueMs = Number.NEGATIVE_INFINITY
  }

  /** Pauses in real time: the clock of a world may stand still. */
  pause(milliseconds: number): void {
    this.#pausedUntilMs = sinceStartMs() + milliseconds
  }

  get isIdle(): boolean {
    return this.inFlight.size === 0 && this.nextDueMs === Number.POSITIVE_INFINITY
  }

  get isReady(): boolean {
    const placesMax = this.isFailing ? FAILING_IN_FLIGHT_MAX : IN_FLIGHT_MAX
    if (this.inFlight.size >= placesMax || this.nextDueMs > this.world.clock.nowMs()) return false
    return sinceStartMs() >= this.#pausedUntilMs
  }

  comesBefore(other: DeliverySlots): boolean {
    const fewer = this.inFlight.size - other.inFlight.size
    return fewer === 0 ? this.#lastStart < other.#lastStart : fewer < 0
  }

  /** True if a delivery is in flight, or due now. */
  get isBusy(): boolean {
    return this.inFlight.size > 0 || this.nextDueMs <= this.world.clock.nowMs()
  }
}

const slots = worldPart(() => new Map<string, DeliverySlots>())

/** The slots of a world's webhooks with deliveries that wait or are in flight. */
export const slotsIn = (world: World): Map<string, DeliverySlots> => world.of(slots)
