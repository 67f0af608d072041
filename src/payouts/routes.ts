import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { PAYING_WALLET_NOT_FOUND, RATE_FAILED, rateMissing } from '../charges/errors.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import { operationsOf, PAGE_HEADERS } from '../http/operation.ts'
import { pageHeaders } from '../http/pagination.ts'
import { choiceFilter, orderQuery, Problem, pageQuery, parameter, textFilter } from '../http/parameters.ts'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { KEY_MALFORMED, KEY_REUSED } from '../idempotency/errors.ts'
import { once } from '../idempotency/once.ts'
import { CREATED_ONCE_HEADERS, IdempotencyHeaders } from '../idempotency/schemas.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { found, violation } from '../kernel/failure.ts'
import { AMOUNT_TOO_LARGE, AMOUNT_TOO_SMALL, toMajor } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { INSUFFICIENT_BALANCE } from '../wallets/errors.ts'
import {
  DUPLICATE_REFERENCE_ID,
  PAYOUT_NOT_FOUND,
  payoutNotCancellable,
  SAVED_BENEFICIARY_NOT_FOUND,
} from './errors.ts'
import { PayoutBody, readPayout } from './input.ts'
import { cancelPayout, createPayout, type Paying } from './payouts.ts'
import { eventsOf, findPayout, listPayouts, PAYOUT_SORTS } from './queries.ts'
import { ACTOR_TYPES, PAYOUT_STATUSES, type Payout, type PayoutEvent } from './tables.ts'

/** Payouts (contract C13). Errors leave in the flat shape. */

const operation = operationsOf({ tag: 'Payouts', errorShape: 'flat' })

const ROUTE = '/api/v1/payouts'
const PAGE = { limitDefault: 20, limitMax: 100 }

const Status = oneOf(PAYOUT_STATUSES)
const EventSchema = Type.Object(
  {
    event_type: Type.String(),
    from_status: nullable(Status),
    to_status: Status,
    actor_type: oneOf(ACTOR_TYPES),
    message: nullable(Type.String()),
    created_at: Timestamp,
  },
  { title: 'PayoutEvent' },
)
const listedFields = {
  id: Type.String({ description: 'Prefixed with pyt_' }),
  reference_id: Type.String(),
  status: Status,
  amount: Type.Number({ description: 'What the beneficiary gets' }),
  currency: Type.String(),
  fees: Type.Number(),
  total_amount: Type.Number({ description: 'amount and fees' }),
  wallet_id: Type.Integer(),
  beneficiary: Type.Object(
    {
      id: nullable(Type.String()),
      email: Type.String(),
      first_name: Type.String(),
      last_name: Type.String(),
      country: nullable(Type.String()),
      phone: nullable(Type.String()),
    },
    {
      title: 'PayoutBeneficiary',
      description: 'A copy as of creation; id is null for a beneficiary that was not a saved one',
    },
  ),
  description: nullable(Type.String()),
  metadata: Type.Object({}, { title: 'Metadata', additionalProperties: true }),
  failure_code: nullable(Type.String()),
  failure_reason: nullable(Type.String()),
}
const timeFields = {
  created_at: Timestamp,
  queued_at: nullable(Timestamp),
  submitted_at: nullable(Timestamp),
  completed_at: nullable(Timestamp),
  failed_at: nullable(Timestamp),
  cancelled_at: nullable(Timestamp),
}
const ListedPayoutSchema = Type.Object({ ...listedFields, ...timeFields }, { title: 'ListedPayout' })
const PayoutSchema = Type.Object(
  { ...listedFields, events: Type.Array(EventSchema), ...timeFields },
  { title: 'Payout' },
)
const PayoutPath = Type.Object({
  id: Type.String({ description: 'The payout identifier', example: 'pyt_0mjvbk3w000000b8g4l0r3ya' }),
})
const listQuery = (reference: Reference) =>
  Type.Object({
    ...pageQuery(PAGE),
    status: choiceFilter(PAYOUT_STATUSES, 'Only with this status'),
    currency: Type.Optional(
      parameter<Currency>(
        Type.String({ description: 'ISO 4217' }),
        (code) =>
          reference.findCurrencyByCode(code.toUpperCase()) ??
          new Problem('enum', 'must be the ISO 4217 code of a circulating currency'),
      ),
    ),
    search: textFilter('A part of the reference or of the e-mail, in either case'),
    ...orderQuery(PAYOUT_SORTS),
  })

