/** A rule that a member of a body or a query parameter can break (contract C4). */
export type Rule = 'required' | 'number' | 'integer' | 'string' | 'object' | 'email' | 'min' | 'max' | 'enum' | 'format'

/** One broken rule: the field, the rule, and the rest of the sentence that says so: "must be at least 1". */
export interface Violation {
  field: string
  rule: Rule
  problem: string
  /** The whole sentence of the structured shape, where the usual one would not read well. */
  message?: string
}

/** The kinds of failures that the API knows, by the code of the structured shape (spec section 7). */
export type FailureKind =
  | 'BAD_REQUEST'
  | 'VALIDATION_FAILURE'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'TOO_MANY_REQUESTS'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_SERVER_ERROR'

/** Why a request is refused. Each folder declares its own failures; how they are written belongs to `http/errors.ts`. */
export interface Failure {
  /** A stable name for logs and metrics. */
  code: string
  kind: FailureKind
  message: string
  violations?: readonly Violation[]
  headers?: Readonly<Record<string, string>>
  /** Has the structured shape on every route (contract C4). */
  isUniform?: true
}

/** The only exception that Scrip throws on purpose. */
export class DomainError extends Error {
  readonly failure: Failure

  constructor(failure: Failure | LegacyFailure, options?: ErrorOptions) {
    super(failure.code, options)
    this.name = 'DomainError'
    this.failure = 'kind' in failure ? failure : legacyFailure(failure)
  }
}

/** Members or parameters that break rules, all of them at once (contract C4). */
export const invalid = (violations: readonly Violation[], message = 'Input validation failed.'): Failure => ({
  code: 'validation',
  kind: 'VALIDATION_FAILURE',
  message,
  violations,
})

/** The failure of one broken rule. */
export const violation = (field: string, rule: Rule, problem: string): Failure => invalid([{ field, rule, problem }])

/** The error of one broken rule. */
export const violated = (field: string, rule: Rule, problem: string): DomainError =>
  new DomainError(violation(field, rule, problem))

/** A record that does not exist, or that belongs to somebody else. */
export const notFound = (what: string): Failure => ({
  code: 'not_found',
  kind: 'NOT_FOUND',
  message: `${what} not found`,
})

/** A record cannot go from one status to another. */
export const transitionRefused = (from: string, to: string): Failure => ({
  code: 'transition_refused',
  kind: 'BAD_REQUEST',
  message: `Cannot go from ${from} to ${to}`,
})

/** A request that may succeed when it is sent again later. */
export const unavailable = (retryAfterSeconds: number): Failure => ({
  code: 'unavailable',
  kind: 'SERVICE_UNAVAILABLE',
  message: 'Try again later.',
  isUniform: true,
  headers: { 'Retry-After': String(retryAfterSeconds) },
})

/** A defect of the program. The route words the message (contract C4). */
export const INTERNAL: Failure = {
  code: 'internal',
  kind: 'INTERNAL_SERVER_ERROR',
  message: 'Internal server error',
}

/** The record that was looked up. @throws DomainError with the failure when there is none */
export const found = <T>(record: T | undefined, failure: Failure | Resource): T => {
  if (record === undefined) {
    throw new DomainError(typeof failure === 'string' ? { code: 'not_found', resource: failure } : failure)
  }
  return record
}

/** What can be looked up by a numeric path id, in the words of the error messages. */
export type Resource =
  | 'product'
  | 'category'
  | 'subcategory'
  | 'country'
  | 'currency'
  | 'wallet'
  | 'transaction'
  | 'order'
  | 'payout'
  | 'beneficiary'

