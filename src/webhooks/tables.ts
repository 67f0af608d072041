import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { EventPattern, EventType } from '../events/types.ts'

/** How deliveries are signed (contract C16). */
export const SIGNINGS = ['standard', 'timestamped', 'body'] as const
export type Signing = (typeof SIGNINGS)[number]

export const webhooks = sqliteTable('webhooks', {
  id: text('id').primaryKey(),
  clientId: integer('client_id').notNull(),
  name: text('name').notNull(),
  url: text('url').notNull(),
  events: text('events', { mode: 'json' }).$type<EventPattern[]>().notNull(),
  signing: text('signing', { enum: SIGNINGS }).notNull(),
  active: integer('active', { mode: 'boolean' }).notNull(),
  disabledReason: text('disabled_reason'),
  /** Sealed. */
  secret: blob('secret', { mode: 'buffer' }).notNull(),
  /** The secret before the last rotation, sealed: both sign until then. */
  previousSecret: blob('previous_secret', { mode: 'buffer' }),
  previousUntilMs: integer('previous_until_ms'),
  /** When the first attempt failed since the last one that was delivered. */
  failingSinceMs: integer('failing_since_ms'),
  /** What waits up to this row was dropped, and is deleted in steps. */
  droppedTo: integer('dropped_to').notNull(),
  deleted: integer('deleted', { mode: 'boolean' }).notNull(),
  createdAtMs: integer('created_at_ms').notNull(),
  updatedAtMs: integer('updated_at_ms').notNull(),
})

export type Webhook = typeof webhooks.$inferSelect

export const webhookQueue = sqliteTable('webhook_queue', {
  id: integer('id').primaryKey(),
  webhookId: text('webhook_id').notNull(),
  eventId: integer('event_id').notNull(),
  record: text('record').notNull(),
  failures: integer('failures').notNull(),
  /** Null while an earlier event of its record waits. */
  dueAtMs: integer('due_at_ms'),
  /** Until the next event of its record is delivered, for tests that change the order. */
  held: integer('held', { mode: 'boolean' }).notNull().default(false),
})

export type QueuedDelivery = typeof webhookQueue.$inferSelect

export const ATTEMPT_STATUSES = ['delivered', 'retrying', 'failed'] as const

/** One row for each attempt. */
export const webhookDeliveries = sqliteTable('webhook_deliveries', {
  id: integer('id').primaryKey(),
  clientId: integer('client_id').notNull(),
  webhookId: text('webhook_id').notNull(),
  eventId: text('event_id').notNull(),
  eventType: text('event_type').$type<EventType>().notNull(),
  attempt: integer('attempt').notNull(),
  status: text('status', { enum: ATTEMPT_STATUSES }).notNull(),
  responseStatus: integer('response_status'),
  durationMs: integer('duration_ms').notNull(),
  responseBody: text('response_body'),
  nextAttemptAtMs: integer('next_attempt_at_ms'),
  createdAtMs: integer('created_at_ms').notNull(),
  /** Why there was no response. */
  error: text('error'),
})

export type Attempt = typeof webhookDeliveries.$inferSelect
