import { text } from 'drizzle-orm/sqlite-core'
import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'
import type { EventType } from './types.ts'

export const events = table(schema.events, { type: text('type').$type<EventType>().notNull() })
export type Event = typeof events.$inferSelect
