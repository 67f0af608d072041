import type { Static } from '@sinclair/typebox'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import type { DeliverySchema, ExplainedDeliverySchema, WebhookSchema, WebhookWithSecretSchema } from './operations.ts'
import type { Attempt, Webhook } from './queries.ts'
import type { WithSecret } from './webhooks.ts'

export const webhookWire = (webhook: Webhook): Static<typeof WebhookSchema> => ({
  ...headOf(webhook),
  ...tailOf(webhook),
})

export const withSecretWire = ({ webhook, secret }: WithSecret): Static<typeof WebhookWithSecretSchema> => ({
  ...headOf(webhook),
  secret,
  ...tailOf(webhook),
})

const headOf = ({ id, name, url, events, signing, active }: Webhook) => ({
  id,
  name,
  url,
  events,
  signing,
  active,
})

const tailOf = ({ createdAtMs, updatedAtMs, disabledReason }: Webhook) => ({
  created_at: toTimestamp(createdAtMs),
  updated_at: toTimestamp(updatedAtMs),
  disabled_reason: disabledReason,
})

/** For the side that sends: why there was no response is none of the members that contract C16 lists. */
export const explainedAttemptWire = (attempt: Attempt): Static<typeof ExplainedDeliverySchema> => ({
  ...attemptWire(attempt),
  error: attempt.error,
})

export const attemptWire = (attempt: Attempt): Static<typeof DeliverySchema> => ({
  id: attempt.id,
  event_id: attempt.eventId,
  event_type: attempt.eventType,
  attempt: attempt.attempt,
  status: attempt.status,
  response_status: attempt.responseStatus,
  duration_ms: attempt.durationMs,
  response_body: attempt.responseBody,
  next_attempt_at: toTimestampOrNull(attempt.nextAttemptAtMs),
  created_at: toTimestamp(attempt.createdAtMs),
})
