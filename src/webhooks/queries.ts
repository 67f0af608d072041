import { and, asc, count, eq, gt, inArray, isNotNull, min, or, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { counted, List } from '../db/lists.ts'
import { type Narrowing, narrowedRows, type Rows, rowsById, searched } from '../db/narrowing.ts'
import { isOneOf, preparedAll, preparedInsert, preparedOne } from '../db/prepared.ts'
import { type Attempt, type Webhook, webhookDeliveries, webhooks } from './tables.ts'

export type { Attempt, Webhook }

const ownedBy = (clientId: number) => and(eq(webhooks.clientId, clientId), eq(webhooks.deleted, false))

const activeOf = preparedAll(
  webhooks,
  and(eq(webhooks.clientId, sql.placeholder('clientId')), eq(webhooks.active, true)),
)

const notDeleted = preparedOne(webhooks, and(eq(webhooks.id, sql.placeholder('id')), eq(webhooks.deleted, false)))

export const findWebhook = (query: Query, clientId: number, id: string): Webhook | undefined =>
  query
    .select()
    .from(webhooks)
    .where(and(ownedBy(clientId), eq(webhooks.id, id)))
    .limit(1)
    .get()

export const findAnyWebhook = (query: Query, id: string): Webhook | undefined => notDeleted(query, { id })

export const findWebhookEvenDeleted = (query: Query, id: string): Webhook | undefined =>
  query.select().from(webhooks).where(eq(webhooks.id, id)).limit(1).get()

/** The webhooks of a list. Their ids sort by creation. */
export const webhooksOf = (query: Query, narrowing: Narrowing): Rows<Webhook> => {
  const { clientId, createdAtMs: atMs, deleted } = webhooks
  return narrowedRows(query, { table: webhooks, clientId, atMs }, narrowing, { matches: eq(deleted, false) })
}

/** The webhooks of all clients, or of one; the newest first. */
export const allWebhooks = (query: Query, clientId?: number): Webhook[] => [
  ...webhooksOf(query, { clientId, newestFirst: true }),
]

const hasQueue = sql`EXISTS (SELECT 1 FROM webhook_queue
  WHERE webhook_queue.webhook_id = webhooks.id AND webhook_queue.due_at_ms IS NOT NULL)`

/** The webhooks with waiting deliveries. */
export const queuesToDeliver = (query: Query): Webhook[] =>
  query
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.active, true), hasQueue))
    .all()

/** Literals. With a parameter, SQLite would not use the index of such rows. */
const isFailing = sql`${webhooks.failingSinceMs} IS NOT NULL AND ${webhooks.active} = 1`

/** The active webhooks that fail, the one that has failed for the longest first. */
export const failingWebhooks = (query: Query, limit: number): Webhook[] =>
  query
    .select()
    .from(webhooks)
    .where(isFailing)
    .orderBy(asc(webhooks.failingSinceMs), asc(webhooks.id))
    .limit(limit)
    .all()

/** The earliest time since which a webhook has been failing; null without one. */
export const failingSinceMs = (query: Query): number | null =>
  query
    .select({ sinceMs: min(webhooks.failingSinceMs) })
    .from(webhooks)
    .where(isFailing)
    .get()?.sinceMs ?? null

export const activeWebhooksOf = (query: Query, clientId: number): Webhook[] => activeOf(query, { clientId })

export const countWebhooks = (query: Query, clientId: number): number =>
  query.select({ n: count() }).from(webhooks).where(ownedBy(clientId)).get()?.n ?? 0

/** The webhooks of all clients, deleted ones included. */
export const everyWebhook = (query: Query): Iterable<Webhook> => rowsById(query, webhooks, undefined)

/** The webhooks with rows to delete, including those whose deletion continues in steps. */
export const webhooksToClear = (query: Query): Webhook[] =>
  query
    .select()
    .from(webhooks)
    .where(or(gt(webhooks.droppedTo, 0), eq(webhooks.deleted, true)))
    .all()

export const insertWebhook = (tx: Tx, webhook: Webhook): void => {
  tx.insert(webhooks).values(webhook).run()
}

export const updateWebhook = <Known extends Pick<Webhook, 'id'>>(
  tx: Tx,
  webhook: Known,
  update: Partial<Webhook>,
): Known => {
  tx.update(webhooks).set(update).where(eq(webhooks.id, webhook.id)).run()
  return { ...webhook, ...update }
}

export const deleteWebhookRow = (tx: Tx, id: string): void => {
  tx.delete(webhooks).where(eq(webhooks.id, id)).run()
}

export const insertAttempt = preparedInsert(webhookDeliveries)

export const attemptsTo = (query: Query, webhookId: string, narrowing: Narrowing): Rows<Attempt> =>
  narrowedRows(
    query,
    { table: webhookDeliveries, atMs: webhookDeliveries.createdAtMs, counts: 'delivery_counts' },
    narrowing,
    {
      matches: eq(webhookDeliveries.webhookId, webhookId),
      index: 'webhook_deliveries_webhook',
      isCounted: true,
    },
  )

/** The attempts to deliver some events, the oldest first. */
export const attemptsOf = (query: Query, eventIds: readonly string[]): Attempt[] =>
  query
    .select()
    .from(webhookDeliveries)
    .where(inArray(webhookDeliveries.eventId, [...eventIds]))
    .orderBy(asc(webhookDeliveries.id))
    .all()

export const attemptList = new List({
  table: webhookDeliveries,
  counts: 'delivery_counts',
  filters: { webhookId: counted(webhookDeliveries.webhookId, 'webhook_deliveries_webhook') },
  sorts: { id: { columns: [], index: 'webhook_deliveries_webhook' } },
})

/** Attempts to deliver some events, and those whose response may hold another. */
export const attemptsAbout = (
  query: Query,
  eventIds: Iterable<string>,
  part: string | undefined,
): AsyncIterable<Attempt> => {
  const { eventId, responseBody } = webhookDeliveries
  const holdsPart = part === undefined ? undefined : sql`instr(lower(${responseBody}), ${part}) > 0`
  return searched(query, webhookDeliveries, and(isNotNull(responseBody), or(isOneOf(eventId, eventIds), holdsPart)))
}

export const eraseResponse = (tx: Tx, { id }: Attempt): void => {
  tx.update(webhookDeliveries).set({ responseBody: null }).where(eq(webhookDeliveries.id, id)).run()
}
