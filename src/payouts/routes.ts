import { Elysia } from 'elysia'
import { PAYING_WALLET_NOT_FOUND, RATE_FAILED, rateMissing } from '../charges/contract.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import type { JsonObject } from '../http/json.ts'
import { operationsOf, pageOf } from '../http/operation.ts'
import { paged } from '../http/pagination.ts'
import { keyErrors, once } from '../idempotency/once.ts'
import { violation } from '../kernel/failure.ts'
import { AMOUNT_TOO_LARGE, AMOUNT_TOO_SMALL } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { INSUFFICIENT_BALANCE } from '../wallets/contract.ts'
import {
  DUPLICATE_REFERENCE_ID,
  ListedPayoutSchema,
  PAYOUT_EVENT_EXAMPLES,
  PAYOUT_NOT_FOUND,
  PayoutBody,
  PayoutPath,
  PayoutSchema,
  payoutListQuery,
  payoutNotCancellable,
  SAVED_BENEFICIARY_NOT_FOUND,
} from './contract.ts'
import { readPayout } from './input.ts'
import { cancelPayout, createPayout, getPayout, listPayouts, type Paying, wholePayout } from './payouts.ts'

const operation = operationsOf({ tag: 'Payouts', tagDescription: 'Money sent to beneficiaries.', errorShape: 'flat' })

const operationsWith = (reference: Reference) => ({
  list: operation({
    id: 'listPayouts',
    summary: 'List payouts',
    description: 'Filtered, searched, sorted and paged; the newest first.',
    query: payoutListQuery(reference),
    success: pageOf('A page of payouts, without their events', ListedPayoutSchema),
    errors: { 'payouts.list_validation': violation('limit', 'max', 'must be at most 100') },
  }),
  create: operation({
    id: 'createPayout',
    summary: 'Pay a beneficiary',
    description:
      'The wallet pays the amount and the fees at once, converted if its currency differs. The beneficiary is a saved one, or a person with e-mail, first name and last name.',
    body: PayoutBody,
    read: (sent: JsonObject) => readPayout(sent, reference),
    once: true,
    success: { status: 201, description: 'The payout', schema: PayoutSchema },
    errors: {
      'payouts.body_unreadable': BODY_UNREADABLE,
      'payouts.validation': violation('amount', 'required', 'is required'),
      ...keyErrors('payouts'),
      'payouts.wallet_not_found': PAYING_WALLET_NOT_FOUND,
      'payouts.beneficiary_not_found': SAVED_BENEFICIARY_NOT_FOUND,
      'payouts.duplicate_reference': DUPLICATE_REFERENCE_ID,
      'payouts.rate_missing': rateMissing('KES', 'USD'),
      'payouts.rate_failed': RATE_FAILED,
      'payouts.amount_too_large': AMOUNT_TOO_LARGE,
      'payouts.amount_too_small': AMOUNT_TOO_SMALL,
      'payouts.insufficient_balance': INSUFFICIENT_BALANCE,
    },
  }),
  get: operation({
    id: 'getPayout',
    summary: 'Get a payout with its events',
    description: 'Every change of its status is an event that says who caused it.',
    params: PayoutPath,
    success: { status: 200, description: 'The payout', schema: PayoutSchema },
    errors: { 'payouts.not_found': PAYOUT_NOT_FOUND },
  }),
  cancel: operation({
    id: 'cancelPayout',
    summary: 'Cancel a payout that is not submitted yet',
    description: 'The wallet is refunded the amount and the fees.',
    params: PayoutPath,
    success: {
      status: 200,
      description: 'The cancelled payout',
      schema: PayoutSchema,
      example: PAYOUT_EVENT_EXAMPLES.cancelled,
    },
    errors: {
      'payouts.cancel_not_found': PAYOUT_NOT_FOUND,
      'payouts.not_cancellable': payoutNotCancellable('completed'),
    },
  }),
})

/** Payouts (contract C13). */
export const payoutRoutes = ({ guard, ...paying }: Paying & { guard: Guard }) => {
  const { reference } = paying
  const { list, create, get, cancel } = operationsWith(reference)
  return new Elysia({ name: 'payouts', prefix: '/api/v1/payouts' })
    .use(guard.plugin())
    .get('/', ({ query, session, set }) => paged(set, query, listPayouts(reference, session, query)), list)
    .post(
      '/',
      async ({ body, session, set }) =>
        once(body, session, set, (tx, input) => createPayout(tx, paying, session, input)),
      create,
    )
    .get(
      '/:id',
      ({ params, session }) => wholePayout(session.world.db.query, reference, getPayout(session, params.id)),
      get,
    )
    .post(
      '/:id/cancel',
      async ({ params, session }) =>
        session.write((tx) =>
          wholePayout(tx, reference, cancelPayout(tx, paying, session.world, getPayout(session, params.id, tx))),
        ),
      cancel,
    )
}