const LISTED_EXAMPLE = {
  id: 'pyt_0mjvbk3w000000b8g4l0r3ya',
  reference_id: 'bonus-2026-01',
  status: 'created' as const,
  amount: 50,
  currency: 'USD',
  fees: 0.75,
  total_amount: 50.75,
  wallet_id: 1,
  beneficiary: {
    id: null,
    email: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'Lovelace',
    country: 'GB',
    phone: null,
  },
  description: 'Bonus',
  metadata: {},
  failure_code: null,
  failure_reason: null,
  created_at: '2026-01-01T00:00:00.000Z',
  queued_at: null,
  submitted_at: null,
  completed_at: null,
  failed_at: null,
  cancelled_at: null,
}
const CREATED_EVENT = {
  event_type: 'created',
  from_status: null,
  to_status: 'created' as const,
  actor_type: 'client' as const,
  message: null,
  created_at: '2026-01-01T00:00:00.000Z',
}
const PAYOUT_EXAMPLE = { ...LISTED_EXAMPLE, events: [CREATED_EVENT] }
const CANCELLED_EXAMPLE = {
  ...PAYOUT_EXAMPLE,
  status: 'cancelled' as const,
  cancelled_at: '2026-01-01T00:00:00.500Z',
  events: [
    CREATED_EVENT,
    {
      ...CREATED_EVENT,
      event_type: 'cancelled',
      from_status: 'created' as const,
      to_status: 'cancelled' as const,
      created_at: '2026-01-01T00:00:00.500Z',
    },
  ],
}

export interface PayoutRoutesOptions extends Paying {
  guard: Guard
}