export type LegacyFailure =
  | { code: 'unauthorized'; tokenSent: boolean }
  | { code: 'rate_limited'; retryAfterSeconds: number }
  | { code: 'feature_disabled' }
  | { code: 'route_not_found' }
  | { code: 'invalid_id'; resource: Resource }
  | { code: 'not_found'; resource: Resource }
  | { code: 'host_invalid' }
  | { code: 'body_unreadable' }
  | { code: 'validation'; violations: readonly Violation[] }
  | { code: 'credentials_missing'; violations: readonly Violation[] }
  | { code: 'credentials_wrong' }
  | { code: 'refresh_token_missing' }
  | { code: 'refresh_token_wrong' }
  | { code: 'denomination_not_offered' }
  | { code: 'quantity_exceeded'; quantityMax: number }
  | { code: 'paying_wallet_not_found' }
  | { code: 'rate_missing'; from: string; to: string }
  | { code: 'rate_failed' }
  | { code: 'insufficient_balance' }
  | { code: 'insufficient_stock' }
  | { code: 'duplicate_order_reference' }
  | { code: 'duplicate_payout_reference' }
  | { code: 'saved_beneficiary_not_found' }
  | { code: 'order_not_cancellable'; status: string }
  | { code: 'payout_not_cancellable'; status: string }
  | { code: 'transition_refused'; from: string; to: string }
  | { code: 'amount_too_large' }
  | { code: 'amount_too_small' }
  | { code: 'idempotency_key_malformed' }
  | { code: 'idempotency_key_reused' }
  | { code: 'worlds_exhausted'; worldsMax: number }
  | { code: 'world_too_large'; bytesMax: number }
  | { code: 'snapshots_exhausted'; snapshotsMax: number }
  | { code: 'world_not_found'; name: string }
  | { code: 'snapshot_not_found'; name: string }
  | { code: 'request_not_found' }
  | { code: 'default_world_kept' }
  | { code: 'sandbox_token_wrong' }
  | { code: 'sandbox_foreign' }
  | { code: 'connection_dropped' }
  | { code: 'unavailable'; retryAfterSeconds: number }
  | { code: 'internal' }

const RESOURCE_NAMES = {
  product: 'Product',
  category: 'Category',
  subcategory: 'Subcategory',
  country: 'Country',
  currency: 'Currency',
  wallet: 'Wallet',
  transaction: 'Transaction',
  order: 'Order',
  payout: 'Payout',
  beneficiary: 'Beneficiary',
} as const

const INVALID_BODY = 'Invalid request body'

