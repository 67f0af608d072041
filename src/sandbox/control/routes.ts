import { Type } from '@sinclair/typebox'
import { requireClient } from '../../http/body.ts'
import type { Mount } from '../../http/route-lines.ts'
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

/** Adds the front page, which is open to everyone, and the control API (contract C15). */
export const addSandboxRoutes = (parts: Parts): void => {
  const { app, layer } = parts
  frontRoutes(parts).addTo(app, layer)
  app.use(consoleRoutes(layer))
  inboxReceiver(parts).addTo(app, layer)
  const mount = protectedMount(parts)
  for (const routes of CONTROL_ROUTES) routes(parts).addTo(app, layer, mount)
}

/** A request to this path makes its world, which need not exist before. */
const WORLD_ROUTE = '/_sandbox/worlds/:name'

const protectedMount = ({ requireAccess, refuseUnknown, worlds }: Parts): Mount => ({
  prefix: '/_sandbox',
  admit: (incoming) => {
    requireAccess(incoming.request)
    return refuseUnknown(incoming)
  },
  beforeHandle: async ({ request, route, params, query, text }) => {
    if (request.method !== 'GET' && text === undefined) await requireClient(request)
    const isMade = request.method === 'PUT' && route === WORLD_ROUTE && params.name === query.world
    if (!isMade) requireWorlds(worlds, query.world)
  },
})

const LINKS = [
  ...'worlds snapshots clock due pace clients rates inbox errors faults'.split(' '),
  ...'wallets orders payouts webhooks events ledger requests feed coverage test-values'.split(' '),
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

const CONTROL_ROUTES = [
  indexRoutes,
  clockRoutes,
  worldRoutes,
  snapshotRoutes,
  faultRoutes,
  paceRoutes,
  productRoutes,
  rateRoutes,
  clientRoutes,
  walletRoutes,
  payoutRoutes,
  orderRoutes,
  recordRoutes,
  dueRoutes,
  ledgerRoutes,
  inboxRoutes,
  webhookRoutes,
  scenarioRoutes,
  requestRoutes,
  reconcileRoutes,
  feedRoutes,
  testValueRoutes,
]
