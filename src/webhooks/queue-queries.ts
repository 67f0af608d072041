import { and, asc, count, eq, gt, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import {
  isGiven,
  placeholderOfLimit,
  prepared,
  preparedFirst,
  preparedInsert,
  preparedLastId,
  preparedOne,
  preparedUpdate,
} from '../db/prepared.ts'
import { type QueuedDelivery, webhookDeliveries, webhookQueue } from './tables.ts'

export type { QueuedDelivery }

const ofRecord = and(
  isGiven(webhookQueue.webhookId, 'webhookId'),
  isGiven(webhookQueue.record, 'record'),
  gt(webhookQueue.id, sql.placeholder('droppedTo')),
)

const byId = preparedOne(webhookQueue, eq(webhookQueue.id, sql.placeholder('id')))

const nextDue = prepared((query: Query) =>
  query
    .select()
    .from(webhookQueue)
    .where(
      and(
        isGiven(webhookQueue.webhookId, 'webhookId'),
        isNotNull(webhookQueue.dueAtMs),
        gt(webhookQueue.id, sql.placeholder('droppedTo')),
      ),
    )
    .orderBy(asc(webhookQueue.dueAtMs), asc(webhookQueue.id))
    .limit(placeholderOfLimit('count'))
    .prepare(),
)

export const findFirstOfRecord = preparedFirst(webhookQueue, ofRecord, asc(webhookQueue.id))
export const findFirstNotHeld = preparedFirst(
  webhookQueue,
  and(ofRecord, eq(webhookQueue.held, false)),
  asc(webhookQueue.id),
)
export const lastQueuedId = preparedLastId(webhookQueue)

const insertRow = preparedInsert(webhookQueue)

const updateRow = preparedUpdate(webhookQueue, ['dueAtMs', 'failures', 'held'])

/** A webhook, and the part of its queue that was dropped. */
interface QueueOf {
  webhookId: string
  droppedTo: number
}

export const countQueued = (query: Query, { webhookId, droppedTo }: QueueOf): number =>
  query
    .select({ n: count() })
    .from(webhookQueue)
    .where(and(eq(webhookQueue.webhookId, webhookId), gt(webhookQueue.id, droppedTo)))
    .get()?.n ?? 0

export const findQueued = (query: Query, id: number): QueuedDelivery | undefined => byId(query, { id })

/** The next deliveries that may be sent: the first of each record, the earliest due first. */
export const nextQueued = (query: Query, queue: QueueOf, limit: number): QueuedDelivery[] =>
  nextDue(query).all({ ...queue, count: limit })

export const insertQueued = (tx: Tx, queued: Pick<QueuedDelivery, 'webhookId' | 'eventId' | 'record' | 'dueAtMs'>) =>
  insertRow(tx, { id: null, failures: 0, held: false, ...queued })

const deleteRow = prepared((tx: Tx) =>
  tx
    .delete(webhookQueue)
    .where(eq(webhookQueue.id, sql.placeholder('id')))
    .prepare(),
)

export const deleteQueued = (tx: Tx, id: number): void => void deleteRow(tx).run({ id })

export const findQueuedEvent = (query: Query, webhookId: string, eventId: number): QueuedDelivery | undefined =>
  query
    .select()
    .from(webhookQueue)
    .where(and(eq(webhookQueue.webhookId, webhookId), eq(webhookQueue.eventId, eventId)))
    .limit(1)
    .get()

export const updateQueued = (
  tx: Tx,
  { id, failures }: QueuedDelivery,
  update: { failures?: number; dueAtMs: number | null; isHeld?: boolean },
): void => {
  updateRow(tx, { id, failures, ...update, held: update.isHeld ?? false })
}

/** Deletes some of the dropped deliveries. Returns the number of deleted rows. */
export const deleteDropped = (tx: Tx, { webhookId, droppedTo }: QueueOf, countMax: number): number => {
  const dropped = tx
    .select({ id: webhookQueue.id })
    .from(webhookQueue)
    .where(and(eq(webhookQueue.webhookId, webhookId), lte(webhookQueue.id, droppedTo)))
    .limit(countMax)
  return tx.delete(webhookQueue).where(inArray(webhookQueue.id, dropped)).returning({ id: webhookQueue.id }).all()
    .length
}

const oldestAttempt = preparedOne(
  webhookDeliveries,
  eq(webhookDeliveries.id, sql`(SELECT min(${webhookDeliveries.id}) FROM ${webhookDeliveries})`),
)

export const findOldestAttemptMs = (query: Query): number | undefined => oldestAttempt(query)?.createdAtMs

export const deleteOldestAttempts = (tx: Tx, upToMs: number, countMax: number): void => {
  const oldest = tx
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .orderBy(asc(webhookDeliveries.id))
    .limit(countMax)
  tx.delete(webhookDeliveries)
    .where(and(inArray(webhookDeliveries.id, oldest), lte(webhookDeliveries.createdAtMs, upToMs)))
    .run()
}
