import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { found, notFound } from '../../kernel/failure.ts'
import { advance, applyEvent } from '../../payouts/progress.ts'
import { findAnyPayout, type Payout } from '../../payouts/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import type { PayoutState } from './operator-operations.ts'
import * as operations from './operator-operations.ts'
import { presentWorld } from './present.ts'

export const operatorPayoutRoutes = ({ paying, ...parts }: Parts) =>
  new Elysia({ name: 'sandbox-payouts' })
    .post(
      '/payouts/:id/advance',
      async ({ params, query, body: { to } }) => {
        const world = await presentWorld(parts, query.world)
        return onPayout(world, params.id, (tx, payout) => advance(tx, paying, world, payout, to, byOperator(world)))
      },
      operations.advancePayout,
    )
    .post(
      '/payouts/:id/fail',
      async ({ params, query, body: { failure_code: failureCode, failure_reason: failureReason } }) => {
        const world = await presentWorld(parts, query.world)
        const details = { ...byOperator(world), failureCode, failureReason }
        return onPayout(world, params.id, (tx, payout) => applyEvent(tx, paying, world, payout, 'failed', details))
      },
      operations.failPayout,
    )
    .post(
      '/payouts/:id/return',
      async ({ params, query }) => {
        const world = await presentWorld(parts, query.world)
        return onPayout(world, params.id, (tx, payout) =>
          applyEvent(tx, paying, world, payout, 'returned', byOperator(world)),
        )
      },
      operations.returnPayout,
    )

const byOperator = ({ clock }: World) => ({ actorType: 'operator', nowMs: clock.nowMs() }) as const

/** @throws DomainError not_found */
const onPayout = async (
  world: World,
  id: string,
  move: (tx: Tx, payout: Payout) => Payout,
): Promise<Static<typeof PayoutState>> => {
  const { status } = await world.db.write((tx) => move(tx, found(findAnyPayout(tx, id), notFound('Payout'))))
  return { id, status }
}
