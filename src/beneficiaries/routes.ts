import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { pageHeaders, sortedSliceOf } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { found } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Session } from '../sessions/sessions.ts'
import { findDefaultWallet } from '../wallets/queries.ts'
import { saveBeneficiary } from './beneficiaries.ts'
import { BENEFICIARY_NOT_FOUND } from './errors.ts'
import * as operations from './operations.ts'
import { type BeneficiarySchema, ROUTE } from './operations.ts'
import { type Beneficiary, beneficiaryList, deleteBeneficiary, findBeneficiary } from './queries.ts'

/** Saved beneficiaries (spec 4.1). Errors leave in the flat shape. */

export const beneficiaryRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) =>
  new Elysia({ name: 'beneficiaries', prefix: ROUTE })
    .use(guard.plugin())
    .get(
      '/',
      async ({ query, session, set }) => {
        const slice = { filters: { search: query.search }, ...sortedSliceOf(query) }
        const { entries, totalCount } = await beneficiaryList.page(session, slice, wireFor(reference, session))
        Object.assign(set.headers, pageHeaders(query, totalCount))
        return entries
      },
      operations.listBeneficiaries,
    )
    .post(
      '/',
      async ({ body, session, set }) =>
        once(body, session, set, (tx, input) =>
          // Nothing has been paid yet, in any precision.
          beneficiaryWire(saveBeneficiary(tx, session.world, session.client.id, input), 0),
        ),
      operations.createBeneficiary(reference),
    )
    .get(
      '/:id',
      ({ params, session }) =>
        wireFor(
          reference,
          session,
        )(found(findBeneficiary(session.world.db.query, session.client.id, params.id), BENEFICIARY_NOT_FOUND)),
      operations.getBeneficiary,
    )
    .delete(
      '/:id',
      async ({ params, session, set }) => {
        await session.write((tx) => deleteBeneficiary(tx, session.client.id, params.id))
        set.status = 204
      },
      operations.deleteBeneficiary,
    )

/** What was paid is in the currency of the default wallet. */
const wireFor = (reference: Reference, { world, client }: Session) => {
  const wallet = findDefaultWallet(world.db.query, client.id)
  const precision = wallet ? reference.getCurrency(wallet.currencyId).precision : 0
  return (beneficiary: Beneficiary) => beneficiaryWire(beneficiary, precision)
}

const beneficiaryWire = (beneficiary: Beneficiary, precision: number): Static<typeof BeneficiarySchema> => ({
  id: beneficiary.id,
  email: beneficiary.email,
  first_name: beneficiary.firstName,
  last_name: beneficiary.lastName,
  country: beneficiary.country,
  phone: beneficiary.phone,
  metadata: JSON.parse(beneficiary.metadata),
  total_payouts: beneficiary.totalPayouts,
  total_amount: toMajor(beneficiary.totalAmountMinor, precision),
  last_payout_at: toTimestampOrNull(beneficiary.lastPayoutAtMs),
  created_at: toTimestamp(beneficiary.createdAtMs),
})
