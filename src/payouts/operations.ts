import { Type } from '@sinclair/typebox'
import { operationsOf, pageOf } from '../http/operation.ts'
import { choiceFilter, filter, orderQuery, Problem, pageQuery, searchFilter } from '../http/parameters.ts'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { CREATED_ONCE_HEADERS, IdempotencyHeaders } from '../idempotency/schemas.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import { CANCEL_PAYOUT_ERRORS, CREATE_PAYOUT_ERRORS, GET_PAYOUT_ERRORS, LIST_PAYOUTS_ERRORS } from './errors.ts'
import { PayoutBody, readPayout } from './input.ts'
import { PAYOUT_SORTS } from './queries.ts'
import { ACTOR_TYPES, PAYOUT_STATUSES } from './tables.ts'

const operation = operationsOf({ tag: 'Payouts', tagDescription: 'Money sent to beneficiaries.', errorShape: 'flat' })

export const ROUTE = '/api/v1/payouts'
const PAGE = { limitDefault: 20, limitMax: 100 }

const Status = oneOf(PAYOUT_STATUSES)
export const EventSchema = Type.Object(
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
export const PayoutSchema = Type.Object(
  {
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
        email: nullable(Type.String()),
        first_name: nullable(Type.String()),
        last_name: nullable(Type.String()),
        country: nullable(Type.String()),
        phone: nullable(Type.String()),
      },
      {
        title: 'PayoutBeneficiary',
        description:
          'A copy as of creation; id is null for a beneficiary that was not a saved one, and everything once the person is erased',
      },
    ),
    description: nullable(Type.String()),
    metadata: Type.Object({}, { title: 'Metadata', additionalProperties: true }),
    failure_code: nullable(Type.String()),
    failure_reason: nullable(Type.String()),
    events: Type.Array(EventSchema),
    created_at: Timestamp,
    queued_at: nullable(Timestamp),
    submitted_at: nullable(Timestamp),
    completed_at: nullable(Timestamp),
    failed_at: nullable(Timestamp),
    cancelled_at: nullable(Timestamp),
  },
  { title: 'Payout' },
)
export const ListedPayoutSchema = Type.Omit(PayoutSchema, ['events'], { title: 'ListedPayout' })
const PayoutPath = Type.Object({
  id: Type.String({
    description: 'The payout identifier, as a response gave it',
    example: 'pyt_0mjvbk3w000000b8g4l0r3ya',
  }),
})
const listQuery = (reference: Reference) =>
  Type.Object({
    ...pageQuery(PAGE),
    status: choiceFilter(PAYOUT_STATUSES, 'Only with this status'),
    currency: filter<Currency>(
      Type.String({ description: 'ISO 4217', example: 'USD' }),
      (code) =>
        reference.findCurrencyByCode(code.toUpperCase()) ??
        new Problem('enum', 'must be the ISO 4217 code of a circulating currency'),
    ),
    search: searchFilter('A part of the reference or of the e-mail, in either case', 'bonus'),
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
export const PAYOUT_EXAMPLE = { ...LISTED_EXAMPLE, events: [CREATED_EVENT] }
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

export const listPayouts = (reference: Reference) =>
  operation({
    id: 'listPayouts',
    unexpectedError: 'Failed to retrieve payouts',
    summary: 'List payouts',
    description: 'Filtered, searched, sorted and paged; the newest first.',
    query: listQuery(reference),
    success: pageOf('A page of payouts, without their events', ListedPayoutSchema, LISTED_EXAMPLE),
    errors: LIST_PAYOUTS_ERRORS,
  })

export const createPayout = (reference: Reference) =>
  operation({
    id: 'createPayout',
    unexpectedError: 'Failed to create payout',
    summary: 'Pay a beneficiary',
    description:
      'The wallet pays the amount and the fees at once, converted if its currency differs. The beneficiary is a saved one, or a person with e-mail, first name and last name.',
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
    once: true,
    read: (sent) => readPayout(sent, reference),
    success: {
      status: 201,
      description: 'The payout',
      schema: PayoutSchema,
      example: PAYOUT_EXAMPLE,
      headers: CREATED_ONCE_HEADERS,
    },
    errors: CREATE_PAYOUT_ERRORS,
  })

export const getPayout = operation({
  id: 'getPayout',
  unexpectedError: 'Failed to retrieve payout',
  summary: 'Get a payout with its events',
  description: 'Every change of its status is an event that says who caused it.',
  params: PayoutPath,
  success: { status: 200, description: 'The payout', schema: PayoutSchema, example: PAYOUT_EXAMPLE },
  errors: GET_PAYOUT_ERRORS,
})

export const cancelPayout = operation({
  id: 'cancelPayout',
  unexpectedError: 'Failed to cancel payout',
  summary: 'Cancel a payout that is not submitted yet',
  description: 'The wallet is refunded the amount and the fees.',
  params: PayoutPath,
  success: { status: 200, description: 'The cancelled payout', schema: PayoutSchema, example: CANCELLED_EXAMPLE },
  errors: CANCEL_PAYOUT_ERRORS,
})
