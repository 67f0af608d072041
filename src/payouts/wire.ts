import type { Static } from '@sinclair/typebox'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { EventSchema, ListedPayoutSchema, PayoutSchema } from './operations.ts'
import type { Payout, PayoutEvent } from './tables.ts'

export const listedWire = (payout: Payout, reference: Reference): Static<typeof ListedPayoutSchema> => {
  const { events: _, ...listed } = payoutWire(payout, [], reference)
  return listed
}

export const payoutWire = (
  payout: Payout,
  events: readonly Omit<PayoutEvent, 'id'>[],
  reference: Reference,
): Static<typeof PayoutSchema> => {
  const { currency, precision } = reference.getCurrency(payout.currencyId)
  return {
    id: payout.id,
    reference_id: payout.referenceId,
    status: payout.status,
    amount: toMajor(payout.amountMinor, precision),
    currency,
    fees: toMajor(payout.feesMinor, precision),
    total_amount: toMajor(payout.amountMinor + payout.feesMinor, precision),
    wallet_id: payout.walletId,
    beneficiary: {
      id: payout.beneficiaryId,
      email: payout.beneficiaryEmail,
      first_name: payout.beneficiaryFirstName,
      last_name: payout.beneficiaryLastName,
      country: payout.beneficiaryCountry,
      phone: payout.beneficiaryPhone,
    },
    description: payout.description,
    metadata: JSON.parse(payout.metadata),
    failure_code: payout.failureCode,
    failure_reason: payout.failureReason,
    events: events.map(eventWire),
    created_at: toTimestamp(payout.createdAtMs),
    queued_at: toTimestampOrNull(payout.queuedAtMs),
    submitted_at: toTimestampOrNull(payout.submittedAtMs),
    completed_at: toTimestampOrNull(payout.completedAtMs),
    failed_at: toTimestampOrNull(payout.failedAtMs),
    cancelled_at: toTimestampOrNull(payout.cancelledAtMs),
  }
}

const eventWire = (event: Omit<PayoutEvent, 'id'>): Static<typeof EventSchema> => ({
  event_type: event.eventType,
  from_status: event.fromStatus,
  to_status: event.toStatus,
  actor_type: event.actorType,
  message: event.message,
  created_at: toTimestamp(event.createdAtMs),
})
