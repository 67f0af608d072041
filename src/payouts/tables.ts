import { text } from 'drizzle-orm/sqlite-core'
import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const payouts = table(schema.payouts)
export type Payout = typeof payouts.$inferSelect

/** The states of a payout (contract C13). */
export const PAYOUT_STATUSES = payouts.status.enumValues
export type PayoutStatus = Payout['status']

export const payoutEvents = table(schema.payout_events, {
  fromStatus: text('from_status', { enum: PAYOUT_STATUSES }),
  toStatus: text('to_status', { enum: PAYOUT_STATUSES }).notNull(),
})
export type PayoutEvent = typeof payoutEvents.$inferSelect

export const ACTOR_TYPES = payoutEvents.actorType.enumValues
export type ActorType = PayoutEvent['actorType']
