import { customType, text } from 'drizzle-orm/sqlite-core'
import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'
import type { EventPattern, EventType } from '../events/types.ts'
import { storedList } from '../kernel/unreadable.ts'

/** A webhook whose filter cannot be read gets no events; its client's other webhooks, and its writes, go on. */
const filter = customType<{ data: EventPattern[]; driverData: string }>({
  dataType: () => 'text',
  toDriver: (patterns) => JSON.stringify(patterns),
  fromDriver: (json) => storedList(json, () => `events of a webhook: ${json}`),
})

export const webhooks = table(schema.webhooks, { events: filter('events').notNull() })
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
