export type Rule = 'required' | 'number' | 'integer' | 'string' | 'object' | 'email' | 'min' | 'max' | 'enum' | 'format'

export interface Violation {
  field: string
  rule: Rule
  problem: string
  /** The whole sentence, if the usual one would not read well. */
  message?: string
}

/** A broken rule, without the name of the member. */
export type Problem = Omit<Violation, 'field'>

export const belowMin = (min: number | string): Problem => ({ rule: 'min', problem: `must be at least ${min}` })

export const aboveMax = (max: number | string): Problem => ({ rule: 'max', problem: `must be at most ${max}` })

export const notAmong = (choices: readonly unknown[]): Problem => ({
  rule: 'enum',
  problem: `must be one of ${choices.join(', ')}`,
})

export const NOT_WHOLE: Problem = { rule: 'integer', problem: 'must be a whole number' }

/** The codes of the structured format (spec section 7). */
export type FailureKind =
  | 'BAD_REQUEST'
  | 'VALIDATION_FAILURE'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'TOO_MANY_REQUESTS'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_SERVER_ERROR'

/** The name of a failure inside the program, in the log and for faults. Clients see its kind. */
type FailureCode =
  | 'amount_too_large'
  | 'amount_too_small'
  | 'body_encoded'
  | 'body_unreadable'
  | 'connection_dropped'
  | 'credentials_missing'
  | 'credentials_wrong'
  | 'default_world_kept'
  | 'denomination_not_offered'
  | 'dry_run_malformed'
  | 'dry_run_with_key'
  | 'duplicate_order_reference'
  | 'duplicate_payout_reference'
  | 'fault_not_found'
  | 'feature_disabled'
  | 'gateway'
  | 'host_invalid'
  | 'idempotency_key_malformed'
  | 'idempotency_key_reused'
  | 'insufficient_balance'
  | 'insufficient_stock'
  | 'internal'
  | 'invalid_id'
  | 'not_found'
  | 'order_not_cancellable'
  | 'paying_wallet_not_found'
  | 'payout_not_cancellable'
  | 'quantity_exceeded'
  | 'rate_failed'
  | 'rate_limited'
  | 'rate_missing'
  | 'refresh_token_missing'
  | 'refresh_token_wrong'
  | 'refund_refused'
  | 'request_not_found'
  | 'route_not_found'
  | 'sandbox_foreign'
  | 'sandbox_token_wrong'
  | 'saved_beneficiary_not_found'
  | 'scenario_stopped'
  | 'snapshot_damaged'
  | 'snapshot_not_found'
  | 'snapshot_too_large'
  | 'snapshots_exhausted'
  | 'too_many_webhooks'
  | 'transition_refused'
  | 'unauthorized'
  | 'unavailable'
  | 'unrepeatable'
  | 'validation'
  | 'webhook_not_active'
  | 'world_damaged'
  | 'world_not_found'
  | 'worlds_exhausted'

/** The reason for which a request is refused. `http/errors.ts` formats it. */
export interface Failure {
  code: FailureCode
  kind: FailureKind
  message: string
  violations?: readonly Violation[]
  headers?: Readonly<Record<string, string>>
  /** Its format is the structured one on every route (contract C4). */
  isUniform?: true
  /** The status, if it differs from that of its kind. */
  status?: number
  /** The record already has the status to which it was to go. */
  isThere?: boolean
}

export class DomainError extends Error {
  constructor(
    readonly failure: Failure,
    options?: ErrorOptions,
  ) {
    super(failure.code, options)
    this.name = 'DomainError'
  }
}

/** All broken rules at once (contract C4). */
export const invalid = (violations: readonly Violation[]): Failure => ({
  code: 'validation',
  kind: 'VALIDATION_FAILURE',
  message: 'Input validation failed.',
  violations,
})

export const violation = (field: string, rule: Rule, problem: string): Failure => invalid([{ field, rule, problem }])

export const violated = (field: string, rule: Rule, problem: string): DomainError =>
  new DomainError(violation(field, rule, problem))

export const badRequest = (code: FailureCode, message: string): Failure => ({ code, kind: 'BAD_REQUEST', message })

export const notFound = (what: string): Failure => ({
  code: 'not_found',
  kind: 'NOT_FOUND',
  message: `${what} not found`,
})

export const transitionRefused = (from: string, to: string): Failure => ({
  code: 'transition_refused',
  kind: 'BAD_REQUEST',
  message: `Cannot go from ${from} to ${to}`,
  isThere: from === to,
})

/** Spec section 5. */
export const unauthorized = (tokenSent: boolean): Failure => ({
  code: 'unauthorized',
  kind: 'UNAUTHORIZED',
  message: 'Invalid or expired access token',
  isUniform: true,
  headers: { 'WWW-Authenticate': tokenSent ? 'Bearer error="invalid_token"' : 'Bearer' },
})

export const unavailable = (retryAfterSeconds: number): Failure => ({
  code: 'unavailable',
  kind: 'SERVICE_UNAVAILABLE',
  message: 'Try again later.',
  isUniform: true,
  headers: { 'Retry-After': String(retryAfterSeconds) },
})

/** True if the same request may succeed later. */
export const isUnavailable = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.failure.code === 'unavailable'

export const INTERNAL: Failure = { code: 'internal', kind: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' }

/** @throws DomainError with the failure when there is no record */
export const foundOr = <T>(record: T | undefined, failure: Failure): T => {
  if (record === undefined) throw new DomainError(failure)
  return record
}
