import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../http/legacy-operation.ts'
import { PAGE_HEADERS } from '../http/operation.ts'
import { pageHeaders } from '../http/pagination.ts'
import { orderQuery, pageQuery } from '../http/parameters.ts'
import { DIRECTIONS, QueryReader } from '../http/query.ts'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { once } from '../idempotency/once.ts'
import { CREATED_ONCE_HEADERS, IdempotencyHeaders } from '../idempotency/schemas.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { found } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { PayoutBody, readPayout } from './input.ts'
import { cancelPayout, createPayout, type Paying } from './payouts.ts'
import { eventsOf, findPayout, listPayouts, PAYOUT_SORTS } from './queries.ts'
import { ACTOR_TYPES, PAYOUT_STATUSES, type Payout, type PayoutEvent } from './tables.ts'

/** Payouts (contract C13). Errors leave in the flat shape. */

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
const ListQuery = Type.Object({
  ...pageQuery(PAGE),
  status: Type.Optional(oneOf(PAYOUT_STATUSES, { description: 'Only with this status' })),
  currency: Type.Optional(Type.String({ description: 'ISO 4217' })),
  search: Type.Optional(Type.String({ description: 'A part of the reference or of the e-mail, in either case' })),
  ...orderQuery(PAYOUT_SORTS),
})

const LISTED_EXAMPLE = {
  id: 'pyt_0mjvbk3w000000b8g4l0r3ya',
  reference_id: 'bonus-2026-01',
  status: 'created',
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
  to_status: 'created',
  actor_type: 'client',
  message: null,
  created_at: '2026-01-01T00:00:00.000Z',
}
const PAYOUT_EXAMPLE = { ...LISTED_EXAMPLE, events: [CREATED_EVENT] }
const CANCELLED_EXAMPLE = {
  ...PAYOUT_EXAMPLE,
  status: 'cancelled',
  cancelled_at: '2026-01-01T00:00:00.500Z',
  events: [
    CREATED_EVENT,
    {
      ...CREATED_EVENT,
      event_type: 'cancelled',
      from_status: 'created',
      to_status: 'cancelled',
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
      async ({ request, session, set }) => {
        const query = new QueryReader(request.url)
        const page = query.page(PAGE)
        const status = query.choice('status', PAYOUT_STATUSES)
        const code = query.text('currency')
        const currency = code === undefined ? undefined : reference.findCurrencyByCode(code.toUpperCase())
        if (code !== undefined && !currency) {
          query.refuse('currency', 'enum', 'must be the ISO 4217 code of a circulating currency')
        }
        const search = query.text('search')
        const sortBy = query.choice('sort_by', PAYOUT_SORTS) ?? 'created_at'
        const sortOrder = query.choice('sort_order', DIRECTIONS) ?? 'DESC'
        query.finish()
        const { rows, totalCount } = await listPayouts(session.world, session.client.id, {
          page,
          status,
          currencyId: currency?.id,
          search,
          sortBy,
          sortOrder,
        })
        Object.assign(set.headers, pageHeaders(page, totalCount))
        return rows.map((payout) => listedWire(payout, reference))
      },
      documented({
        id: 'listPayouts',
        tag: 'Payouts',
        summary: 'List payouts',
        description: 'Filtered, searched, sorted and paged; the newest first.',
        query: ListQuery,
        success: {
          status: 200,
          description: 'A page of payouts, without their events',
          schema: Type.Array(ListedPayoutSchema),
          example: [LISTED_EXAMPLE],
          headers: PAGE_HEADERS,
        },
        refusals: {
          'payouts.list_validation': {
            code: 'validation',
            violations: [{ field: 'limit', rule: 'max', problem: 'must be at most 100' }],
          },
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
      documented({
        id: 'createPayout',
        tag: 'Payouts',
        summary: 'Pay a beneficiary',
        description:
          'The wallet pays amount and fees at once, converted when its currency differs. The beneficiary is a saved one, or a person by e-mail, first and last name.',
        headers: IdempotencyHeaders,
        body: {
          schema: PayoutBody,
          example: {
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
        },
        success: {
          status: 201,
          description: 'The payout',
          schema: PayoutSchema,
          example: PAYOUT_EXAMPLE,
          headers: CREATED_ONCE_HEADERS,
        },
        refusals: {
          'payouts.body_unreadable': { code: 'body_unreadable' },
          'payouts.validation': {
            code: 'validation',
            violations: [{ field: 'amount', rule: 'required', problem: 'is required' }],
          },
          'payouts.idempotency_key_malformed': { code: 'idempotency_key_malformed' },
          'payouts.idempotency_key_reused': { code: 'idempotency_key_reused' },
          'payouts.wallet_not_found': { code: 'paying_wallet_not_found' },
          'payouts.beneficiary_not_found': { code: 'saved_beneficiary_not_found' },
          'payouts.duplicate_reference': { code: 'duplicate_payout_reference' },
          'payouts.rate_missing': { code: 'rate_missing', from: 'KES', to: 'USD' },
          'payouts.rate_failed': { code: 'rate_failed' },
          'payouts.amount_too_large': { code: 'amount_too_large' },
          'payouts.amount_too_small': { code: 'amount_too_small' },
          'payouts.insufficient_balance': { code: 'insufficient_balance' },
        },
      }),
    )
    .get(
      '/:id',
      ({ params, session: { world, client } }) => {
        const payout = found(findPayout(world.db.query, client.id, params.id), 'payout')
        return payoutWire(payout, eventsOf(world.db.query, payout.id), reference)
      },
      documented({
        id: 'getPayout',
        tag: 'Payouts',
        summary: 'Get a payout with its events',
        description: 'Every change of its status is an event, with who caused it.',
        path: PayoutPath,
        success: { status: 200, description: 'The payout', schema: PayoutSchema, example: PAYOUT_EXAMPLE },
        refusals: { 'payouts.not_found': { code: 'not_found', resource: 'payout' } },
      }),
    )
    .post(
      '/:id/cancel',
      async ({ params, session: { world, client, write } }) =>
        write((tx) => {
          const payout = found(findPayout(tx, client.id, params.id), 'payout')
          const cancelled = cancelPayout(tx, paying, world, payout)
          return payoutWire(cancelled, eventsOf(tx, payout.id), reference)
        }),
      documented({
        id: 'cancelPayout',
        tag: 'Payouts',
        summary: 'Cancel a payout that is not submitted yet',
        description: 'The wallet gets back amount and fees.',
        path: PayoutPath,
        success: {
          status: 200,
          description: 'The cancelled payout',
          schema: PayoutSchema,
          example: CANCELLED_EXAMPLE,
        },
        refusals: {
          'payouts.cancel_not_found': { code: 'not_found', resource: 'payout' },
          'payouts.not_cancellable': { code: 'payout_not_cancellable', status: 'completed' },
        },
      }),
    )
}

const listedWire = (payout: Payout, reference: Reference) => {
  const { listed, times } = wireParts(payout, reference)
  return { ...listed, ...times }
}

const payoutWire = (payout: Payout, events: readonly PayoutEvent[], reference: Reference) => {
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
      metadata: JSON.parse(payout.metadata) as object,
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

const eventWire = (event: PayoutEvent) => ({
  event_type: event.eventType,
  from_status: event.fromStatus,
  to_status: event.toStatus,
  actor_type: event.actorType,
  message: event.message,
  created_at: toTimestamp(event.createdAtMs),
})
