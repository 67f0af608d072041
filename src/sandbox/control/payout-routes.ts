import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { readOptionalObject } from '../../http/body.ts'
import { documented } from '../../http/legacy-operation.ts'
import { oneOf } from '../../http/schemas.ts'
import { bodyCheck } from '../../http/validation.ts'
import type { Failure, LegacyFailure } from '../../kernel/failure.ts'
import type { Paying } from '../../payouts/payouts.ts'
import { ADVANCE_TARGETS, advance, applyEvent } from '../../payouts/progress.ts'
import { findPayout, type Payout } from '../../payouts/queries.ts'
import type { World } from '../../worlds/world.ts'
import { bodyRefusals, controlRefusals, readControl, tooShort, WorldQuery } from './control.ts'
import { getOfEither, type OperatorOptions, presentWorldOf } from './records.ts'

const AdvanceBody = Type.Object({ to: Type.Optional(oneOf(ADVANCE_TARGETS)) }, { title: 'AdvanceRequest' })
const FailBody = Type.Object(
  {
    failure_code: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    failure_reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  },
  { title: 'PayoutFailureRequest' },
)
const checkAdvance = bodyCheck(AdvanceBody)
const checkFail = bodyCheck(FailBody)
const PayoutPath = Type.Object({
  id: Type.String({ description: 'The payout identifier', example: 'pyt_0mjvbk3w000000b8g4l0r3ya' }),
})

const payoutRefusals = (room: string, from: string, to: string): Record<string, Failure | LegacyFailure> => ({
  [`${room}.not_found`]: { code: 'not_found', resource: 'payout' },
  [`${room}.transition_refused`]: { code: 'transition_refused', from, to },
})

const payoutSuccess = (status: string) =>
  ({
    status: 200,
    description: 'The payout as it is now',
    schema: Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' }),
    example: { id: 'pyt_0mjvbk3w000000b8g4l0r3ya', status },
  }) as const

export interface PayoutRoutesOptions extends OperatorOptions {
  paying: Paying
}

export const operatorPayoutRoutes = ({ paying, ...operator }: PayoutRoutesOptions) =>
  new Elysia({ name: 'sandbox-payouts' })
    .post(
      '/payouts/:id/advance',
      async ({ params, request }) => {
        const world = await presentWorldOf(operator, request)
        const { to } = await readControl(request, AdvanceBody, checkAdvance, readOptionalObject)
        return onPayout(world, params.id, (tx, payout) =>
          advance(tx, paying, world, payout, to, { actorType: 'operator', nowMs: world.clock.nowMs() }),
        )
      },
      documented({
        id: 'advancePayout',
        tag: 'Sandbox',
        summary: 'Move a payout on: a step, or as far as a status',
        description: 'Through every status on the way, each with its event and its bookings.',
        public: true,
        path: PayoutPath,
        query: WorldQuery,
        body: { schema: AdvanceBody, optional: true, example: { to: 'settling' } },
        success: payoutSuccess('settling'),
        refusals: {
          ...bodyRefusals('payout_advance', {
            field: 'to',
            rule: 'enum',
            problem: `must be one of ${ADVANCE_TARGETS.join(', ')}`,
          }),
          ...payoutRefusals('payout_advance', 'completed', 'settling'),
        },
      }),
    )
    .post(
      '/payouts/:id/fail',
      async ({ params, request }) => {
        const world = await presentWorldOf(operator, request)
        const { failure_code: failureCode, failure_reason: failureReason } = await readControl(
          request,
          FailBody,
          checkFail,
          readOptionalObject,
        )
        return onPayout(world, params.id, (tx, payout) =>
          applyEvent(tx, paying, world, payout, 'failed', {
            actorType: 'operator',
            nowMs: world.clock.nowMs(),
            failureCode,
            failureReason,
          }),
        )
      },
      documented({
        id: 'failPayout',
        tag: 'Sandbox',
        summary: 'Fail a payout that is processing or settling',
        description: 'The money goes back to the wallet, as when a bank refuses it.',
        public: true,
        path: PayoutPath,
        query: WorldQuery,
        body: { schema: FailBody, optional: true, example: { failure_code: 'account_closed' } },
        success: payoutSuccess('failed'),
        refusals: {
          ...bodyRefusals('payout_fail', tooShort('failure_code')),
          ...payoutRefusals('payout_fail', 'completed', 'failed'),
        },
      }),
    )
    .post(
      '/payouts/:id/return',
      async ({ params, request }) => {
        const world = await presentWorldOf(operator, request)
        return onPayout(world, params.id, (tx, payout) =>
          applyEvent(tx, paying, world, payout, 'returned', { actorType: 'operator', nowMs: world.clock.nowMs() }),
        )
      },
      documented({
        id: 'returnPayout',
        tag: 'Sandbox',
        summary: 'Have a completed payout returned, late',
        description: 'The wallet is credited with the amount, without the fees. What has happened stays as it was.',
        public: true,
        path: PayoutPath,
        query: WorldQuery,
        success: payoutSuccess('completed'),
        refusals: { ...controlRefusals('payout_return'), ...payoutRefusals('payout_return', 'created', 'returned') },
      }),
    )

const onPayout = async (world: World, id: string, move: (tx: Tx, payout: Payout) => Payout) => {
  const moved = await world.db.write((tx) =>
    move(
      tx,
      getOfEither('payout', (clientId) => findPayout(tx, clientId, id)),
    ),
  )
  return { id: moved.id, status: moved.status }
}
