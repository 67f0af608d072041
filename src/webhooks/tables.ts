import { text } from 'drizzle-orm/sqlite-core'
import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'
import type { EventPattern, EventType } from '../events/types.ts'

export const webhooks = table(schema.webhooks, {
  events: text('events', { mode: 'json' }).$type<EventPattern[]>().notNull(),
})
export type Webhook = typeof webhooks.$inferSelect

/** The kinds of signatures (contract C16). */
export const SIGNINGS = webhooks.signing.enumValues
export type Signing = Webhook['signing']

export const webhookQueue = table(schema.webhook_queue)
export type QueuedDelivery = typeof webhookQueue.$inferSelect

export const webhookDeliveries = table(schema.webhook_deliveries, {
  eventType: text('event_type').$type<EventType>().notNull(),
})
export type Attempt = typeof webhookDeliveries.$inferSelect
export const ATTEMPT_STATUSES = webhookDeliveries.status.enumValues
