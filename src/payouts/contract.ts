import { type Static, Type } from '@sinclair/typebox'
import { CountryCode, Email, Metadata, Name, Phone } from '../beneficiaries/contract.ts'
import {
  choiceFilter,
  filter,
  orderQuery,
  ParameterProblem,
  pageQuery,
  searchFilter,
  textPath,
} from '../http/parameters.ts'
import { getExample, Id, nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { Text } from '../http/validation.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { badRequest, notFound } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import { storedObject } from '../kernel/unreadable.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import { PAYOUT_SORTS, type ShownPayout } from './queries.ts'
import type { PayoutEventType } from './states.ts'
import { ACTOR_TYPES, PAYOUT_STATUSES, type PayoutEvent, type PayoutStatus } from './tables.ts'

/** Payouts in the API (contract C13). */

export const PAYOUT_NOT_FOUND = notFound('Payout')
export const SAVED_BENEFICIARY_NOT_FOUND = badRequest('saved_beneficiary_not_found', 'Beneficiary not found')
export const DUPLICATE_REFERENCE_ID = badRequest('duplicate_payout_reference', 'Duplicate reference_id')
export const payoutNotCancellable = (status: string) =>
  badRequest('payout_not_cancellable', `Payout cannot be cancelled in status ${status}`)

/** A saved beneficiary, or a person by name. */
export const PayoutBody = Type.Object(
  {
    reference_id: Text({
      minLength: 1,
      maxLength: 255,
      description: 'Your own name for the payout, used once',
      example: 'bonus-2026-01',
    }),
    wallet_id: { ...Id, example: 1 },
    amount: Type.Number({
      description: 'The amount for the beneficiary: more than 0, and at most 1,000,000,000',
      example: 50,
    }),
    currency: Text({ description: 'ISO 4217 code of the amount', example: 'USD' }),
    beneficiary_id: Type.Optional(Text({ description: 'A saved beneficiary' })),
    beneficiary_email: Type.Optional({ ...Email, example: 'ada@example.com' }),
    beneficiary_first_name: Type.Optional({ ...Name, example: 'Ada' }),
    beneficiary_last_name: Type.Optional({ ...Name, example: 'Lovelace' }),
    beneficiary_country: Type.Optional({ ...CountryCode, example: 'GB' }),
    beneficiary_phone: Type.Optional(Phone),
    beneficiary_identifiers: Type.Optional(
      Type.Object(
        {},
        {
          title: 'BeneficiaryIdentifiers',
          additionalProperties: true,
          description: 'Your own identifiers of the beneficiary',
        },
      ),
    ),
    description: Type.Optional(Text({ maxLength: 1_000, example: 'Bonus' })),
    metadata: Type.Optional(Metadata),
    notify_beneficiary: Type.Optional(Type.Boolean({ description: 'Accepted; this program sends no messages' })),
  },
  { title: 'PayoutRequest' },
)

const ID_EXAMPLE = 'pyt_0mjvbk3w000000b8g4l0r3ya'
export const PayoutPath = textPath('payout', ID_EXAMPLE)
export const CURRENCY_WRONG = new ParameterProblem('enum', 'must be the ISO 4217 code of a circulating currency')
export const payoutListQuery = (reference: Reference) =>
  Type.Object({
    ...pageQuery({ limitDefault: 20, limitMax: 100 }),
    status: choiceFilter(PAYOUT_STATUSES, 'Only with this status'),
    currency: filter<Currency>(
      Type.String({ description: 'ISO 4217', example: 'USD' }),
      (code) => reference.findCurrencyByCode(code.toUpperCase()) ?? CURRENCY_WRONG,
    ),
    search: searchFilter('Part of the reference or the e-mail address; case does not matter', 'bonus'),
    ...orderQuery(PAYOUT_SORTS),
  })

const Status = oneOf(PAYOUT_STATUSES)
const EventSchema = Type.Object(
  {
    event_type: Type.String({ example: 'created' }),
    from_status: nullable(Status),
    to_status: Status,
    actor_type: oneOf(ACTOR_TYPES, { example: 'client' }),
    message: nullable(Type.String()),
    created_at: Timestamp,
  },
  { title: 'PayoutEvent' },
)
export const PayoutSchema = Type.Object(
  {
    id: Type.String({ description: 'Prefixed with pyt_', example: ID_EXAMPLE }),
    reference_id: Type.String({ example: 'bonus-2026-01' }),
    status: Status,
    amount: Type.Number({ description: 'The amount for the beneficiary', example: 50 }),
    currency: Type.String({ example: 'USD' }),
    fees: Type.Number({ example: 0.75 }),
    total_amount: Type.Number({ description: 'amount and fees', example: 50.75 }),
    wallet_id: Type.Integer({ example: 1 }),
    beneficiary: Type.Object(
      {
        id: nullable(Type.String()),
        email: nullable(Type.String({ example: 'ada@example.com' })),
        first_name: nullable(Type.String({ example: 'Ada' })),
        last_name: nullable(Type.String({ example: 'Lovelace' })),
        country: nullable(Type.String({ example: 'GB' })),
        phone: nullable(Type.String()),
      },
      {
        title: 'PayoutBeneficiary',
        description:
          'A copy as of creation; id is null for a beneficiary that was not a saved one, and everything once the person is erased',
      },
    ),
    description: nullable(Type.String({ example: 'Bonus' })),
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
export type PayoutWire = Static<typeof PayoutSchema>
const EXAMPLE = getExample(PayoutSchema)
const CREATED = getExample(EventSchema)

/** The example of a payout in a later status, without the steps in between. */
const movedOn = (event_type: string, status: PayoutStatus, change: Partial<PayoutWire> = {}): PayoutWire => {
  const actor_type = event_type === 'cancelled' ? ('client' as const) : ('system' as const)
  const step = {
    ...CREATED,
    event_type,
    from_status: EXAMPLE.status,
    to_status: status,
    actor_type,
    created_at: AT,
  }
  return { ...EXAMPLE, status, ...change, events: [...EXAMPLE.events, step] }
}

const AT = '2026-01-01T00:00:01.000Z'
const QUEUED = { queued_at: AT }
const SUBMITTED = { ...QUEUED, submitted_at: AT }
const COMPLETED = { ...SUBMITTED, completed_at: AT }
const FAILURE = { failure_code: 'account_closed', failure_reason: 'The account is closed' }

export const PAYOUT_EVENT_EXAMPLES: Record<'created' | Exclude<PayoutEventType, 'resumed'>, PayoutWire> = {
  created: EXAMPLE,
  queued: movedOn('queued', 'queued', QUEUED),
  processing: movedOn('processing', 'processing', QUEUED),
  submitted: movedOn('submitted', 'processing', SUBMITTED),
  settling: movedOn('settling', 'settling', SUBMITTED),
  action_required: movedOn('action_required', 'action_required', SUBMITTED),
  completed: movedOn('completed', 'completed', COMPLETED),
  failed: movedOn('failed', 'failed', { ...QUEUED, ...FAILURE, failed_at: AT }),
  cancelled: movedOn('cancelled', 'cancelled', { cancelled_at: AT }),
  expired: movedOn('expired', 'expired'),
  returned: movedOn('returned', 'completed', COMPLETED),
}

export const listedWire = (payout: ShownPayout, reference: Reference): Static<typeof ListedPayoutSchema> =>
  wireWith(payout, undefined, reference)

export const payoutWire = (
  payout: ShownPayout,
  events: readonly Omit<PayoutEvent, 'id'>[],
  reference: Reference,
): PayoutWire => wireWith(payout, events.map(eventWire), reference)

/** JSON leaves out events that are undefined. */
const wireWith = <Events>(payout: ShownPayout, events: Events, reference: Reference) => {
  const { currency, precision } = reference.shownCurrency(payout.currencyId)
  return {
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
    metadata: storedObject(payout.metadata, () => `metadata of payout ${payout.id}`),
    failure_code: payout.failureCode,
    failure_reason: payout.failureReason,
    events,
    created_at: toTimestamp(payout.createdAtMs),
    queued_at: toTimestampOrNull(payout.queuedAtMs),
    submitted_at: toTimestampOrNull(payout.submittedAtMs),
    completed_at: toTimestampOrNull(payout.completedAtMs),
    failed_at: toTimestampOrNull(payout.failedAtMs),
    cancelled_at: toTimestampOrNull(payout.cancelledAtMs),
  }
}

const eventWire = (event: Omit<PayoutEvent, 'id'>): Static<typeof EventSchema> => ({
  event_type: event.eventType,
  from_status: event.fromStatus,
  to_status: event.toStatus,
  actor_type: event.actorType,
  message: event.message,
  created_at: toTimestamp(event.createdAtMs),
})
