import { toTimestamp } from '../kernel/clock.ts'
import type { Event } from './queries.ts'

/** An event as clients and their receivers read it. */
export const eventWire = (event: Event) => ({
  ...headOf(event),
  data: JSON.parse(event.data) as Record<string, unknown>,
})

/** The same as JSON: the body of a delivery, the same bytes in each attempt. */
export const eventJson = (event: Event): string => `${JSON.stringify(headOf(event)).slice(0, -1)},"data":${event.data}}`

const headOf = ({ eventId, type, createdAtMs }: Event) => ({ id: eventId, type, created_at: toTimestamp(createdAtMs) })
