import { Elysia } from 'elysia'
import { pageHeaders, sliceOf } from '../http/pagination.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import { EVENT_NOT_FOUND } from './errors.ts'
import * as operations from './operations.ts'
import { ROUTE } from './operations.ts'
import { eventList, findEvent } from './queries.ts'
import { eventWire } from './wire.ts'

/** Events (contract C16). Errors leave in the structured shape. */

export const eventRoutes = ({ guard }: { guard: Guard }) =>
  new Elysia({ name: 'events', prefix: ROUTE })
    .use(guard.plugin())
    .get(
      '/',
      async ({ query, session, set }) => {
        const { type, created_from: createdFromMs, created_to: createdToMs } = query
        const slice = {
          filters: { type, createdFromMs, createdToMs },
          sort: 'id',
          direction: 'DESC',
          ...sliceOf(query),
        } as const
        const { entries, totalCount } = await eventList.page(session, slice, eventWire)
        Object.assign(set.headers, pageHeaders(query, totalCount))
        return entries
      },
      operations.listEvents,
    )
    .get(
      '/:id',
      ({ params, session: { world, client } }) =>
        eventWire(found(findEvent(world.db.query, client.id, params.id), EVENT_NOT_FOUND)),
      operations.getEvent,
    )
