import { type Static, Type } from '@sinclair/typebox'
import { choiceFilter, pageQuery, textPath, timeFilter } from '../http/parameters.ts'
import { getExample, oneOf, Timestamp } from '../http/schemas.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { notFound } from '../kernel/failure.ts'
import { storedObject } from '../kernel/unreadable.ts'
import type { Event } from './tables.ts'
import { EVENT_PATTERNS, EVENT_TYPES } from './types.ts'

/** Events in the API (contract C16). */

export const EVENT_NOT_FOUND = notFound('Event')

const ID_EXAMPLE = 'evt_0mjvbk3w00k7x2m9q4w1z8t5a'
export const EventPath = textPath('event', ID_EXAMPLE)
export const EventListQuery = Type.Object({
  ...pageQuery({ limitDefault: 20, limitMax: 100 }),
  type: choiceFilter(EVENT_PATTERNS, 'Only of this type, or of these: order.* for all events of orders'),
  created_from: timeFilter('Not before'),
  created_to: timeFilter('Not after'),
})

export const EventSchema = Type.Object(
  {
    id: Type.String({ description: 'Prefixed with evt_', example: ID_EXAMPLE }),
    type: oneOf(EVENT_TYPES, { example: 'wallet.credited' }),
    created_at: Timestamp,
    data: Type.Object(
      {},
      {
        title: 'EventData',
        additionalProperties: true,
        description: 'The order, payout or wallet as its GET returned it at that time; vouchers are without codes',
        example: {
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
      },
    ),
  },
  { title: 'Event' },
)
export const EVENT_EXAMPLE = getExample(EventSchema)

/** An event as clients and their receivers read it. */
export const eventWire = (event: Event): Static<typeof EventSchema> => ({
  ...headOf(event),
  data: dataOf(event),
})

/** The same as JSON: the body of a delivery, the same bytes in each attempt. */
export const eventJson = (event: Event): string => JSON.stringify(eventWire(event))

const dataOf = ({ data, eventId }: Event) => storedObject(data, () => `data of event ${eventId}`)

const headOf = ({ eventId, type, createdAtMs }: Event) => ({ id: eventId, type, created_at: toTimestamp(createdAtMs) })
