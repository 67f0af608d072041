import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { requireClient, sentBody } from '../../http/body.ts'
import { sinceStartMs, systemClock, toTimestamp } from '../../kernel/clock.ts'
import { consoleRoutes } from '../console/routes.ts'
import { clientRoutes, productRoutes, rateRoutes } from '../editing/routes.ts'
import { faultRoutes } from '../faults/routes.ts'
import { feedRoutes } from '../feed/routes.ts'
import type { Parts } from '../parts.ts'
import { reconcileRoutes } from '../reconcile/routes.ts'
import { dueRoutes } from '../records/due.ts'
import { recordRoutes } from '../records/routes.ts'
import { requestRoutes } from '../requests/routes.ts'
import { scenarioRoutes } from '../scenario/routes.ts'
import { testValueRoutes } from '../test-values/routes.ts'
import { inboxReceiver, inboxRoutes, webhookRoutes } from '../webhooks/routes.ts'
import { requireWorlds } from '../worlds/operations.ts'
import { clockRoutes, snapshotRoutes, worldRoutes } from '../worlds/routes.ts'
import { frontRoutes } from './front-routes.ts'
import { ledgerRoutes } from './ledger.ts'
import { controlOperation } from './operation.ts'
import { orderRoutes, paceRoutes, payoutRoutes } from './operator.ts'
import { walletRoutes } from './wallets.ts'

/** The front page, which is open to everyone, then the control API (contract C15). */
export const sandboxRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox' })
    .use(frontRoutes(parts))
    .use(consoleRoutes())
    .use(inboxReceiver(parts))
    .use(controlRoutes(parts))

/** The world that a request makes need not exist before. */
const WORLD_ROUTE = '/_sandbox/worlds/:name'

const controlRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-control', prefix: '/_sandbox' })
    .onTransform({ as: 'scoped' }, async ({ request, path, route }) => {
      parts.gate(request)
      await parts.refuseUnknown({ request, path, route })
    })
    .onBeforeHandle({ as: 'scoped' }, async ({ request, route, params, query }) => {
      if (request.method !== 'GET' && sentBody(request) === undefined) await requireClient(request)
      const isMade = request.method === 'PUT' && route === WORLD_ROUTE && params.name === query.world
      if (!isMade) requireWorlds(parts.worlds, query.world)
    })
    .use(indexRoutes(parts))
    .use(clockRoutes(parts))
    .use(worldRoutes(parts))
    .use(snapshotRoutes(parts))
    .use(faultRoutes(parts))
    .use(paceRoutes(parts))
    .use(productRoutes(parts))
    .use(rateRoutes(parts))
    .use(clientRoutes(parts))
    .use(walletRoutes(parts))
    .use(payoutRoutes(parts))
    .use(orderRoutes(parts))
    .use(recordRoutes(parts))
    .use(dueRoutes(parts))
    .use(ledgerRoutes(parts))
    .use(inboxRoutes(parts))
    .use(webhookRoutes(parts))
    .use(scenarioRoutes(parts))
    .use(requestRoutes(parts))
    .use(reconcileRoutes(parts))
    .use(feedRoutes(parts))
    .use(testValueRoutes(parts))

const LINKS = [
  'worlds',
  'snapshots',
  'clock',
  'due',
  'pace',
  'clients',
  'rates',
  'inbox',
  'errors',
  'faults',
  'wallets',
  'orders',
  'payouts',
  'webhooks',
  'events',
  'ledger',
  'requests',
  'feed',
  'coverage',
  'test-values',
]
  .map((name) => `/_sandbox/${name}`)
  .concat('/docs', '/openapi.json')

const indexRoutes = ({ worlds, version }: Parts) => {
  const startedAt = toTimestamp(systemClock.nowMs() - sinceStartMs())
  return new Elysia({ name: 'sandbox-index' }).get(
    '/',
    () => ({ version, started_at: startedAt, worlds: [...worlds.names], links: LINKS }),
    controlOperation('sandbox')({
      id: 'getSandbox',
      summary: 'See what the sandbox offers',
      description: 'Lists the worlds, and links to the rest of the control API.',
      success: {
        status: 200,
        description: 'Version, start, worlds and links',
        schema: Type.Object(
          {
            version: Type.String(),
            started_at: Type.String({
              format: 'date-time',
              description: 'When the process started, by the real clock: what is in memory alone is not older',
            }),
            worlds: Type.Array(Type.String()),
            links: Type.Array(Type.String()),
          },
          { title: 'Sandbox' },
        ),
        example: { version: '0.1.0', started_at: '2026-01-01T00:00:00.000Z', worlds: ['default'], links: LINKS },
      },
    }),
  )
}
