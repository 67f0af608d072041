import { pageOf } from '../http/operation.ts'
import { newestOf, paged } from '../http/pagination.ts'
import { foundOr, violation } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import { EVENT_NOT_FOUND, EventListQuery, EventPath, EventSchema, eventWire } from './contract.ts'
import { eventList, findEvent, patternOf } from './queries.ts'

/** Events (contract C16). */
export const eventRoutes = ({ guard }: { guard: Guard }) =>
  guard
    .routes({
      prefix: '/api/v1/events',
      tag: 'Events',
      tagDescription: 'Changes of orders, payouts and wallets in the last 30 days.',
      names: 'events.',
    })
    .get(
      '/',
      ({ query, session, set }) => {
        const filters = { ...patternOf(query.type), createdFromMs: query.created_from, createdToMs: query.created_to }
        return paged(set, query, eventList.page(session, { filters, ...newestOf(query) }, eventWire))
      },
      {
        id: 'listEvents',
        summary: 'List events',
        description: 'Changes of your orders, payouts and wallets in the last 30 days, newest first.',
        query: EventListQuery,
        response: pageOf('A page of events', EventSchema),
        refuses: { list_validation: violation('limit', 'max', 'must be at most 100') },
      },
    )
    .get(
      '/:id',
      ({ params, session: { world, client } }) =>
        eventWire(foundOr(findEvent(world.db.query, client.id, params.id), EVENT_NOT_FOUND)),
      {
        id: 'getEvent',
        summary: 'Get an event',
        description: 'As it was delivered to your webhooks.',
        params: EventPath,
        response: { description: 'The event', schema: EventSchema },
        refuses: { not_found: EVENT_NOT_FOUND },
      },
    )
