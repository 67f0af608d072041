import { Elysia } from 'elysia'
import { EVENT_NOT_FOUND, eventWire } from '../../events/contract.ts'
import { findAnyEvent, latestEvents } from '../../events/queries.ts'
import { found } from '../../kernel/failure.ts'
import { latestOrders } from '../../orders/queries.ts'
import { latestPayouts } from '../../payouts/queries.ts'
import { walletsOf } from '../../wallets/queries.ts'
import { allWebhooks } from '../../webhooks/queries.ts'
import { redeliver } from '../../webhooks/webhooks.ts'
import type { World } from '../../worlds/world.ts'
import { caughtUpWorld, presentWorld } from '../control/operator.ts'
import type { Parts } from '../parts.ts'
import * as operations from './operations.ts'
import { worldOrderWire, worldPayoutWire, worldWalletWire, worldWebhookWire } from './wire.ts'

export const recordRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-records' })
    .get(
      '/orders',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return latestOrders(db.query, query.limit).map((order) => worldOrderWire(order, parts.reference))
      },
      operations.listOrders,
    )
    .get(
      '/payouts',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return latestPayouts(db.query, query.limit).map((payout) => worldPayoutWire(db.query, payout, parts.reference))
      },
      operations.listPayouts,
    )
    .get(
      '/wallets',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return Array.from(walletsOf(db.query, {}), (wallet) => worldWalletWire(wallet, parts.reference))
      },
      operations.listWallets,
    )
    .get(
      '/events',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return latestEvents(db.query, query.limit).map((event) => ({ client_id: event.clientId, ...eventWire(event) }))
      },
      operations.listEvents,
    )
    .post(
      '/events/:id/redeliver',
      async ({ params, query, body }) => {
        const world = await presentWorld(parts, query.world)
        return { webhooks: await redeliverIn(world, params.id, body.webhook_id, parts.deliveries) }
      },
      operations.redeliverEvent,
    )
    .get(
      '/webhooks',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return allWebhooks(db.query).map((webhook) => worldWebhookWire(db.query, webhook))
      },
      operations.listWebhooks,
    )

/** Returns how many webhooks get the event. @throws DomainError event_not_found */
const redeliverIn = async (
  world: World,
  eventId: string,
  webhookId: string | undefined,
  deliveries: Parts['deliveries'],
): Promise<number> => {
  deliveries.watch(world)
  const count = await world.db.write((tx) =>
    redeliver(tx, world, found(findAnyEvent(tx, eventId), EVENT_NOT_FOUND), webhookId),
  )
  deliveries.wake()
  return count
}
