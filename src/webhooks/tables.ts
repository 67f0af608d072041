import { customType, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'
import type { EventPattern, EventType } from '../events/types.ts'
import { storedList } from '../kernel/unreadable.ts'

/** A webhook whose filter cannot be read gets no events; its client's other webhooks, and its writes, go on. */
const filter = customType<{ data: EventPattern[]; driverData: string }>({
  dataType: () => 'text',
  toDriver: (patterns) => JSON.stringify(patterns),
  fromDriver: (json) => storedList(json, () => `events of a webhook: ${json}`),
})

export const webhooks = sqliteTable('webhooks', { ...columns.webhooks, events: filter('events').notNull() })
export type Webhook = typeof webhooks.$inferSelect

export const SIGNINGS = webhooks.signing.enumValues
export type Signing = Webhook['signing']

export const webhookQueue = sqliteTable('webhook_queue', columns.webhookQueue)
export type QueuedDelivery = typeof webhookQueue.$inferSelect

export const webhookDeliveries = sqliteTable('webhook_deliveries', {
  ...columns.webhookDeliveries,
  eventType: text('event_type').$type<EventType>().notNull(),
})
export type Attempt = typeof webhookDeliveries.$inferSelect
export const ATTEMPT_STATUSES = webhookDeliveries.status.enumValues
