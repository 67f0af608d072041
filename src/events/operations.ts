import { Type } from '@sinclair/typebox'
import { operationsOf, pageOf } from '../http/operation.ts'
import { choiceFilter, pageQuery, timeFilter } from '../http/parameters.ts'
import { oneOf, Timestamp } from '../http/schemas.ts'
import { GET_EVENT_ERRORS, LIST_EVENTS_ERRORS } from './errors.ts'
import { EVENT_PATTERNS, EVENT_TYPES } from './types.ts'

const operation = operationsOf({
  tag: 'Events',
  tagDescription: 'What happened to orders, payouts and wallets in the last 30 days.',
  errorShape: 'structured',
})

export const ROUTE = '/api/v1/events'
const PAGE = { limitDefault: 20, limitMax: 100 }

export const EventSchema = Type.Object(
  {
    id: Type.String({ description: 'Prefixed with evt_' }),
    type: oneOf(EVENT_TYPES),
    created_at: Timestamp,
    data: Type.Object(
      {},
      {
        title: 'EventData',
        additionalProperties: true,
        description: 'The order, payout or wallet as its GET returned it at that time; vouchers are without codes',
      },
    ),
  },
  { title: 'Event' },
)
const EventPath = Type.Object({
  id: Type.String({
    description: 'The event identifier, as a response gave it',
    example: 'evt_0mjvbk3w00k7x2m9q4w1z8t5a',
  }),
})
const ListQuery = Type.Object({
  ...pageQuery(PAGE),
  type: choiceFilter(EVENT_PATTERNS, 'Only of this type, or of these: order.* for all events of orders'),
  created_from: timeFilter('Not before'),
  created_to: timeFilter('Not after'),
})

export const EVENT_EXAMPLE = {
  id: 'evt_0mjvbk3w00k7x2m9q4w1z8t5a',
  type: 'wallet.credited' as const,
  created_at: '2026-01-01T00:00:00.000Z',
  data: {
    id: 1,
    currency_id: 139,
    currency_code: 'USD',
    amount: 100_250,
    reserved_amount: 0,
    type: 'PREPAID',
    credit_limit: 0,
    is_default: true,
    is_active: true,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  },
}

export const listEvents = operation({
  id: 'listEvents',
  unexpectedError: 'Failed to retrieve events',
  summary: 'List events',
  description: 'What happened to your orders, payouts and wallets in the last 30 days, the newest first.',
  query: ListQuery,
  success: pageOf('A page of events', EventSchema, EVENT_EXAMPLE),
  errors: LIST_EVENTS_ERRORS,
})

export const getEvent = operation({
  id: 'getEvent',
  unexpectedError: 'Failed to retrieve event',
  summary: 'Get an event',
  description: 'As it was delivered to your webhooks.',
  params: EventPath,
  success: { status: 200, description: 'The event', schema: EventSchema, example: EVENT_EXAMPLE },
  errors: GET_EVENT_ERRORS,
})
