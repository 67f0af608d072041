import { Elysia } from 'elysia'
import type { Query } from '../db/database.ts'
import { pageHeaders, sortedSliceOf } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import { PAYOUT_NOT_FOUND } from './errors.ts'
import * as operations from './operations.ts'
import { ROUTE } from './operations.ts'
import { cancelPayout, createPayout, type Paying } from './payouts.ts'
import { eventsOf, findPayout, payoutList } from './queries.ts'
import type { Payout } from './tables.ts'
import { listedWire, payoutWire } from './wire.ts'

/** Payouts (contract C13). Errors leave in the flat shape. */

export const payoutRoutes = ({ guard, ...paying }: Paying & { guard: Guard }) => {
  const { reference } = paying
  const wire = (query: Query, payout: Payout) => payoutWire(payout, eventsOf(query, payout.id), reference)
  return new Elysia({ name: 'payouts', prefix: ROUTE })
    .use(guard.plugin())
    .get(
      '/',
      async ({ query, session, set }) => {
        const { status, currency, search } = query
        const slice = { filters: { status, currencyId: currency?.id, search }, ...sortedSliceOf(query) }
        const wired = (payout: Payout) => listedWire(payout, reference)
        const { entries, totalCount } = await payoutList.page(session, slice, wired)
        Object.assign(set.headers, pageHeaders(query, totalCount))
        return entries
      },
      operations.listPayouts(reference),
    )
    .post(
      '/',
      async ({ body, session, set }) =>
        once(body, session, set, (tx, input) => createPayout(tx, paying, session, input)),
      operations.createPayout(reference),
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
