import { type Static, Type } from '@sinclair/typebox'
import { findQueuedEvent } from '../../events/queries.ts'
import { listOf } from '../../http/operation.ts'
import { nullable, oneOf, Timestamp } from '../../http/schemas.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { nextDueOrders } from '../../orders/queries.ts'
import { nextDuePayouts } from '../../payouts/queries.ts'
import { allWebhooks } from '../../webhooks/queries.ts'
import { nextQueued } from '../../webhooks/queue-queries.ts'
import type { World } from '../../work/world.ts'
import { controlRoutes, limitUpTo } from '../control/operation.ts'
import { caughtUpWorld } from '../control/steps.ts'
import type { Parts } from '../parts.ts'
import { WorldQuery } from '../worlds/query.ts'

/** The next actions of a world's clock: steps of orders and payouts, and attempts to deliver events. */

const LIMIT_MAX = 1_000
const LIMIT_DEFAULT = 100

export type Due = Static<typeof Due>
const Due = Type.Object(
  {
    at: Timestamp,
    kind: oneOf(['order', 'payout', 'delivery']),
    id: Type.String({ description: 'Of the order or payout; of the event that is delivered' }),
    next: Type.String({ description: 'The type of the event that happens then, or is delivered' }),
    webhook: nullable(Type.String({ description: 'The name of the webhook that a delivery is for' })),
    attempt: nullable(Type.Integer({ description: 'The number of the attempt of a delivery, from 1' })),
  },
  { title: 'Due' },
)

export const dueRoutes = (parts: Parts) =>
  controlRoutes('due.').get(
    '/due',
    async ({ query: { world, limit } }) => nextDue(await caughtUpWorld(parts, world), limit),
    {
      id: 'listDue',
      summary: "List the next actions of a world's clock",
      description:
        'The next steps of orders and payouts, and the next attempts to deliver events, the earliest first. Of each record only the first event waits for the clock.',
      query: Type.Object({ ...WorldQuery.properties, limit: limitUpTo(LIMIT_MAX, LIMIT_DEFAULT) }),
      response: listOf('The next actions', Due, {
        at: '2026-01-01T00:00:01.000Z',
        kind: 'payout',
        id: 'pyt_0mjvbk3w000000b8g4l0r3ya',
        next: 'payout.queued',
        webhook: null,
        attempt: null,
      }),
    },
  )

const nextDue = (world: World, limit: number): Due[] =>
  [...stepsOf(world, limit), ...deliveriesOf(world, limit)]
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    .slice(0, limit)

const stepsOf = ({ db: { query } }: World, limit: number): Due[] => {
  const step = { webhook: null, attempt: null }
  const orders = nextDueOrders(query, limit).map(({ id, status, dueAtMs }) => {
    const next = status === 'PENDING' ? 'order.processing' : 'order.delivered'
    return { ...step, at: toTimestamp(dueAtMs), kind: 'order' as const, id: String(id), next }
  })
  const payouts = nextDuePayouts(query, limit).map(({ id, dueEvent, dueAtMs }) => {
    return { ...step, at: toTimestamp(dueAtMs), kind: 'payout' as const, id, next: `payout.${dueEvent}` }
  })
  return [...orders, ...payouts]
}

const deliveriesOf = ({ db: { query } }: World, limit: number): Due[] =>
  allWebhooks(query).flatMap(({ id: webhookId, name, droppedTo }) =>
    nextQueued(query, { webhookId, droppedTo }, limit).flatMap(({ eventId, failures, dueAtMs }) => {
      const event = findQueuedEvent(query, eventId)
      if (dueAtMs === null || !event) return [] // without its event, it is dropped once it is due
      const delivery = { kind: 'delivery' as const, id: event.eventId, next: event.type, webhook: name }
      return [{ at: toTimestamp(dueAtMs), ...delivery, attempt: failures + 1 }]
    }),
  )
