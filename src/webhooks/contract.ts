import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { EVENT_EXAMPLE } from '../events/contract.ts'
import { EVENT_PATTERNS, EVENT_TYPES } from '../events/types.ts'
import { secretMember } from '../http/dry-run.ts'
import type { JsonObject } from '../http/json.ts'
import { pageQuery, textPath } from '../http/parameters.ts'
import { getExample, nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { bodyCheck, Text } from '../http/validation.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { badRequest, notFound } from '../kernel/failure.ts'
import { type AddressRules, receiverProblem } from './addresses.ts'
import { ATTEMPT_STATUSES, type Attempt, SIGNINGS, type Webhook } from './tables.ts'

/** Webhooks and their deliveries in the API (contract C16). */

export const WEBHOOK_NOT_FOUND = notFound('Webhook')
export const WEBHOOKS_MAX = 20
export const TOO_MANY_WEBHOOKS = badRequest('too_many_webhooks', `At most ${WEBHOOKS_MAX} webhooks`)
export const WEBHOOK_NOT_ACTIVE = badRequest('webhook_not_active', 'Webhook is not active')

const ID_EXAMPLE = 'whk_0mjvbk3w000000x2m9q4w1z8'
export const WebhookPath = textPath('webhook', ID_EXAMPLE)
export const PageQuery = Type.Object(pageQuery({ limitDefault: 20, limitMax: 100 }))

/** The most patterns of a filter (contract C16). */
const EVENTS_MAX = 50

const NAME_EXAMPLE = 'Fulfilment'
const URL_EXAMPLE = 'http://127.0.0.1:3000/hooks'
const EVENTS_EXAMPLE = ['order.*', 'payout.completed']

const members = {
  name: Text({ minLength: 1, maxLength: 100, description: 'Your own name for it', example: NAME_EXAMPLE }),
  url: Text({
    maxLength: 2_048,
    description: 'The URL to which events are posted: https, or http if the server allows it',
    example: URL_EXAMPLE,
  }),
  events: Type.Array(oneOf(EVENT_PATTERNS), {
    minItems: 1,
    maxItems: EVENTS_MAX,
    description: 'Types of events, order.* for all of a kind, * for all',
    example: EVENTS_EXAMPLE,
  }),
}

export const WebhookBody = Type.Object(
  {
    ...members,
    signing: Type.Optional(
      oneOf(SIGNINGS, { default: 'standard', description: 'The kind of signatures: see the guide for webhooks' }),
    ),
  },
  { title: 'WebhookRequest' },
)
export const WebhookUpdateBody = Type.Object(
  {
    name: Type.Optional(members.name),
    url: Type.Optional(members.url),
    events: Type.Optional(members.events),
    active: Type.Optional(Type.Boolean({ description: 'Switching it off drops its waiting deliveries' })),
  },
  { title: 'WebhookUpdate' },
)

const checkWebhook = bodyCheck(WebhookBody)
const checkUpdate = bodyCheck(WebhookUpdateBody)

const trimmed = (sent: JsonObject): JsonObject =>
  typeof sent.name === 'string' ? { ...sent, name: sent.name.trim() } : sent

/** @throws DomainError validation */
export const readWebhook = async (sent: JsonObject, rules: AddressRules): Promise<Static<typeof WebhookBody>> =>
  checkWebhook(trimmed(sent), await receiverRule(sent.url, rules))

/** @throws DomainError validation */
export const readUpdate = async (sent: JsonObject, rules: AddressRules): Promise<Static<typeof WebhookUpdateBody>> =>
  checkUpdate(trimmed(sent), await receiverRule(sent.url, rules))

/** Resolves the name of a host before the check, so that the check reports all violations at once (contract C4). */
const receiverRule = async (url: unknown, rules: AddressRules) => {
  const problem = Value.Check(members.url, url) ? await receiverProblem(url, rules) : undefined
  return { url: () => (problem === undefined ? undefined : ({ rule: 'format', problem } as const)) }
}

export const WebhookSchema = Type.Object(
  {
    id: Type.String({ description: 'Prefixed with whk_', example: ID_EXAMPLE }),
    name: Type.String({ example: NAME_EXAMPLE }),
    url: Type.String({ example: URL_EXAMPLE }),
    events: Type.Array(oneOf(EVENT_PATTERNS), { example: EVENTS_EXAMPLE }),
    signing: oneOf(SIGNINGS),
    active: Type.Boolean({ example: true }),
    created_at: Timestamp,
    updated_at: Timestamp,
    disabled_reason: nullable(
      Type.String({
        description:
          'The reason why it was switched off, unless you did that: gone (the receiver responded with 410), failing (for 3 days), operator',
      }),
    ),
  },
  { title: 'Webhook' },
)
export const WEBHOOK_EXAMPLE = getExample(WebhookSchema)

/** The secret in the response to a dry run is not a real one (contract C19). */
const SecretSchema = secretMember(
  Type.String({
    description: 'Shown once: whsec_ and base64 of the key',
    example: 'whsec_pSp+0kuW9Uq5JtJqRDnpIcB5mbUyAEwSJrG1Gr1MgN4=',
  }),
  `whsec_${Buffer.from('Dry run: this is not any secret.').toString('base64')}`,
)
export const WebhookWithSecretSchema = Type.Object(
  { ...WebhookSchema.properties, secret: SecretSchema },
  { title: 'WebhookWithSecret' },
)
export const DeliverySchema = Type.Object(
  {
    id: Type.Integer({ example: 1 }),
    event_id: Type.String({ example: EVENT_EXAMPLE.id }),
    event_type: oneOf(EVENT_TYPES, { example: 'ping' }),
    attempt: Type.Integer({ minimum: 1, example: 1 }),
    status: oneOf(ATTEMPT_STATUSES),
    response_status: nullable(Type.Integer({ description: 'null without a response', example: 200 })),
    duration_ms: Type.Integer({ minimum: 0, example: 12 }),
    response_body: nullable(Type.String({ description: 'At most 1 KiB of it', example: 'ok' })),
    next_attempt_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'Delivery' },
)
export const ExplainedDeliverySchema = Type.Object(
  {
    ...DeliverySchema.properties,
    error: nullable(Type.String({ description: 'The reason why there was no response, for people' })),
  },
  { title: 'ExplainedDelivery' },
)

export const webhookWire = (webhook: Webhook): Static<typeof WebhookSchema> => ({
  id: webhook.id,
  name: webhook.name,
  url: webhook.url,
  events: webhook.events,
  signing: webhook.signing,
  active: webhook.active,
  created_at: toTimestamp(webhook.createdAtMs),
  updated_at: toTimestamp(webhook.updatedAtMs),
  disabled_reason: webhook.disabledReason,
})

/** An attempt for operators. The reason of a missing response is not among the members that contract C16 lists. */
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
