import { Type } from '@sinclair/typebox'
import { EVENT_EXAMPLE, EventSchema } from '../events/operations.ts'
import { EVENT_PATTERNS, EVENT_TYPES } from '../events/types.ts'
import { CREATED_HEADERS, operationsOf, pageOf } from '../http/operation.ts'
import { pageQuery } from '../http/parameters.ts'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import type { AddressRules } from './addresses.ts'
import {
  CREATE_WEBHOOK_ERRORS,
  DELETE_WEBHOOK_ERRORS,
  GET_WEBHOOK_ERRORS,
  LIST_DELIVERIES_ERRORS,
  LIST_WEBHOOKS_ERRORS,
  PING_WEBHOOK_ERRORS,
  REDELIVER_ERRORS,
  ROTATE_WEBHOOK_ERRORS,
  UPDATE_WEBHOOK_ERRORS,
} from './errors.ts'
import { readUpdate, readWebhook, WebhookBody, WebhookUpdateBody } from './input.ts'
import { ATTEMPT_STATUSES, SIGNINGS } from './tables.ts'

/** Where the receivers that a request names may be. */
export type RulesFor = (request: Request) => AddressRules

const operation = operationsOf({
  tag: 'Webhooks',
  tagDescription: 'Where your events are sent, with a signature, as they happen.',
  errorShape: 'structured',
})

export const ROUTE = '/api/v1/webhooks'
const PAGE = { limitDefault: 20, limitMax: 100 }

const fields = {
  id: Type.String({ description: 'Prefixed with whk_' }),
  name: Type.String(),
  url: Type.String(),
  events: Type.Array(oneOf(EVENT_PATTERNS)),
  signing: oneOf(SIGNINGS),
  active: Type.Boolean(),
}
const timeFields = {
  created_at: Timestamp,
  updated_at: Timestamp,
  disabled_reason: nullable(
    Type.String({
      description:
        'Why it was switched off, unless you did: gone (the receiver responded with 410), failing (for 3 days), operator',
    }),
  ),
}
export const WebhookSchema = Type.Object({ ...fields, ...timeFields }, { title: 'Webhook' })
export const WebhookWithSecretSchema = Type.Object(
  { ...fields, secret: Type.String({ description: 'Shown once: whsec_ and base64 of the key' }), ...timeFields },
  { title: 'WebhookWithSecret' },
)
export const DeliverySchema = Type.Object(
  {
    id: Type.Integer(),
    event_id: Type.String(),
    event_type: oneOf(EVENT_TYPES),
    attempt: Type.Integer({ minimum: 1 }),
    status: oneOf(ATTEMPT_STATUSES),
    response_status: nullable(Type.Integer({ description: 'null without a response' })),
    duration_ms: Type.Integer({ minimum: 0 }),
    response_body: nullable(Type.String({ description: 'At most 1 KiB of it' })),
    next_attempt_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'Delivery' },
)
export const ExplainedDeliverySchema = Type.Object(
  {
    ...DeliverySchema.properties,
    error: nullable(Type.String({ description: 'Why there was no response, for people' })),
  },
  { title: 'ExplainedDelivery' },
)
const WebhookPath = Type.Object({
  id: Type.String({
    description: 'The webhook identifier, as a response gave it',
    example: 'whk_0mjvbk3w000000x2m9q4w1z8',
  }),
})
const EventPath = Type.Object({
  id: Type.String({
    description: 'The event identifier, as a response gave it',
    example: 'evt_0mjvbk3w00k7x2m9q4w1z8t5a',
  }),
})
const ListQuery = Type.Object(pageQuery(PAGE))

const REQUEST_EXAMPLE = {
  name: 'Fulfilment',
  url: 'http://127.0.0.1:3000/hooks',
  events: ['order.*' as const, 'payout.completed' as const],
}
const SECRET = 'whsec_pSp+0kuW9Uq5JtJqRDnpIcB5mbUyAEwSJrG1Gr1MgN4='
export const WEBHOOK_EXAMPLE = {
  id: 'whk_0mjvbk3w000000x2m9q4w1z8',
  ...REQUEST_EXAMPLE,
  signing: 'standard' as const,
  active: true,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  disabled_reason: null,
}
const PING_EXAMPLE = {
  ...EVENT_EXAMPLE,
  type: 'ping' as const,
  data: { webhook_id: 'whk_0mjvbk3w000000x2m9q4w1z8' },
}

export const listWebhooks = operation({
  id: 'listWebhooks',
  unexpectedError: 'Failed to retrieve webhooks',
  summary: 'List webhooks',
  description: 'The newest first, without their secrets.',
  query: ListQuery,
  success: pageOf('A page of webhooks', WebhookSchema, WEBHOOK_EXAMPLE),
  errors: LIST_WEBHOOKS_ERRORS,
})

