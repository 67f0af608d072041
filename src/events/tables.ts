import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { EventType } from './types.ts'

export const events = sqliteTable('events', {
  /** In the order in which they were written. */
  id: integer('id').primaryKey(),
  eventId: text('event_id').notNull(),
  clientId: integer('client_id').notNull(),
  type: text('type').$type<EventType>().notNull(),
  /** Events of the same record are delivered in order: `order 1`. */
  record: text('record').notNull(),
  /** JSON. */
  data: text('data').notNull(),
  createdAtMs: integer('created_at_ms').notNull(),
  /** The trace of the request that caused it. */
  traceparent: text('traceparent'),
})

export type Event = typeof events.$inferSelect
