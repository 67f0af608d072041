import { EVENT_EXAMPLE, EVENT_NOT_FOUND, EventPath, EventSchema, eventWire } from '../events/contract.ts'
import { findEvent } from '../events/queries.ts'
import type { JsonObject } from '../http/json.ts'
import { pageOf } from '../http/operation.ts'
import { newestOf, paged, sliceOf } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { foundOr, violation } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { AddressRules } from './addresses.ts'
import {
  attemptWire,
  DeliverySchema,
  PageQuery,
  readUpdate,
  readWebhook,
  TOO_MANY_WEBHOOKS,
  WEBHOOK_EXAMPLE,
  WEBHOOK_NOT_ACTIVE,
  WEBHOOK_NOT_FOUND,
  WebhookBody,
  WebhookPath,
  WebhookSchema,
  WebhookUpdateBody,
  WebhookWithSecretSchema,
  webhookWire,
} from './contract.ts'
import type { Deliveries } from './deliveries.ts'
import { allWebhooks, attemptList } from './queries.ts'
import type { Secrets } from './secrets.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  pingWebhook,
  redeliver,
  rotateSecret,
} from './webhooks.ts'

interface WebhookRoutesOptions {
  guard: Guard
  secrets: Secrets
  /** The rules for the receivers that a request names. */
  rulesFor: (request: Request) => AddressRules
  deliveries: Deliveries
}

const PAGE_WRONG = violation('limit', 'max', 'must be at most 100')

