import { badRequest, type Failure } from '../kernel/failure.ts'

/** The failures that any route can have (spec sections 5, 7 and 8, contract C4). */

export const rateLimited = (retryAfterSeconds: number): Failure => ({
  code: 'rate_limited',
  kind: 'TOO_MANY_REQUESTS',
  message: `Rate limit exceeded. Retry after ${retryAfterSeconds} ${retryAfterSeconds === 1 ? 'second' : 'seconds'}.`,
  isUniform: true,
  headers: { 'Retry-After': String(retryAfterSeconds) },
})

export const FEATURE_DISABLED: Failure = {
  code: 'feature_disabled',
  kind: 'FORBIDDEN',
  message: 'The requested feature is not enabled for this client',
  isUniform: true,
}

export const ROUTE_NOT_FOUND: Failure = {
  code: 'route_not_found',
  kind: 'NOT_FOUND',
  message: 'Route not found',
  isUniform: true,
}

/** The usual paths of health checks in other services. */
const HEALTH_ELSEWHERE = /^\/_?(?:health|healthz|healthcheck|health-check|ping|ready|live)\/?$/

/** The health checks, as RFC 8631 links to them: the message of an unknown route is exact (contract C4). */
const HEALTH_HERE = { Link: '</livez>; rel="status", </readyz>; rel="status"' }

export const routeNotFound = (path: string): Failure =>
  HEALTH_ELSEWHERE.test(path) ? { ...ROUTE_NOT_FOUND, headers: HEALTH_HERE } : ROUTE_NOT_FOUND

export const HOST_INVALID: Failure = {
  code: 'host_invalid',
  kind: 'BAD_REQUEST',
  message: 'Invalid Host header',
  isUniform: true,
}

export const BODY_UNREADABLE: Failure = {
  code: 'body_unreadable',
  kind: 'BAD_REQUEST',
  message: 'Invalid request body',
}

/** A compressed body (RFC 9110, 15.5.16). Its unpacked size is not known before it is unpacked. */
export const BODY_ENCODED: Failure = {
  code: 'body_encoded',
  kind: 'UNSUPPORTED_MEDIA_TYPE',
  message: 'Send the body without Content-Encoding.',
  isUniform: true,
  headers: { 'Accept-Encoding': 'identity' },
}

/** The failure of an invalid id in a path: "Invalid product ID". */
export const invalidId = (record: string): Failure => ({
  code: 'invalid_id',
  kind: 'BAD_REQUEST',
  message: `Invalid ${record} ID`,
})

export const KEY_MALFORMED = badRequest(
  'idempotency_key_malformed',
  'Idempotency-Key must be 8 to 256 printable characters',
)
export const KEY_REUSED = badRequest('idempotency_key_reused', 'Idempotency-Key was used with a different request')
