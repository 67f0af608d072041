import { Elysia } from 'elysia'
import { operationsOf, pageOf } from '../http/operation.ts'
import { newestOf, paged } from '../http/pagination.ts'
import { found, violation } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import { EVENT_NOT_FOUND, EventListQuery, EventPath, EventSchema, eventWire } from './contract.ts'
import { eventList, findEvent } from './queries.ts'

const operation = operationsOf({
  tag: 'Events',
  tagDescription: 'What happened to orders, payouts and wallets in the last 30 days.',
})

const list = operation({
  id: 'listEvents',
  summary: 'List events',
  description: 'What happened to your orders, payouts and wallets in the last 30 days, the newest first.',
  query: EventListQuery,
  success: pageOf('A page of events', EventSchema),
  errors: { 'events.list_validation': violation('limit', 'max', 'must be at most 100') },
})
const get = operation({
  id: 'getEvent',
  summary: 'Get an event',
  description: 'As it was delivered to your webhooks.',
  params: EventPath,
  success: { status: 200, description: 'The event', schema: EventSchema },
  errors: { 'events.not_found': EVENT_NOT_FOUND },
})

/** Events (contract C16). */
export const eventRoutes = ({ guard }: { guard: Guard }) =>
  new Elysia({ name: 'events', prefix: '/api/v1/events' })
    .use(guard.plugin())
    .get(
      '/',
      ({ query, session, set }) => {
        const filters = { type: query.type, createdFromMs: query.created_from, createdToMs: query.created_to }
        return paged(set, query, eventList.page(session, { filters, ...newestOf(query) }, eventWire))
      },
      list,
    )
    .get(
      '/:id',
      ({ params, session: { world, client } }) =>
        eventWire(found(findEvent(world.db.query, client.id, params.id), EVENT_NOT_FOUND)),
      get,
    )
