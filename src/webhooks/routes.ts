import { Elysia } from 'elysia'
import { EVENT_EXAMPLE, EVENT_NOT_FOUND, EventPath, EventSchema, eventWire } from '../events/contract.ts'
import { findEvent } from '../events/queries.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import type { JsonObject } from '../http/json.ts'
import { operationsOf, pageOf } from '../http/operation.ts'
import { newestOf, paged, sliceOf } from '../http/pagination.ts'
import { found, violation } from '../kernel/failure.ts'
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
  /** Where the receivers that a request names may be. */
  rulesFor: (request: Request) => AddressRules
  deliveries: Deliveries
}

const operation = operationsOf({
  tag: 'Webhooks',
  tagDescription: 'Where your events are sent, with a signature, as they happen.',
})

const PAGE_WRONG = violation('limit', 'max', 'must be at most 100')

const operationsWith = (rulesFor: WebhookRoutesOptions['rulesFor']) => ({
  list: operation({
    id: 'listWebhooks',
    summary: 'List webhooks',
    description: 'The newest first, without their secrets.',
    query: PageQuery,
    success: pageOf('A page of webhooks', WebhookSchema),
    errors: { 'webhooks.list_validation': PAGE_WRONG },
  }),
  create: operation({
    id: 'createWebhook',
    summary: 'Create a webhook',
    description: 'Events are posted to it from now on. Its secret verifies them, and is not shown again.',
    body: WebhookBody,
    read: (sent: JsonObject, request: Request) => readWebhook(sent, rulesFor(request)),
    secret: true,
    success: { status: 201, description: 'The webhook and its secret', schema: WebhookWithSecretSchema },
    errors: {
      'webhooks.body_unreadable': BODY_UNREADABLE,
      'webhooks.validation': violation('url', 'required', 'is required'),
      'webhooks.too_many': TOO_MANY_WEBHOOKS,
    },
  }),
  get: operation({
    id: 'getWebhook',
    summary: 'Get a webhook',
    description: 'Without its secret.',
    params: WebhookPath,
    success: { status: 200, description: 'The webhook', schema: WebhookSchema },
    errors: { 'webhooks.not_found': WEBHOOK_NOT_FOUND },
  }),
  update: operation({
    id: 'updateWebhook',
    summary: 'Change a webhook, or switch it off or on',
    description: 'While it is off, nothing is queued for it. Switching it off drops the deliveries that wait.',
    params: WebhookPath,
    body: WebhookUpdateBody,
    bodyExample: { name: 'Warehouse' },
    read: (sent: JsonObject, request: Request) => readUpdate(sent, rulesFor(request)),
    success: {
      status: 200,
      description: 'The webhook as it is now',
      schema: WebhookSchema,
      example: { ...WEBHOOK_EXAMPLE, name: 'Warehouse' },
    },
    errors: {
      'webhooks.update_body_unreadable': BODY_UNREADABLE,
      'webhooks.update_validation': violation('active', 'format', 'must be true or false'),
      'webhooks.update_not_found': WEBHOOK_NOT_FOUND,
    },
  }),
  remove: operation({
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deliveries that wait for it are dropped.',
    params: WebhookPath,
    success: { status: 204, description: 'The webhook is deleted' },
    errors: { 'webhooks.delete_not_found': WEBHOOK_NOT_FOUND },
  }),
  rotate: operation({
    id: 'rotateWebhookSecret',
    unexpectedError: 'Failed to rotate webhook',
    summary: 'Get a new secret',
    description: 'For 24 hours, deliveries are signed with both secrets. A second rotation ends the oldest at once.',
    params: WebhookPath,
    secret: true,
    success: { status: 200, description: 'The webhook and its new secret', schema: WebhookWithSecretSchema },
    errors: { 'webhooks.rotate_not_found': WEBHOOK_NOT_FOUND },
  }),
  ping: operation({
    id: 'pingWebhook',
    summary: 'Send a ping to a webhook',
    description: 'To this webhook alone, whatever its filter.',
    params: WebhookPath,
    success: {
      status: 202,
      description: 'The event that is delivered',
      schema: EventSchema,
      example: { ...EVENT_EXAMPLE, type: 'ping', data: { webhook_id: WEBHOOK_EXAMPLE.id } },
    },
    errors: { 'webhooks.ping_not_found': WEBHOOK_NOT_FOUND, 'webhooks.not_active': WEBHOOK_NOT_ACTIVE },
  }),
  listDeliveries: operation({
    id: 'listDeliveries',
    summary: 'List the deliveries of a webhook',
    description: 'Every attempt and the response of the receiver, the newest first.',
    params: WebhookPath,
    query: PageQuery,
    success: pageOf('A page of attempts', DeliverySchema),
    errors: { 'webhooks.deliveries_validation': PAGE_WRONG, 'webhooks.deliveries_not_found': WEBHOOK_NOT_FOUND },
  }),
  redeliver: operation({
    id: 'redeliverEvent',
    unexpectedError: 'Failed to deliver event',
    summary: 'Deliver an event again',
    description: 'To each of your active webhooks whose filter fits, with the same id and body.',
    params: EventPath,
    success: { status: 202, description: 'The event that is delivered', schema: EventSchema },
    errors: { 'events.redeliver_not_found': EVENT_NOT_FOUND },
  }),
})