/** Webhooks and their deliveries (contract C16). */
export const webhookRoutes = ({ guard, secrets, rulesFor, deliveries }: WebhookRoutesOptions) =>
  guard
    .routes({
      prefix: '/api/v1',
      tag: 'Webhooks',
      tagDescription: 'The receivers of your events, which are signed and sent as they happen.',
      names: 'webhooks.',
    })
    .get(
      '/webhooks',
      ({ query, session: { world, client }, set }) => {
        const all = allWebhooks(world.db.query, client.id)
        const { limit, offset } = sliceOf(query)
        const entries = all.slice(offset, offset + limit).map(webhookWire)
        return paged(set, query, { entries, totalCount: all.length })
      },
      {
        id: 'listWebhooks',
        summary: 'List webhooks',
        description: 'The newest first, without their secrets.',
        query: PageQuery,
        response: pageOf('A page of webhooks', WebhookSchema),
        refuses: { list_validation: PAGE_WRONG },
      },
    )
    .post(
      '/webhooks',
      async (incoming) => {
        const { world, client } = incoming.session
        return once(
          incoming,
          (tx, input) => {
            const { webhook, secret } = createWebhook(tx, world, secrets, client.id, input)
            return { ...webhookWire(webhook), secret }
          },
          secrets.cipherOf,
        )
      },
      {
        id: 'createWebhook',
        summary: 'Create a webhook',
        description: 'Events are posted to it from now on. Its secret verifies them, and is not shown again.',
        body: WebhookBody,
        read: (sent: JsonObject, request: Request) => readWebhook(sent, rulesFor(request)),
        once: true,
        response: { status: 201, description: 'The webhook and its secret', schema: WebhookWithSecretSchema },
        refuses: { validation: violation('url', 'required', 'is required'), too_many: TOO_MANY_WEBHOOKS },
      },
    )
    .get('/webhooks/:id', ({ params, session }) => webhookWire(getWebhook(session, params.id)), {
      id: 'getWebhook',
      summary: 'Get a webhook',
      description: 'Without its secret.',
      params: WebhookPath,
      response: { description: 'The webhook', schema: WebhookSchema },
      refuses: { not_found: WEBHOOK_NOT_FOUND },
    })
    .patch(
      '/webhooks/:id',
      async ({ params, body, session }) => {
        const { world, write } = session
        const changed = await write((tx) => changeWebhook(tx, world, getWebhook(session, params.id, tx), body))
        if (!changed.active) deliveries.clear(world)
        return webhookWire(changed)
      },
      {
        id: 'updateWebhook',
        summary: 'Change a webhook, or switch it off or on',
        description: 'While it is off, nothing is queued for it. Switching it off drops the deliveries that wait.',
        names: 'webhooks.update_',
        params: WebhookPath,
        body: WebhookUpdateBody,
        bodyExample: { name: 'Warehouse' },
        read: (sent: JsonObject, request: Request) => readUpdate(sent, rulesFor(request)),
        response: {
          description: 'The webhook as it is now',
          schema: WebhookSchema,
          example: { ...WEBHOOK_EXAMPLE, name: 'Warehouse' },
        },
        refuses: {
          validation: violation('active', 'format', 'must be true or false'),
          not_found: WEBHOOK_NOT_FOUND,
        },
      },
    )
    .delete(
      '/webhooks/:id',
      async ({ params, session }) => {
        await session.write((tx) => deleteWebhook(tx, getWebhook(session, params.id, tx)))
        deliveries.clear(session.world)
      },
      {
        id: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Deliveries that wait for it are dropped.',
        params: WebhookPath,
        response: { status: 204, description: 'The webhook is deleted' },
        refuses: { delete_not_found: WEBHOOK_NOT_FOUND },
      },
    )
    .post(
      '/webhooks/:id/rotate',
      async (incoming) => {
        const { params, session } = incoming
        return once(
          incoming,
          (tx) => {
            const { webhook, secret } = rotateSecret(tx, session.world, secrets, getWebhook(session, params.id, tx))
            return { ...webhookWire(webhook), secret }
          },
          secrets.cipherOf,
        )
      },
      {
        id: 'rotateWebhookSecret',
        unexpectedError: 'Failed to rotate webhook',
        summary: 'Get a new secret',
        description:
          'For 24 hours, deliveries are signed with both secrets. A second rotation ends the oldest immediately.',
        params: WebhookPath,
        once: true,
        response: { description: 'The webhook and its new secret', schema: WebhookWithSecretSchema },
        refuses: { rotate_not_found: WEBHOOK_NOT_FOUND },
      },
    )
    .post(
      '/webhooks/:id/ping',
      async (incoming) => {
        const { params, session } = incoming
        return once(incoming, (tx) => eventWire(pingWebhook(tx, session.world, getWebhook(session, params.id, tx))))
      },
      {
        id: 'pingWebhook',
        summary: 'Send a ping to a webhook',
        description: 'It goes only to this webhook, regardless of its filter.',
        params: WebhookPath,
        once: true,
        response: {
          status: 202,
          description: 'The event that is delivered',
          schema: EventSchema,
          example: { ...EVENT_EXAMPLE, type: 'ping', data: { webhook_id: WEBHOOK_EXAMPLE.id } },
        },
        refuses: { ping_not_found: WEBHOOK_NOT_FOUND, not_active: WEBHOOK_NOT_ACTIVE },
      },
    )
    .get(
      '/webhooks/:id/deliveries',
      ({ params, query, session, set }) => {
        const { id: webhookId } = getWebhook(session, params.id)
        return paged(set, query, attemptList.page(session, { filters: { webhookId }, ...newestOf(query) }, attemptWire))
      },
      {
        id: 'listDeliveries',
        summary: 'List the deliveries of a webhook',
        description: 'Every attempt and the response of the receiver, the newest first.',
        params: WebhookPath,
        query: PageQuery,
        response: pageOf('A page of attempts', DeliverySchema),
        refuses: { deliveries_validation: PAGE_WRONG, deliveries_not_found: WEBHOOK_NOT_FOUND },
      },
    )
    .post(
      '/events/:id/redeliver',
      async (incoming) => {
        const { params, session } = incoming
        return once(incoming, (tx) => {
          const event = foundOr(findEvent(tx, session.client.id, params.id), EVENT_NOT_FOUND)
          redeliver(tx, session.world, event)
          return eventWire(event)
        })
      },
      {
        id: 'redeliverEvent',
        unexpectedError: 'Failed to deliver event',
        summary: 'Deliver an event again',
        description: 'To each of your active webhooks whose filter fits, with the same id and body.',
        names: 'events.',
        params: EventPath,
        once: true,
        response: { status: 202, description: 'The event that is delivered', schema: EventSchema },
        refuses: { redeliver_not_found: EVENT_NOT_FOUND },
      },
    )
