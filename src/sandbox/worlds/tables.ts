import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { PACES } from './pace.ts'

export const movedClock = sqliteTable('moved_clock', {
  id: integer('id').primaryKey(),
  offsetMs: integer('offset_ms').notNull(),
  frozenAtMs: integer('frozen_at_ms'),
})

export const keptPace = sqliteTable('kept_pace', {
  id: integer('id').primaryKey(),
  payouts: text('payouts', { enum: PACES }).notNull(),
  orders: text('orders', { enum: PACES }).notNull(),
})

export const keptRandomness = sqliteTable('kept_randomness', {
  id: integer('id').primaryKey(),
  seed: text('seed').notNull(),
  position: integer('position').notNull(),
  lastMs: integer('last_ms').notNull(),
  sequence: integer('sequence').notNull(),
})