/** Webhooks and their deliveries (contract C16). */
export const webhookRoutes = ({ guard, secrets, rulesFor, deliveries }: WebhookRoutesOptions) => {
  const operations = operationsWith(rulesFor)
  return new Elysia({ name: 'webhooks', prefix: '/api/v1' })
    .use(guard.plugin())
    .get(
      '/webhooks',
      ({ query, session: { world, client }, set }) => {
        const all = allWebhooks(world.db.query, client.id)
        const { limit, offset } = sliceOf(query)
        const entries = all.slice(offset, offset + limit).map(webhookWire)
        return paged(set, query, { entries, totalCount: all.length })
      },
      operations.list,
    )
    .post(
      '/webhooks',
      async ({ body, session: { world, client, write }, set }) => {
        const { webhook, secret } = await write((tx) => createWebhook(tx, world, secrets, client.id, body))
        set.headers.Location = `/api/v1/webhooks/${webhook.id}`
        return { ...webhookWire(webhook), secret }
      },
      operations.create,
    )
    .get('/webhooks/:id', ({ params, session }) => webhookWire(getWebhook(session, params.id)), operations.get)
    .patch(
      '/webhooks/:id',
      async ({ params, body, session }) => {
        const { world, write } = session
        const changed = await write((tx) => changeWebhook(tx, world, getWebhook(session, params.id, tx), body))
        if (!changed.active) deliveries.clear(world)
        return webhookWire(changed)
      },
      operations.update,
    )
    .delete(
      '/webhooks/:id',
      async ({ params, session }) => {
        await session.write((tx) => deleteWebhook(tx, getWebhook(session, params.id, tx)))
        deliveries.clear(session.world)
      },
      operations.remove,
    )
    .post(
      '/webhooks/:id/rotate',
      async ({ params, session }) => {
        const { world, write } = session
        const { webhook, secret } = await write((tx) =>
          rotateSecret(tx, world, secrets, getWebhook(session, params.id, tx)),
        )
        return { ...webhookWire(webhook), secret }
      },
      operations.rotate,
    )
    .post(
      '/webhooks/:id/ping',
      async ({ params, session }) =>
        eventWire(await session.write((tx) => pingWebhook(tx, session.world, getWebhook(session, params.id, tx)))),
      operations.ping,
    )
    .get(
      '/webhooks/:id/deliveries',
      ({ params, query, session, set }) => {
        const { id: webhookId } = getWebhook(session, params.id)
        return paged(set, query, attemptList.page(session, { filters: { webhookId }, ...newestOf(query) }, attemptWire))
      },
      operations.listDeliveries,
    )
    .post(
      '/events/:id/redeliver',
      async ({ params, session: { world, client, write } }) =>
        write((tx) => {
          const event = found(findEvent(tx, client.id, params.id), EVENT_NOT_FOUND)
          redeliver(tx, world, event)
          return eventWire(event)
        }),
      operations.redeliver,
    )
}
