import type { Tx } from '../db/database.ts'
import { computedId } from '../kernel/ids.ts'
import type { Reference } from '../reference/reference.ts'
import { causeIn } from '../work/cause.ts'
import { isInDryRun } from '../work/dry-run.ts'
import { schedule } from '../work/due.ts'
import { type World, worldPart } from '../work/world.ts'
import { EVENT_KEPT_MS } from './expiry.ts'
import { type Event, insertEvent, nextNumber } from './queries.ts'
import type { EventType } from './types.ts'

/** The world of a change, and the reference data for its events. */
export interface EventContext {
  world: World
  reference: Reference
}

interface NewEvent {
  clientId: number
  type: EventType
  /** Events of the same record are delivered in order: `order 1`. */
  record: string
  /** The record as its GET returns it. */
  data: object
  /** The time at which the change was due, which can be earlier than the present time of the world. */
  createdAtMs: number
}

type Queue = (tx: Tx, world: World, event: Event) => void

/** Queues the deliveries of an event in its transaction. Each program that writes to a world gives it one. */
const outbox = worldPart<{ queue: Queue }>(() => ({
  queue: () => {
    throw new Error('nothing queues the deliveries of this world')
  },
}))

export const queueEventsBy = (world: World, queue: Queue): void => {
  world.of(outbox).queue = queue
}

type EventListener = (event: Event) => void

const listeners = worldPart(() => new Set<EventListener>())

/** Calls back for each event of a world as it is written, before its commit. Disposal ends it. */
export const listenToEvents = (world: World, listener: EventListener): Disposable => {
  const all = world.of(listeners)
  all.add(listener)
  return { [Symbol.dispose]: () => void all.delete(listener) }
}

/** Writes an event in the transaction of the change that it reports, and queues it (contract C16). */
export const publish = (tx: Tx, world: World, event: NewEvent): Event => {
  const written = writeEvent(tx, world, event)
  world.of(outbox).queue(tx, world, written)
  return written
}

/** The events of a unit of work share the number of the next one. */
const inUnit = new WeakMap<object, { number: number }>()

/** Writes an event without queueing it. */
export const writeEvent = (tx: Tx, world: World, { data, ...change }: NewEvent): Event => {
  const { clientId, type, createdAtMs } = change
  const next = inUnit.getOrInsertComputed(world.db.unit, () => ({ number: nextNumber(tx) }))
  const id = next.number++
  const json = JSON.stringify(data)
  const eventId = computedId('evt', createdAtMs, `${id} ${clientId} ${type} ${json}`)
  const { requestId, traceparent } = causeIn(world)
  const event = { id, eventId, data: json, requestId, traceparent, ...change }
  insertEvent(tx, event)
  schedule(world, 'events', createdAtMs + EVENT_KEPT_MS)
  if (!isInDryRun(world)) for (const listener of world.of(listeners)) listener(event)
  return event
}
