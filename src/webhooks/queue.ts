import type { Tx } from '../db/database.ts'
import { queueEventsBy } from '../events/publish.ts'
import type { Event } from '../events/queries.ts'
import { matches } from '../events/types.ts'
import { isInDryRun } from '../work/dry-run.ts'
import { type World, worldPart } from '../work/world.ts'
import { activeWebhooksOf, updateWebhook, type Webhook } from './queries.ts'
import {
  deleteQueued,
  findFirstNotHeld,
  findFirstOfRecord,
  findQueuedEvent,
  insertQueued,
  lastQueuedId,
  type QueuedDelivery,
  updateQueued,
} from './queue-queries.ts'

/** The delivery queue (contract C16): only the first delivery of each record is due. */

type QueueListener = (webhookId: string, dueAtMs: number) => void

/** Notified of queued deliveries. Nothing else depends on it: the queue is in the database. */
const queueListener = worldPart<{ notify: QueueListener }>(() => ({ notify: () => undefined }))

const notify = (world: World, webhookId: string, dueAtMs: number): void => {
  if (!isInDryRun(world)) world.db.afterCommit(() => world.of(queueListener).notify(webhookId, dueAtMs))
}

export const listenToQueue = (world: World, listener: QueueListener): void => {
  world.of(queueListener).notify = listener
}

/** The active webhooks of each client are read once in a unit of work. */
const inUnit = new WeakMap<object, Map<number, readonly Webhook[]>>()

/** From now on, the events of a world are queued for the webhooks whose filter they match (contract C16). */
export const queueEventsOf = (world: World): void =>
  queueEventsBy(world, (tx, { db }, event) => {
    const { clientId, type, createdAtMs } = event
    const webhooks = inUnit.getOrInsertComputed(db.unit, () => new Map())
    for (const webhook of webhooks.getOrInsertComputed(clientId, () => activeWebhooksOf(tx, clientId)))
      if (matches(webhook.events, type)) queueDelivery(tx, world, webhook, event, createdAtMs)
  })

/** Queues a delivery of an event, behind the others of its record. */
export const queueDelivery = (
  tx: Tx,
  world: World,
  { id: webhookId, droppedTo }: Webhook,
  { id: eventId, record }: Event,
  dueMs: number,
): void => {
  const isFirst = findFirstNotHeld(tx, { webhookId, droppedTo, record }) === undefined
  insertQueued(tx, { webhookId, eventId, record, dueAtMs: isFirst ? dueMs : null })
  if (isFirst) notify(world, webhookId, dueMs)
}

/** Begins a new series of attempts. A waiting delivery starts again at the same place in the queue. */
export const queueAgain = (tx: Tx, world: World, webhook: Webhook, event: Event): void => {
  const nowMs = world.clock.nowMs()
  const waiting = findQueuedEvent(tx, webhook.id, event.id)
  if (!waiting || waiting.id <= webhook.droppedTo) {
    if (waiting) deleteQueued(tx, waiting.id)
    queueDelivery(tx, world, webhook, event, nowMs)
    return
  }
  updateQueued(tx, waiting, { failures: 0, dueAtMs: waiting.dueAtMs === null ? null : nowMs })
  if (waiting.dueAtMs !== null) notify(world, webhook.id, nowMs)
}

/** After the last attempt of a delivery, makes the next event of its record due, or one that was held back. */
const releaseNext = (tx: Tx, { id: webhookId, droppedTo }: Webhook, record: string, nowMs: number): void => {
  const next = findFirstOfRecord(tx, { webhookId, droppedTo, record })
  if (next && next.dueAtMs === null) updateQueued(tx, next, { dueAtMs: nowMs })
}

/** Removes a delivery for good, so that the next one of its record follows. */
export const finishQueued = (tx: Tx, webhook: Webhook, { id, record }: QueuedDelivery, nowMs: number): void => {
  deleteQueued(tx, id)
  releaseNext(tx, webhook, record, nowMs)
}

/** Lets the next event of a record go first, for tests. Without a next one, the event waits for it. */
export const holdBack = (
  tx: Tx,
  { id: webhookId, droppedTo }: Webhook,
  queued: QueuedDelivery,
  nowMs: number,
): void => {
  updateQueued(tx, queued, { dueAtMs: null, isHeld: true })
  const next = findFirstNotHeld(tx, { webhookId, droppedTo, record: queued.record })
  if (next && next.dueAtMs === null) updateQueued(tx, next, { dueAtMs: nowMs })
}

/** Drops all waiting deliveries of a webhook. The rows are deleted later, because there can be a million. */
export const dropQueue = <Known extends Pick<Webhook, 'id'>>(tx: Tx, webhook: Known, update: Partial<Webhook>): Known =>
  updateWebhook(tx, webhook, { ...update, droppedTo: lastQueuedId(tx) })