export const createWebhook = (rulesFor: RulesFor) =>
  operation({
    id: 'createWebhook',
    unexpectedError: 'Failed to create webhook',
    summary: 'Create a webhook',
    description: 'Events are posted to it from now on. Its secret verifies them, and is not shown again.',
    body: WebhookBody,
    read: (sent, request) => readWebhook(sent, rulesFor(request)),
    bodyExample: REQUEST_EXAMPLE,
    success: {
      status: 201,
      description: 'The webhook and its secret',
      schema: WebhookWithSecretSchema,
      example: { ...WEBHOOK_EXAMPLE, secret: SECRET },
      headers: CREATED_HEADERS,
    },
    errors: CREATE_WEBHOOK_ERRORS,
  })

export const getWebhook = operation({
  id: 'getWebhook',
  unexpectedError: 'Failed to retrieve webhook',
  summary: 'Get a webhook',
  description: 'Without its secret.',
  params: WebhookPath,
  success: { status: 200, description: 'The webhook', schema: WebhookSchema, example: WEBHOOK_EXAMPLE },
  errors: GET_WEBHOOK_ERRORS,
})

export const updateWebhook = (rulesFor: RulesFor) =>
  operation({
    id: 'updateWebhook',
    unexpectedError: 'Failed to update webhook',
    summary: 'Change a webhook, or switch it off or on',
    description: 'While it is off, nothing is queued for it. Switching it off drops the deliveries that wait.',
    params: WebhookPath,
    body: WebhookUpdateBody,
    read: (sent, request) => readUpdate(sent, rulesFor(request)),
    bodyExample: { name: 'Warehouse' },
    success: {
      status: 200,
      description: 'The webhook as it is now',
      schema: WebhookSchema,
      example: { ...WEBHOOK_EXAMPLE, name: 'Warehouse' },
    },
    errors: UPDATE_WEBHOOK_ERRORS,
  })

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  unexpectedError: 'Failed to delete webhook',
  summary: 'Delete a webhook',
  description: 'Deliveries that wait for it are dropped.',
  params: WebhookPath,
  success: { status: 204, description: 'The webhook is deleted' },
  errors: DELETE_WEBHOOK_ERRORS,
})

export const rotateSecret = operation({
  id: 'rotateWebhookSecret',
  unexpectedError: 'Failed to rotate webhook',
  summary: 'Get a new secret',
  description: 'For 24 hours, deliveries are signed with both secrets. A second rotation ends the oldest at once.',
  params: WebhookPath,
  success: {
    status: 200,
    description: 'The webhook and its new secret',
    schema: WebhookWithSecretSchema,
    example: { ...WEBHOOK_EXAMPLE, secret: SECRET },
  },
  errors: ROTATE_WEBHOOK_ERRORS,
})

export const pingWebhook = operation({
  id: 'pingWebhook',
  unexpectedError: 'Failed to ping webhook',
  summary: 'Send a ping to a webhook',
  description: 'To this webhook alone, whatever its filter.',
  params: WebhookPath,
  success: {
    status: 202,
    description: 'The event that is delivered',
    schema: EventSchema,
    example: PING_EXAMPLE,
  },
  errors: PING_WEBHOOK_ERRORS,
})

export const listDeliveries = operation({
  id: 'listDeliveries',
  unexpectedError: 'Failed to retrieve deliveries',
  summary: 'List the deliveries of a webhook',
  description: 'Every attempt and the response of the receiver, the newest first.',
  params: WebhookPath,
  query: ListQuery,
  success: pageOf('A page of attempts', DeliverySchema, {
    id: 1,
    event_id: 'evt_0mjvbk3w00k7x2m9q4w1z8t5a',
    event_type: 'ping',
    attempt: 1,
    status: 'delivered',
    response_status: 200,
    duration_ms: 12,
    response_body: 'ok',
    next_attempt_at: null,
    created_at: '2026-01-01T00:00:00.000Z',
  }),
  errors: LIST_DELIVERIES_ERRORS,
})

export const redeliverEvent = operation({
  id: 'redeliverEvent',
  unexpectedError: 'Failed to deliver event',
  summary: 'Deliver an event again',
  description: 'To each of your active webhooks whose filter fits, with the same id and body.',
  params: EventPath,
  success: { status: 202, description: 'The event that is delivered', schema: EventSchema, example: EVENT_EXAMPLE },
  errors: REDELIVER_ERRORS,
})
