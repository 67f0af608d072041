import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The states of a payout (contract C13). */
export const PAYOUT_STATUSES = [
  'created',
  'queued',
  'processing',
  'settling',
  'completed',
  'failed',
  'action_required',
  'cancelled',
  'expired',
] as const
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number]

export const ACTOR_TYPES = ['system', 'client', 'operator'] as const
export type ActorType = (typeof ACTOR_TYPES)[number]

export const payouts = sqliteTable('payouts', {
  id: text('id').primaryKey(),
  clientId: integer('client_id').notNull(),
  referenceId: text('reference_id').notNull(),
  status: text('status', { enum: PAYOUT_STATUSES }).notNull(),
  walletId: integer('wallet_id').notNull(),
  currencyId: integer('currency_id').notNull(),
  amountMinor: integer('amount_minor').notNull(),
  amountRank: integer('amount_rank').notNull(),
  feesMinor: integer('fees_minor').notNull(),
  rateE8: integer('rate_e8'),
  paidMinor: integer('paid_minor').notNull(),
  paidAmountMinor: integer('paid_amount_minor').notNull(),
  paidConversionMinor: integer('paid_conversion_minor'),
  beneficiaryTotalMinor: integer('beneficiary_total_minor').notNull(),
  beneficiaryId: text('beneficiary_id'),
  /** Null once the person is erased, as are the names. */
  beneficiaryEmail: text('beneficiary_email'),
  beneficiaryFirstName: text('beneficiary_first_name'),
  beneficiaryLastName: text('beneficiary_last_name'),
  beneficiaryCountry: text('beneficiary_country'),
  beneficiaryPhone: text('beneficiary_phone'),
  beneficiaryIdentifiers: text('beneficiary_identifiers'),
  searchLowerCase: text('search_folded').notNull(),
  description: text('description'),
  metadata: text('metadata').notNull(),
  failureCode: text('failure_code'),
  failureReason: text('failure_reason'),
  returned: integer('returned', { mode: 'boolean' }).notNull(),
  dueAtMs: integer('due_at_ms'),
  dueEvent: text('due_event'),
  createdAtMs: integer('created_at_ms').notNull(),
  queuedAtMs: integer('queued_at_ms'),
  submittedAtMs: integer('submitted_at_ms'),
  completedAtMs: integer('completed_at_ms'),
  failedAtMs: integer('failed_at_ms'),
  cancelledAtMs: integer('cancelled_at_ms'),
})

export type Payout = typeof payouts.$inferSelect

export const payoutEvents = sqliteTable('payout_events', {
  id: integer('id').primaryKey(),
  payoutId: text('payout_id').notNull(),
  eventType: text('event_type').notNull(),
  fromStatus: text('from_status', { enum: PAYOUT_STATUSES }),
  toStatus: text('to_status', { enum: PAYOUT_STATUSES }).notNull(),
  actorType: text('actor_type', { enum: ACTOR_TYPES }).notNull(),
  message: text('message'),
  createdAtMs: integer('created_at_ms').notNull(),
})

export type PayoutEvent = typeof payoutEvents.$inferSelect
