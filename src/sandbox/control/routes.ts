import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Faulted } from '../faults/faults.ts'
import { type FaultRoutesOptions, faultRoutes } from '../faults/routes.ts'
import { type CoverageRoutesOptions, coverageRoutes } from '../requests/coverage-routes.ts'
import { type RequestRoutesOptions, requestRoutes } from '../requests/routes.ts'
import { clockRoutes } from '../worlds/clock-routes.ts'
import { type WorldRoutesOptions, worldRoutes } from '../worlds/routes.ts'
import { type SnapshotRoutesOptions, snapshotRoutes } from '../worlds/snapshot-routes.ts'
import { type FrontRoutesOptions, frontRoutes } from './front-routes.ts'
import { controlOperation, gateErrors } from './operation.ts'
import { type OrderRoutesOptions, operatorOrderRoutes } from './order-routes.ts'
import { type PaceRoutesOptions, paceRoutes } from './pace-routes.ts'
import { operatorPayoutRoutes, type PayoutRoutesOptions } from './payout-routes.ts'
import { operatorWalletRoutes, type WalletRoutesOptions } from './wallet-routes.ts'

/** The sandbox's own surface (contract C15). Errors leave in the structured shape. */

export type SandboxRoutesOptions = WorldRoutesOptions &
  SnapshotRoutesOptions &
  FaultRoutesOptions &
  PaceRoutesOptions &
  WalletRoutesOptions &
  PayoutRoutesOptions &
  OrderRoutesOptions &
  RequestRoutesOptions &
  CoverageRoutesOptions & {
    gate: (request: Request) => void
    /** Refuses what an operation does not document. */
    refuseUnknown: (asked: Faulted) => Promise<void>
  }

/** The front page, which is open to everyone, then the control surface. */
export const sandboxRoutes = (options: SandboxRoutesOptions & FrontRoutesOptions) =>
  new Elysia({ name: 'sandbox' }).use(frontRoutes(options)).use(controlRoutes(options))

/** The control surface behind its gate. */
const controlRoutes = ({ gate, refuseUnknown, ...options }: SandboxRoutesOptions) =>
  new Elysia({ name: 'sandbox-control', prefix: '/_sandbox' })
    .onTransform({ as: 'scoped' }, async ({ request, path, route }) => {
      gate(request)
      await refuseUnknown({ request, path, route })
    })
    .use(indexRoutes(options))
    .use(clockRoutes(options))
    .use(worldRoutes(options))
    .use(snapshotRoutes(options))
    .use(faultRoutes(options))
    .use(paceRoutes(options))
    .use(operatorWalletRoutes(options))
    .use(operatorPayoutRoutes(options))
    .use(operatorOrderRoutes(options))
    .use(requestRoutes(options))
    .use(coverageRoutes(options))

const LINKS = ['worlds', 'snapshots', 'clock', 'pace', 'errors', 'faults', 'requests', 'coverage']
  .map((name) => `/_sandbox/${name}`)
  .concat('/docs', '/openapi.json')

const indexRoutes = ({ worlds, version }: Pick<SandboxRoutesOptions, 'worlds' | 'version'>) =>
  new Elysia({ name: 'sandbox-index' }).get(
    '/',
    () => ({ version, worlds: worlds.all.map(({ name }) => name), links: LINKS }),
    controlOperation({
      id: 'getSandbox',
      summary: 'See what the sandbox offers',
      description: 'The worlds that there are, and where the rest of the control surface is.',
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
