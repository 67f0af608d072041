import type { Tx } from '../db/database.ts'
import { EVENT_KEPT_MS } from '../events/expiry.ts'
import { type Event, insertEvent, nextNumber } from '../events/queries.ts'
import { type EventType, matches } from '../events/types.ts'
import { computedId } from '../kernel/ids.ts'
import type { Reference } from '../reference/reference.ts'
import { causeIn } from '../worlds/cause.ts'
import { isInDryRun } from '../worlds/dry-run.ts'
import { schedule } from '../worlds/due.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { activeWebhooksOf, type Webhook } from './queries.ts'
import { queueDelivery } from './queue.ts'

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

type EventListener = (event: Event) => void

const listeners = worldPart(() => new Set<EventListener>())

/** Calls back for each event of a world as it is written, before its commit. Disposal ends it. */
export const listenToEvents = (world: World, listener: EventListener): Disposable => {
  const all = world.of(listeners)
  all.add(listener)
  return { [Symbol.dispose]: () => void all.delete(listener) }
}

/** The events of a unit of work share the number of the next one, and the webhooks of each client. */
const inUnit = new WeakMap<object, { number: number; webhooks: Map<number, readonly Webhook[]> }>()
const sharedBy = (tx: Tx, { db }: World) =>
  inUnit.getOrInsertComputed(db.unit, () => ({ number: nextNumber(tx), webhooks: new Map() }))

/** Writes an event in the transaction of the change that it reports, and queues it (contract C16). */
export const publish = (tx: Tx, world: World, event: NewEvent): Event => {
  const written = writeEvent(tx, world, event)
  const { webhooks } = sharedBy(tx, world)
  for (const webhook of webhooks.getOrInsertComputed(event.clientId, (clientId) => activeWebhooksOf(tx, clientId))) {
    if (matches(webhook.events, event.type)) queueDelivery(tx, world, webhook, written, event.createdAtMs)
  }
  return written
}

/** Publishes an event to one webhook alone, whatever its filter. */
export const publishTo = (tx: Tx, world: World, webhook: Webhook, event: NewEvent): Event => {
  const written = writeEvent(tx, world, event)
  queueDelivery(tx, world, webhook, written, event.createdAtMs)
  return written
}

const writeEvent = (tx: Tx, world: World, { data, ...change }: NewEvent): Event => {
  const { clientId, type, createdAtMs } = change
  const id = sharedBy(tx, world).number++
  const json = JSON.stringify(data)
  const eventId = computedId('evt', createdAtMs, `${id} ${clientId} ${type} ${json}`)
  const event = { id, eventId, data: json, ...causeIn(world), ...change }
  insertEvent(tx, event)
  schedule(world, 'events', createdAtMs + EVENT_KEPT_MS)
  if (!isInDryRun(world)) for (const listener of world.of(listeners)) listener(event)
  return event
}