export const payoutRoutes = ({ guard, ...paying }: PayoutRoutesOptions) => {
  const { reference } = paying

  return new Elysia({ name: 'payouts', prefix: ROUTE })
    .use(guard.plugin())
    .get(
      '/',
      async ({ query, session, set }) => {
        const { status, currency, search, sort_by: sortBy, sort_order: sortOrder } = query
        const wanted = { page: query, status, currencyId: currency?.id, search, sortBy, sortOrder }
        const { rows, totalCount } = await listPayouts(session.world, session.client.id, wanted)
        Object.assign(set.headers, pageHeaders(query, totalCount))
        return rows.map((payout) => listedWire(payout, reference))
      },
      operation({
        id: 'listPayouts',
        breakdown: 'Failed to retrieve payouts',
        summary: 'List payouts',
        description: 'Filtered, searched, sorted and paged; the newest first.',
        query: listQuery(reference),
        success: {
          status: 200,
          description: 'A page of payouts, without their events',
          schema: Type.Array(ListedPayoutSchema),
          example: [LISTED_EXAMPLE],
          headers: PAGE_HEADERS,
        },
        errors: {
          'payouts.list_validation': violation('limit', 'max', 'must be at most 100'),
        },
      }),
    )
    .post(
      '/',
      async ({ request, session }) =>
        once(request, session, {
          route: ROUTE,
          errorShape: 'flat',
          status: 201,
          check: (sent) => readPayout(sent, reference),
          apply: (tx, input) => {
            const payout = createPayout(tx, paying, session, input)
            return payoutWire(payout, eventsOf(tx, payout.id), reference)
          },
        }),
      operation({
        id: 'createPayout',
        breakdown: 'Failed to create payout',
        summary: 'Pay a beneficiary',
        description:
          'The wallet pays amount and fees at once, converted when its currency differs. The beneficiary is a saved one, or a person by e-mail, first and last name.',
        headers: IdempotencyHeaders,
        body: PayoutBody,
        bodyExample: {
          reference_id: 'bonus-2026-01',
          wallet_id: 1,
          amount: 50,
          currency: 'USD',
          beneficiary_email: 'ada@example.com',
          beneficiary_first_name: 'Ada',
          beneficiary_last_name: 'Lovelace',
          beneficiary_country: 'GB',
          description: 'Bonus',
        },
        checksBody: true,
        success: {
          status: 201,
          description: 'The payout',
          schema: PayoutSchema,
          example: PAYOUT_EXAMPLE,
          headers: CREATED_ONCE_HEADERS,
        },
        errors: {
          'payouts.body_unreadable': BODY_UNREADABLE,
          'payouts.validation': violation('amount', 'required', 'is required'),
          'payouts.idempotency_key_malformed': KEY_MALFORMED,
          'payouts.idempotency_key_reused': KEY_REUSED,
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
    )
    .get(
      '/:id',
      ({ params, session: { world, client } }) => {
        const payout = found(findPayout(world.db.query, client.id, params.id), PAYOUT_NOT_FOUND)
        return payoutWire(payout, eventsOf(world.db.query, payout.id), reference)
      },
      operation({
        id: 'getPayout',
        breakdown: 'Failed to retrieve payout',
        summary: 'Get a payout with its events',
        description: 'Every change of its status is an event, with who caused it.',
        params: PayoutPath,
        success: { status: 200, description: 'The payout', schema: PayoutSchema, example: PAYOUT_EXAMPLE },
        errors: { 'payouts.not_found': PAYOUT_NOT_FOUND },
      }),
    )
    .post(
      '/:id/cancel',
      async ({ params, session: { world, client, write } }) =>
        write((tx) => {
          const payout = found(findPayout(tx, client.id, params.id), PAYOUT_NOT_FOUND)
          const cancelled = cancelPayout(tx, paying, world, payout)
          return payoutWire(cancelled, eventsOf(tx, payout.id), reference)
        }),
      operation({
        id: 'cancelPayout',
        breakdown: 'Failed to cancel payout',
        summary: 'Cancel a payout that is not submitted yet',
        description: 'The wallet gets back amount and fees.',
        params: PayoutPath,
        success: {
          status: 200,
          description: 'The cancelled payout',
          schema: PayoutSchema,
          example: CANCELLED_EXAMPLE,
        },
        errors: {
          'payouts.cancel_not_found': PAYOUT_NOT_FOUND,
          'payouts.not_cancellable': payoutNotCancellable('completed'),
        },
      }),
    )
}

const listedWire = (payout: Payout, reference: Reference): Static<typeof ListedPayoutSchema> => {
  const { listed, times } = wireParts(payout, reference)
  return { ...listed, ...times }
}

const payoutWire = (
  payout: Payout,
  events: readonly PayoutEvent[],
  reference: Reference,
): Static<typeof PayoutSchema> => {
  const { listed, times } = wireParts(payout, reference)
  return { ...listed, events: events.map(eventWire), ...times }
}

const wireParts = (payout: Payout, reference: Reference) => {
  const { currency, precision } = reference.getCurrency(payout.currencyId)
  return {
    listed: {
      id: payout.id,
      reference_id: payout.referenceId,
      status: payout.status,
      amount: toMajor(payout.amountMinor, precision),
      currency,
      fees: toMajor(payout.feesMinor, precision),
      total_amount: toMajor(payout.amountMinor + payout.feesMinor, precision),
      wallet_id: payout.walletId,
      beneficiary: {
        id: payout.beneficiaryId,
        email: payout.beneficiaryEmail,
        first_name: payout.beneficiaryFirstName,
        last_name: payout.beneficiaryLastName,
        country: payout.beneficiaryCountry,
        phone: payout.beneficiaryPhone,
      },
      description: payout.description,
      metadata: JSON.parse(payout.metadata),
      failure_code: payout.failureCode,
      failure_reason: payout.failureReason,
    },
    times: {
      created_at: toTimestamp(payout.createdAtMs),
      queued_at: toTimestampOrNull(payout.queuedAtMs),
      submitted_at: toTimestampOrNull(payout.submittedAtMs),
      completed_at: toTimestampOrNull(payout.completedAtMs),
      failed_at: toTimestampOrNull(payout.failedAtMs),
      cancelled_at: toTimestampOrNull(payout.cancelledAtMs),
    },
  }
}

const eventWire = (event: PayoutEvent): Static<typeof EventSchema> => ({
  event_type: event.eventType,
  from_status: event.fromStatus,
  to_status: event.toStatus,
  actor_type: event.actorType,
  message: event.message,
  created_at: toTimestamp(event.createdAtMs),
})
