import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'

export const movedClock = sqliteTable('moved_clock', {
  id: integer('id').primaryKey(),
  offsetMs: integer('offset_ms').notNull(),
  frozenAtMs: integer('frozen_at_ms'),
})
