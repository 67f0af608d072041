import { Elysia } from 'elysia'
import { EVENT_NOT_FOUND } from '../../events/errors.ts'
import { findAnyEvent, latestEvents } from '../../events/queries.ts'
import { eventWire } from '../../events/wire.ts'
import { toTimestampOrNull } from '../../kernel/clock.ts'
import { found } from '../../kernel/failure.ts'
import { toMajor } from '../../kernel/money.ts'
import { latestOrders } from '../../orders/queries.ts'
import { orderWire } from '../../orders/wire.ts'
import { eventsOf, latestPayouts } from '../../payouts/queries.ts'
import { payoutWire } from '../../payouts/wire.ts'
import { walletsOf } from '../../wallets/queries.ts'
import { walletWire } from '../../wallets/wire.ts'
import { allWebhooks, latestAttempts } from '../../webhooks/queries.ts'
import { countQueued } from '../../webhooks/queue-queries.ts'
import { redeliver } from '../../webhooks/webhooks.ts'
import { explainedAttemptWire, webhookWire } from '../../webhooks/wire.ts'
import { caughtUpWorld, presentWorld } from '../control/operator-routes.ts'
import type { Parts } from '../parts.ts'
import * as operations from './operations.ts'

const ATTEMPTS_SHOWN = 20

export const recordRoutes = (parts: Parts) => {
  const { reference } = parts
  return new Elysia({ name: 'sandbox-records' })
    .get(
      '/orders',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return latestOrders(db.query, query.limit).map((order) => {
          const { vouchers: _, charges: __, ...wire } = orderWire(order, [], reference)
          const { clientId: client_id, deliveredQuantity: delivered_quantity, dueAtMs } = order
          return { client_id, ...wire, delivered_quantity, due_at: toTimestampOrNull(dueAtMs) }
        })
      },
      operations.listOrders,
    )
    .get(
      '/payouts',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return latestPayouts(db.query, query.limit).map((payout) => ({
          client_id: payout.clientId,
          ...payoutWire(payout, eventsOf(db.query, payout.id), reference),
          submitted: payout.submittedAtMs !== null,
          returned: payout.returned,
          due_at: toTimestampOrNull(payout.dueAtMs),
        }))
      },
      operations.listPayouts,
    )
    .get(
      '/wallets',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return Array.from(walletsOf(db.query, {}), (wallet) => {
          const { precision } = reference.getCurrency(wallet.currencyId)
          const { clientId: client_id, thresholdMinor } = wallet
          const threshold = thresholdMinor === null ? null : toMajor(thresholdMinor, precision)
          return { client_id, ...walletWire(wallet, reference), threshold }
        })
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
      async ({ params, query, set }) => {
        const world = await presentWorld(parts, query.world)
        parts.deliveries.watch(world)
        const webhooks = await world.db.write((tx) =>
          redeliver(tx, world, found(findAnyEvent(tx, params.id), EVENT_NOT_FOUND)),
        )
        parts.deliveries.wake()
        set.status = 202
        return { webhooks }
      },
      operations.redeliverEvent,
    )
    .get(
      '/webhooks',
      async ({ query }) => {
        const { db } = await caughtUpWorld(parts, query.world)
        return allWebhooks(db.query).map((webhook) => ({
          client_id: webhook.clientId,
          ...webhookWire(webhook),
          waiting: countQueued(db.query, { webhookId: webhook.id, droppedTo: webhook.droppedTo }),
          deliveries: latestAttempts(db.query, webhook.id, ATTEMPTS_SHOWN).map(explainedAttemptWire),
        }))
      },
      operations.listWebhooks,
    )
}
