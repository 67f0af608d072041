import type { Static } from '@sinclair/typebox'
import { PAYOUT_EXAMPLE, type PayoutSchema } from './operations.ts'
import type { PayoutStatus } from './tables.ts'
import type { PayoutEventType } from './transitions.ts'

type PayoutData = Static<typeof PayoutSchema>

/** A payout that went on from its creation, whatever came in between. */
const movedOn = (event_type: string, status: PayoutStatus, change: Partial<PayoutData> = {}): PayoutData => {
  const step = {
    event_type,
    from_status: PAYOUT_EXAMPLE.status,
    to_status: status,
    actor_type: 'system' as const,
    message: null,
    created_at: '2026-01-01T00:00:01.000Z',
  }
  return { ...PAYOUT_EXAMPLE, status, ...change, events: [...PAYOUT_EXAMPLE.events, step] }
}

const AT = '2026-01-01T00:00:01.000Z'
const QUEUED = { queued_at: AT }
const SUBMITTED = { ...QUEUED, submitted_at: AT }
const COMPLETED = { ...SUBMITTED, completed_at: AT }
const FAILURE = { failure_code: 'account_closed', failure_reason: 'The account is closed' }

export const PAYOUT_EVENT_EXAMPLES: Record<'created' | Exclude<PayoutEventType, 'resumed'>, PayoutData> = {
  created: PAYOUT_EXAMPLE,
  queued: movedOn('queued', 'queued', QUEUED),
  processing: movedOn('processing', 'processing', QUEUED),
  submitted: movedOn('submitted', 'processing', SUBMITTED),
  settling: movedOn('settling', 'settling', SUBMITTED),
  action_required: movedOn('action_required', 'action_required', SUBMITTED),
  completed: movedOn('completed', 'completed', COMPLETED),
  failed: movedOn('failed', 'failed', { ...QUEUED, ...FAILURE, failed_at: AT }),
  cancelled: movedOn('cancelled', 'cancelled', { cancelled_at: AT }),
  expired: movedOn('expired', 'expired'),
  returned: movedOn('returned', 'completed', COMPLETED),
}
