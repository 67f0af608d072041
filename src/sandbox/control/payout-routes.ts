import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { type Failure, found, notFound, transitionRefused } from '../../kernel/failure.ts'
import type { Paying } from '../../payouts/payouts.ts'
import { ADVANCE_TARGETS, advance, applyEvent } from '../../payouts/progress.ts'
import { findAnyPayout, type Payout, type PayoutStatus } from '../../payouts/queries.ts'
import type { World } from '../../worlds/world.ts'
import { WorldQuery } from '../worlds/model.ts'
import { bodyErrors, controlOperation, tooShort, worldErrors } from './operation.ts'
import { type OperatorOptions, presentWorld } from './present.ts'

const Advance = Type.Object({ to: Type.Optional(oneOf(ADVANCE_TARGETS)) }, { title: 'AdvanceRequest' })
const PayoutFailure = Type.Object(
  {
    failure_code: Type.Optional(Text({ minLength: 1, maxLength: 100 })),
    failure_reason: Type.Optional(Text({ minLength: 1, maxLength: 1_000 })),
  },
  { title: 'PayoutFailureRequest' },
)
const PayoutPath = Type.Object({
  id: Type.String({ description: 'The payout identifier', example: 'pyt_0mjvbk3w000000b8g4l0r3ya' }),
})
const PayoutState = Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' })

const payoutErrors = (group: string, from: PayoutStatus, to: string): Record<string, Failure> => ({
  [`${group}.not_found`]: notFound('Payout'),
  [`${group}.transition_refused`]: transitionRefused(from, to),
})

const payoutSuccess = (status: PayoutStatus) =>
  ({
    status: 200,
    description: 'The payout as it is now',
    schema: PayoutState,
    example: { id: 'pyt_0mjvbk3w000000b8g4l0r3ya', status },
  }) as const

export interface PayoutRoutesOptions extends OperatorOptions {
  paying: Paying
}

export const operatorPayoutRoutes = ({ paying, ...operator }: PayoutRoutesOptions) =>
  new Elysia({ name: 'sandbox-payouts' })
    .post(
      '/payouts/:id/advance',
      async ({ params, query, body: { to } }) => {
        const world = await presentWorld(operator, query.world)
        return onPayout(world, params.id, (tx, payout) => advance(tx, paying, world, payout, to, byOperator(world)))
      },
      controlOperation({
        id: 'advancePayout',
        summary: 'Move a payout on: a step, or as far as a status',
        description: 'Through every status on the way, each with its event and its bookings.',
        params: PayoutPath,
        query: WorldQuery,
        body: Advance,
        bodyExample: { to: 'settling' },
        bodyOptional: true,
        success: payoutSuccess('settling'),
        errors: {
          ...bodyErrors('payout_advance', {
            field: 'to',
            rule: 'enum',
            problem: `must be one of ${ADVANCE_TARGETS.join(', ')}`,
          }),
          ...payoutErrors('payout_advance', 'completed', 'settling'),
        },
      }),
    )
    .post(
      '/payouts/:id/fail',
      async ({ params, query, body: { failure_code: failureCode, failure_reason: failureReason } }) => {
        const world = await presentWorld(operator, query.world)
        const details = { ...byOperator(world), failureCode, failureReason }
        return onPayout(world, params.id, (tx, payout) => applyEvent(tx, paying, world, payout, 'failed', details))
      },
      controlOperation({
        id: 'failPayout',
        summary: 'Fail a payout that is processing or settling',
        description: 'The money goes back to the wallet, as when a bank refuses it.',
        params: PayoutPath,
        query: WorldQuery,
        body: PayoutFailure,
        bodyExample: { failure_code: 'account_closed' },
        bodyOptional: true,
        success: payoutSuccess('failed'),
        errors: {
          ...bodyErrors('payout_fail', tooShort('failure_code')),
          ...payoutErrors('payout_fail', 'completed', 'failed'),
        },
      }),
    )
    .post(
      '/payouts/:id/return',
      async ({ params, query }) => {
        const world = await presentWorld(operator, query.world)
        return onPayout(world, params.id, (tx, payout) =>
          applyEvent(tx, paying, world, payout, 'returned', byOperator(world)),
        )
      },
      controlOperation({
        id: 'returnPayout',
        summary: 'Have a completed payout returned, late',
        description: 'The wallet is credited with the amount, without the fees. What has happened stays as it was.',
        params: PayoutPath,
        query: WorldQuery,
        success: payoutSuccess('completed'),
        errors: { ...worldErrors('payout_return'), ...payoutErrors('payout_return', 'created', 'returned') },
      }),
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