/** One meaning for each failure; a failure without one does not build. */
const MEANINGS: {
  [Code in LegacyFailure['code']]: (failure: Extract<LegacyFailure, { code: Code }>) => Omit<Failure, 'code'>
} = {
  unauthorized: ({ tokenSent }) => ({
    kind: 'UNAUTHORIZED',
    message: 'Invalid or expired access token',
    isUniform: true,
    headers: { 'WWW-Authenticate': tokenSent ? 'Bearer error="invalid_token"' : 'Bearer' },
  }),
  rate_limited: ({ retryAfterSeconds }) => ({
    kind: 'TOO_MANY_REQUESTS',
    message: `Rate limit exceeded. Retry after ${retryAfterSeconds} seconds.`,
    isUniform: true,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }),
  feature_disabled: () => ({
    kind: 'FORBIDDEN',
    message: 'The requested feature is not enabled for this client',
    isUniform: true,
  }),
  route_not_found: () => ({ kind: 'NOT_FOUND', message: 'Route not found', isUniform: true }),
  invalid_id: ({ resource }) => ({
    kind: 'BAD_REQUEST',
    message: `Invalid ${RESOURCE_NAMES[resource].toLowerCase()} ID`,
  }),
  not_found: ({ resource }) => ({ kind: 'NOT_FOUND', message: `${RESOURCE_NAMES[resource]} not found` }),
  host_invalid: () => ({ kind: 'BAD_REQUEST', message: 'Invalid Host header', isUniform: true }),
  body_unreadable: () => ({ kind: 'BAD_REQUEST', message: INVALID_BODY }),
  validation: ({ violations }) => ({ kind: 'VALIDATION_FAILURE', message: 'Input validation failed.', violations }),
  credentials_missing: ({ violations }) => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Username and password are required',
    violations,
  }),
  credentials_wrong: () => ({
    kind: 'UNAUTHORIZED',
    message: 'Invalid credentials',
    headers: { 'WWW-Authenticate': 'Bearer' },
  }),
  refresh_token_missing: () => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Refresh token is required',
    violations: [{ field: 'refresh_token', rule: 'required', problem: 'is required' }],
  }),
  refresh_token_wrong: () => ({
    kind: 'UNAUTHORIZED',
    message: 'Invalid refresh token',
    headers: { 'WWW-Authenticate': 'Bearer' },
  }),
  denomination_not_offered: () => ({ kind: 'NOT_FOUND', message: 'Denomination not found' }),
  quantity_exceeded: ({ quantityMax }) => ({
    kind: 'BAD_REQUEST',
    message: `Quantity exceeds maximum allowed quantity of ${quantityMax}`,
  }),
  paying_wallet_not_found: () => ({ kind: 'BAD_REQUEST', message: 'Wallet not found' }),
  rate_missing: ({ from, to }) => ({ kind: 'BAD_REQUEST', message: `No exchange rate found for ${from} to ${to}` }),
  rate_failed: () => ({ kind: 'INTERNAL_SERVER_ERROR', message: 'Failed to fetch exchange rate' }),
  insufficient_balance: () => ({ kind: 'BAD_REQUEST', message: 'Insufficient wallet balance' }),
  insufficient_stock: () => ({ kind: 'BAD_REQUEST', message: 'Insufficient stock' }),
  duplicate_order_reference: () => ({ kind: 'BAD_REQUEST', message: 'Duplicate client_reference' }),
  duplicate_payout_reference: () => ({ kind: 'BAD_REQUEST', message: 'Duplicate reference_id' }),
  saved_beneficiary_not_found: () => ({ kind: 'BAD_REQUEST', message: 'Beneficiary not found' }),
  order_not_cancellable: ({ status }) => ({
    kind: 'BAD_REQUEST',
    message: `Order cannot be cancelled in status ${status}`,
  }),
  payout_not_cancellable: ({ status }) => ({
    kind: 'BAD_REQUEST',
    message: `Payout cannot be cancelled in status ${status}`,
  }),
  transition_refused: ({ from, to }) => ({ kind: 'BAD_REQUEST', message: `Cannot go from ${from} to ${to}` }),
  amount_too_large: () => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Input validation failed.',
    violations: [{ field: 'amount', rule: 'max', problem: 'too large', message: 'amount too large' }],
  }),
  amount_too_small: () => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Input validation failed.',
    violations: [{ field: 'amount', rule: 'min', problem: 'too small', message: 'amount too small' }],
  }),
  idempotency_key_malformed: () => ({
    kind: 'BAD_REQUEST',
    message: 'Idempotency-Key must be 8 to 256 printable characters',
  }),
  idempotency_key_reused: () => ({
    kind: 'BAD_REQUEST',
    message: 'Idempotency-Key was used with a different request',
  }),
  worlds_exhausted: ({ worldsMax }) => ({
    kind: 'TOO_MANY_REQUESTS',
    message: `This sandbox holds ${worldsMax} worlds already. Drop one first.`,
    isUniform: true,
  }),
  world_too_large: ({ bytesMax }) => ({
    kind: 'BAD_REQUEST',
    message: `A world of more than ${bytesMax / 1_048_576} MiB can be neither kept nor copied`,
  }),
  snapshots_exhausted: ({ snapshotsMax }) => ({
    kind: 'TOO_MANY_REQUESTS',
    message: `This sandbox holds ${snapshotsMax} snapshots already. Delete one first.`,
  }),
  snapshot_not_found: ({ name }) => ({ kind: 'NOT_FOUND', message: `No snapshot is called ${name}` }),
  request_not_found: () => ({ kind: 'NOT_FOUND', message: 'Request not found' }),
  default_world_kept: () => ({ kind: 'BAD_REQUEST', message: 'The default world can be reset, not dropped' }),
  world_not_found: ({ name }) => ({ kind: 'NOT_FOUND', message: `No world is called ${name}` }),
  sandbox_token_wrong: () => ({
    kind: 'UNAUTHORIZED',
    message: 'The sandbox needs the header X-Sandbox-Token with the token of --sandbox-token',
  }),
  sandbox_foreign: () => ({ kind: 'FORBIDDEN', message: 'The sandbox is not open to other sites' }),
  unavailable: ({ retryAfterSeconds }) => ({
    kind: 'SERVICE_UNAVAILABLE',
    message: 'Try again later.',
    isUniform: true,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }),
  connection_dropped: () => ({ kind: 'INTERNAL_SERVER_ERROR', message: 'Connection dropped' }),
  internal: () => ({ kind: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' }),
}

export const legacyFailure = (failure: LegacyFailure): Failure => ({
  code: failure.code,
  ...(MEANINGS[failure.code] as (failure: LegacyFailure) => Omit<Failure, 'code'>)(failure),
})
