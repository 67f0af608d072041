import { PAYING_WALLET_NOT_FOUND, RATE_FAILED, rateMissing } from '../charges/contract.ts'
import type { JsonObject } from '../http/json.ts'
import { pageOf } from '../http/operation.ts'
import { paged } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { violation } from '../kernel/failure.ts'
import { AMOUNT_TOO_LARGE, AMOUNT_TOO_SMALL } from '../kernel/money.ts'
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

/** Payouts (contract C13). */
export const payoutRoutes = ({ guard, ...paying }: Paying & { guard: Guard }) => {
  const { reference } = paying
  return guard
    .routes({
      prefix: '/api/v1/payouts',
      tag: 'Payouts',
      tagDescription: 'Money sent to beneficiaries.',
      errorShape: 'flat',
      names: 'payouts.',
    })
    .get('/', ({ query, session, set }) => paged(set, query, listPayouts(reference, session, query)), {
      id: 'listPayouts',
      summary: 'List payouts',
      description: 'Filtered, searched, sorted and paged; the newest first.',
      query: payoutListQuery(reference),
      response: pageOf('A page of payouts, without their events', ListedPayoutSchema),
      refuses: { list_validation: violation('limit', 'max', 'must be at most 100') },
    })
    .post('/', async (incoming) => once(incoming, (tx, input) => createPayout(tx, paying, incoming.session, input)), {
      id: 'createPayout',
      summary: 'Pay a beneficiary',
      description:
        'The wallet is debited the amount and the fees immediately, converted if its currency differs. The beneficiary is a saved one, or a person with e-mail, first name and last name.',
      body: PayoutBody,
      read: (sent: JsonObject) => readPayout(sent, reference),
      once: true,
      response: { status: 201, description: 'The payout', schema: PayoutSchema },
      refuses: {
        validation: violation('amount', 'required', 'is required'),
        wallet_not_found: PAYING_WALLET_NOT_FOUND,
        beneficiary_not_found: SAVED_BENEFICIARY_NOT_FOUND,
        duplicate_reference: DUPLICATE_REFERENCE_ID,
        rate_missing: rateMissing('KES', 'USD'),
        rate_failed: RATE_FAILED,
        amount_too_large: AMOUNT_TOO_LARGE,
        amount_too_small: AMOUNT_TOO_SMALL,
        insufficient_balance: INSUFFICIENT_BALANCE,
      },
    })
    .get(
      '/:id',
      ({ params, session }) => wholePayout(session.world.db.query, reference, getPayout(session, params.id)),
      {
        id: 'getPayout',
        summary: 'Get a payout with its events',
        description: 'Every change of its status is an event that says who caused it.',
        params: PayoutPath,
        response: { description: 'The payout', schema: PayoutSchema },
        refuses: { not_found: PAYOUT_NOT_FOUND },
      },
    )
    .post(
      '/:id/cancel',
      async (incoming) => {
        const { params, session } = incoming
        return once(incoming, (tx) =>
          wholePayout(tx, reference, cancelPayout(tx, paying, session.world, getPayout(session, params.id, tx))),
        )
      },
      {
        id: 'cancelPayout',
        summary: 'Cancel a payout that is not submitted yet',
        description: 'The wallet is refunded the amount and the fees.',
        params: PayoutPath,
        once: true,
        response: {
          description: 'The cancelled payout',
          schema: PayoutSchema,
          example: PAYOUT_EVENT_EXAMPLES.cancelled,
        },
        refuses: { cancel_not_found: PAYOUT_NOT_FOUND, not_cancellable: payoutNotCancellable('completed') },
      },
    )
}
