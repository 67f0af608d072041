import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { faultRoutes } from '../faults/routes.ts'
import type { Parts } from '../parts.ts'
import { coverageRoutes } from '../requests/coverage-routes.ts'
import { requestRoutes } from '../requests/routes.ts'
import { clockRoutes } from '../worlds/clock-routes.ts'
import { worldRoutes } from '../worlds/routes.ts'
import { snapshotRoutes } from '../worlds/snapshot-routes.ts'
import { frontRoutes } from './front-routes.ts'
import { controlOperation, gateErrors } from './operation.ts'
import { operatorOrderRoutes } from './order-routes.ts'
import { paceRoutes } from './pace-routes.ts'
import { operatorPayoutRoutes } from './payout-routes.ts'
import { operatorWalletRoutes } from './wallet-routes.ts'

/** The sandbox's own surface (contract C15). Errors leave in the structured shape. */

/** The front page, which is open to everyone, then the control API. */
export const sandboxRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox' }).use(frontRoutes(parts)).use(controlRoutes(parts))

/** The control API behind its gate. */
const controlRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-control', prefix: '/_sandbox' })
    .onTransform({ as: 'scoped' }, async ({ request, path, route }) => {
      parts.gate(request)
      await parts.refuseUnknown({ request, path, route })
    })
    .use(indexRoutes(parts))
    .use(clockRoutes(parts))
    .use(worldRoutes(parts))
    .use(snapshotRoutes(parts))
    .use(faultRoutes(parts))
    .use(paceRoutes(parts))
    .use(operatorWalletRoutes(parts))
    .use(operatorPayoutRoutes(parts))
    .use(operatorOrderRoutes(parts))
    .use(requestRoutes(parts))
    .use(coverageRoutes(parts))

const LINKS = ['worlds', 'snapshots', 'clock', 'pace', 'errors', 'faults', 'requests', 'coverage']
  .map((name) => `/_sandbox/${name}`)
  .concat('/docs', '/openapi.json')

const indexRoutes = ({ worlds, version }: Parts) =>
  new Elysia({ name: 'sandbox-index' }).get(
    '/',
    () => ({ version, worlds: worlds.all.map(({ name }) => name), links: LINKS }),
    controlOperation({
      id: 'getSandbox',
      summary: 'See what the sandbox offers',
      description: 'The worlds that there are, and where the rest of the control API is.',
      success: {
        status: 200,
        description: 'Version, worlds and links',
        schema: Type.Object(
          {
            version: Type.String(),
            worlds: Type.Array(Type.String()),
            links: Type.Array(Type.String()),
          },
          { title: 'Sandbox' },
        ),
        example: { version: '0.1.0', worlds: ['default'], links: LINKS },
      },
      errors: gateErrors('sandbox'),
    }),
  )
