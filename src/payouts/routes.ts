import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Query } from '../db/database.ts'
import { pageHeaders, sortedSliceOf } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { found } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { PAYOUT_NOT_FOUND } from './errors.ts'
import { readPayout } from './input.ts'
import * as operations from './operations.ts'
import { type EventSchema, type ListedPayoutSchema, type PayoutSchema, ROUTE } from './operations.ts'
import { cancelPayout, createPayout, type Paying } from './payouts.ts'
import { eventsOf, findPayout, payoutList } from './queries.ts'
import type { Payout, PayoutEvent } from './tables.ts'

/** Payouts (contract C13). Errors leave in the flat shape. */

export const payoutRoutes = ({ guard, ...paying }: Paying & { guard: Guard }) => {
  const { reference } = paying
  const wire = (query: Query, payout: Payout) => payoutWire(payout, eventsOf(query, payout.id), reference)
  return new Elysia({ name: 'payouts', prefix: ROUTE })
    .use(guard.plugin())
    .get(
      '/',
      async ({ query, session: { world, client }, set }) => {
        const { status, currency, search } = query
        const { rows, totalCount } = await payoutList.page(() => world.db.query, client.id, {
          filters: { status, currencyId: currency?.id, search },
          ...sortedSliceOf(query),
        })
        Object.assign(set.headers, pageHeaders(query, totalCount))
        return rows.map((payout) => listedWire(payout, reference))
      },
      operations.listPayouts(reference),
    )
    .post(
      '/',
      async ({ request, session }) =>
        once(request, session, {
          route: ROUTE,
          errorShape: 'flat',
          status: 201,
          check: (sent) => readPayout(sent, reference),
          apply: (tx, input) => wire(tx, createPayout(tx, paying, session, input)),
        }),
      operations.createPayout,
    )
    .get(
      '/:id',
      ({ params, session: { world, client } }) =>
        wire(world.db.query, found(findPayout(world.db.query, client.id, params.id), PAYOUT_NOT_FOUND)),
      operations.getPayout,
    )
    .post(
      '/:id/cancel',
      async ({ params, session: { world, client, write } }) =>
        write((tx) => {
          const payout = found(findPayout(tx, client.id, params.id), PAYOUT_NOT_FOUND)
          return wire(tx, cancelPayout(tx, paying, world, payout))
        }),
      operations.cancelPayout,
    )
}

const listedWire = (payout: Payout, reference: Reference): Static<typeof ListedPayoutSchema> => {
  const { events: _, ...listed } = payoutWire(payout, [], reference)
  return listed
}

const payoutWire = (
  payout: Payout,
  events: readonly PayoutEvent[],
  reference: Reference,
): Static<typeof PayoutSchema> => {
  const { currency, precision } = reference.getCurrency(payout.currencyId)
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
    metadata: JSON.parse(payout.metadata),
    failure_code: payout.failureCode,
    failure_reason: payout.failureReason,
    events: events.map(eventWire),
    created_at: toTimestamp(payout.createdAtMs),
    queued_at: toTimestampOrNull(payout.queuedAtMs),
    submitted_at: toTimestampOrNull(payout.submittedAtMs),
    completed_at: toTimestampOrNull(payout.completedAtMs),
    failed_at: toTimestampOrNull(payout.failedAtMs),
    cancelled_at: toTimestampOrNull(payout.cancelledAtMs),
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
