import { notFound, violation } from '../kernel/failure.ts'

export const EVENT_NOT_FOUND = notFound('Event')

export const LIST_EVENTS_ERRORS = { 'events.list_validation': violation('limit', 'max', 'must be at most 100') }

export const GET_EVENT_ERRORS = { 'events.not_found': EVENT_NOT_FOUND }
