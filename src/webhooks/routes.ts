import { Elysia } from 'elysia'
import type { Query } from '../db/database.ts'
import { EVENT_NOT_FOUND } from '../events/errors.ts'
import { ROUTE as EVENTS_ROUTE } from '../events/operations.ts'
import { findEvent } from '../events/queries.ts'
import { eventWire } from '../events/wire.ts'
import { pageHeaders, sliceOf } from '../http/pagination.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Deliveries } from './deliveries.ts'
import { WEBHOOK_NOT_FOUND } from './errors.ts'
import * as operations from './operations.ts'
import { ROUTE } from './operations.ts'
import { allWebhooks, attemptList, findWebhook, type Webhook } from './queries.ts'
import type { Secrets } from './secrets.ts'
import { changeWebhook, createWebhook, deleteWebhook, pingWebhook, redeliver, rotateSecret } from './webhooks.ts'
import { attemptWire, webhookWire, withSecretWire } from './wire.ts'

/** Webhooks and their deliveries (contract C16). Errors leave in the structured shape. */

interface WebhookRoutesOptions {
  guard: Guard
  secrets: Secrets
  rulesFor: operations.RulesFor
  deliveries: Deliveries
}

/** A secret is in no cache (contract C16). */
const NO_STORE = { 'Cache-Control': 'no-store' }

export const webhookRoutes = (options: WebhookRoutesOptions) =>
  new Elysia({ name: 'webhooks' })
    .use(recordRoutes(options))
    .use(deliveryRoutes(options))
    .use(redeliveryRoutes(options))

const recordRoutes = ({ guard, secrets, rulesFor, deliveries }: WebhookRoutesOptions) =>
  new Elysia({ name: 'webhook-records', prefix: ROUTE })
    .use(guard.plugin())
    .get(
      '/',
      ({ query, session: { world, client }, set }) => {
        const all = allWebhooks(world.db.query, client.id)
        const { limit, offset } = sliceOf(query)
        Object.assign(set.headers, pageHeaders(query, all.length))
        return all.slice(offset, offset + limit).map(webhookWire)
      },
      operations.listWebhooks,
    )
    .post(
      '/',
      async ({ body: wanted, session: { world, client, write }, set }) => {
        const created = await write((tx) => createWebhook(tx, world, secrets, client.id, wanted))
        set.status = 201
        Object.assign(set.headers, NO_STORE, { Location: `${ROUTE}/${created.webhook.id}` })
        return withSecretWire(created)
      },
      operations.createWebhook(rulesFor),
    )
    .get(
      '/:id',
      ({ params, session: { world, client } }) => webhookWire(getWebhook(world.db.query, client.id, params.id)),
      operations.getWebhook,
    )
    .patch(
      '/:id',
      async ({ params, body: wanted, session: { world, client, write } }) => {
        const changed = await write((tx) => changeWebhook(tx, world, getWebhook(tx, client.id, params.id), wanted))
        if (!changed.active) deliveries.clear(world)
        return webhookWire(changed)
      },
      operations.updateWebhook(rulesFor),
    )
    .delete(
      '/:id',
      async ({ params, session: { world, client, write }, set }) => {
        await write((tx) => deleteWebhook(tx, getWebhook(tx, client.id, params.id)))
        deliveries.clear(world)
        set.status = 204
      },
      operations.deleteWebhook,
    )

const deliveryRoutes = ({ guard, secrets }: WebhookRoutesOptions) =>
  new Elysia({ name: 'webhook-deliveries', prefix: `${ROUTE}/:id` })
    .use(guard.plugin())
    .post(
      '/rotate',
      async ({ params, session: { world, client, write }, set }) => {
        const rotated = await write((tx) => rotateSecret(tx, world, secrets, getWebhook(tx, client.id, params.id)))
        Object.assign(set.headers, NO_STORE)
        return withSecretWire(rotated)
      },
      operations.rotateSecret,
    )
    .post(
      '/ping',
      async ({ params, session: { world, client, write }, set }) => {
        const event = await write((tx) => pingWebhook(tx, world, getWebhook(tx, client.id, params.id)))
        set.status = 202
        return eventWire(event)
      },
      operations.pingWebhook,
    )
    .get(
      '/deliveries',
      async ({ params, query, session, set }) => {
        const { id: webhookId } = getWebhook(session.world.db.query, session.client.id, params.id)
        const slice = { filters: { webhookId }, sort: 'id', direction: 'DESC', ...sliceOf(query) } as const
        const { entries, totalCount } = await attemptList.page(session, slice, attemptWire)
        Object.assign(set.headers, pageHeaders(query, totalCount))
        return entries
      },
      operations.listDeliveries,
    )

const redeliveryRoutes = ({ guard }: WebhookRoutesOptions) =>
  new Elysia({ name: 'redeliveries', prefix: EVENTS_ROUTE }).use(guard.plugin()).post(
    '/:id/redeliver',
    async ({ params, session: { world, client, write }, set }) => {
      const event = await write((tx) => {
        const event = found(findEvent(tx, client.id, params.id), EVENT_NOT_FOUND)
        redeliver(tx, world, event)
        return event
      })
      set.status = 202
      return eventWire(event)
    },
    operations.redeliverEvent,
  )

/** @throws DomainError not_found */
const getWebhook = (query: Query, clientId: number, id: string): Webhook =>
  found(findWebhook(query, clientId, id), WEBHOOK_NOT_FOUND)
