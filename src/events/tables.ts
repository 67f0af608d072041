import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'
import type { EventType } from './types.ts'

export const events = sqliteTable('events', { ...columns.events, type: text('type').$type<EventType>().notNull() })
export type Event = typeof events.$inferSelect
