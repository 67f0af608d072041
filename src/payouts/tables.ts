import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const payouts = sqliteTable('payouts', columns.payouts)
export type Payout = typeof payouts.$inferSelect

export const PAYOUT_STATUSES = payouts.status.enumValues
export type PayoutStatus = Payout['status']

export const payoutEvents = sqliteTable('payout_events', {
  ...columns.payoutEvents,
  fromStatus: text('from_status', { enum: PAYOUT_STATUSES }),
  toStatus: text('to_status', { enum: PAYOUT_STATUSES }).notNull(),
})
export type PayoutEvent = typeof payoutEvents.$inferSelect

export const ACTOR_TYPES = payoutEvents.actorType.enumValues
export type ActorType = PayoutEvent['actorType']
