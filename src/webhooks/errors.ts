import { EVENT_NOT_FOUND } from '../events/errors.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import { badRequest, notFound, violation } from '../kernel/failure.ts'

export const WEBHOOK_NOT_FOUND = notFound('Webhook')

/** Of a client (contract C16). */
export const WEBHOOKS_MAX = 20
export const TOO_MANY_WEBHOOKS = badRequest('too_many_webhooks', `At most ${WEBHOOKS_MAX} webhooks`)

export const WEBHOOK_NOT_ACTIVE = badRequest('webhook_not_active', 'Webhook is not active')

const lookupErrors = (operation: string) => ({ [`webhooks.${operation}not_found`]: WEBHOOK_NOT_FOUND })

const INPUT_ERRORS = {
  'webhooks.body_unreadable': BODY_UNREADABLE,
  'webhooks.validation': violation('url', 'required', 'is required'),
}

export const LIST_WEBHOOKS_ERRORS = { 'webhooks.list_validation': violation('limit', 'max', 'must be at most 100') }

export const CREATE_WEBHOOK_ERRORS = { ...INPUT_ERRORS, 'webhooks.too_many': TOO_MANY_WEBHOOKS }

export const GET_WEBHOOK_ERRORS = lookupErrors('')

export const UPDATE_WEBHOOK_ERRORS = {
  'webhooks.update_body_unreadable': BODY_UNREADABLE,
  'webhooks.update_validation': violation('active', 'format', 'must be true or false'),
  ...lookupErrors('update_'),
}

export const DELETE_WEBHOOK_ERRORS = lookupErrors('delete_')

export const ROTATE_WEBHOOK_ERRORS = lookupErrors('rotate_')

export const PING_WEBHOOK_ERRORS = { ...lookupErrors('ping_'), 'webhooks.not_active': WEBHOOK_NOT_ACTIVE }

export const LIST_DELIVERIES_ERRORS = {
  'webhooks.deliveries_validation': violation('limit', 'max', 'must be at most 100'),
  ...lookupErrors('deliveries_'),
}

export const REDELIVER_ERRORS = { 'events.redeliver_not_found': EVENT_NOT_FOUND }
