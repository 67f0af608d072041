import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { requireClient, sentBody } from '../../http/body.ts'
import { asked } from '../../http/request-id.ts'
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
import { requireWorlds } from '../worlds/contract.ts'
import { UnusedWorldQuery } from '../worlds/query.ts'
import { clockRoutes, snapshotRoutes, worldRoutes } from '../worlds/routes.ts'
import { frontRoutes } from './front-page.ts'
import { ledgerRoutes } from './ledger.ts'
import { controlRoutes } from './operation.ts'
import { paceRoutes } from './pace.ts'
import { orderRoutes, payoutRoutes } from './steps.ts'
import { walletRoutes } from './wallets.ts'

/** The front page, which is open to everyone, then the control API (contract C15). */
export const sandboxRoutes = (parts: Parts) =>
  new Elysia()
    .use(frontRoutes(parts).plugin)
    .use(consoleRoutes())
    .use(inboxReceiver(parts).plugin)
    .use(protectedRoutes(parts))

/** A request to this path makes its world, which need not exist before. */
const WORLD_ROUTE = '/_sandbox/worlds/:name'

const protectedRoutes = (parts: Parts) =>
  new Elysia({ prefix: '/_sandbox' })
    .use(asked)
    .onTransform({ as: 'scoped' }, async ({ request, path, route, operation }) => {
      parts.requireAccess(request)
      await parts.refuseUnknown({ request, path, route, operation })
    })
    .onBeforeHandle({ as: 'scoped' }, async ({ request, route, params, query }) => {
      if (request.method !== 'GET' && sentBody(request) === undefined) await requireClient(request)
      const isMade = request.method === 'PUT' && route === WORLD_ROUTE && params.name === query.world
      if (!isMade) requireWorlds(parts.worlds, query.world)
    })
    .use(indexRoutes(parts).plugin)
    .use(clockRoutes(parts).plugin)
    .use(worldRoutes(parts).plugin)
    .use(snapshotRoutes(parts).plugin)
    .use(faultRoutes(parts).plugin)
    .use(paceRoutes(parts).plugin)
    .use(productRoutes(parts).plugin)
    .use(rateRoutes(parts).plugin)
    .use(clientRoutes(parts).plugin)
    .use(walletRoutes(parts).plugin)
    .use(payoutRoutes(parts).plugin)
    .use(orderRoutes(parts).plugin)
    .use(recordRoutes(parts).plugin)
    .use(dueRoutes(parts).plugin)
    .use(ledgerRoutes(parts).plugin)
    .use(inboxRoutes(parts).plugin)
    .use(webhookRoutes(parts).plugin)
    .use(scenarioRoutes(parts).plugin)
    .use(requestRoutes(parts).plugin)
    .use(reconcileRoutes(parts).plugin)
    .use(feedRoutes(parts).plugin)
    .use(testValueRoutes(parts).plugin)

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
  return controlRoutes('sandbox.').get(
    '/',
    () => ({ version, started_at: startedAt, worlds: [...worlds.names], links: LINKS }),
    {
      id: 'getSandbox',
      summary: 'Get the front page of the sandbox',
      description: 'Lists the worlds, and links to the rest of the control API.',
      query: UnusedWorldQuery,
      response: {
        description: 'Version, start, worlds and links',
        schema: Type.Object(
          {
            version: Type.String(),
            started_at: Type.String({
              format: 'date-time',
              description: 'The start of the process, by the real clock: data in memory is not older',
            }),
            worlds: Type.Array(Type.String()),
            links: Type.Array(Type.String()),
          },
          { title: 'Sandbox' },
        ),
        example: { version: '0.1.0', started_at: '2026-01-01T00:00:00.000Z', worlds: ['default'], links: LINKS },
      },
    },
  )
}
