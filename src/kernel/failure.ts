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
  /** Closes the connection instead of sending a response. */
  dropsConnection?: true
}

/** The only exception that Scrip throws on purpose. */
export class DomainError extends Error {
  constructor(
    readonly failure: Failure,
    options?: ErrorOptions,
  ) {
    super(failure.code, options)
    this.name = 'DomainError'
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

/** A request without an access token that is good (spec section 5). */
export const unauthorized = (tokenSent: boolean): Failure => ({
  code: 'unauthorized',
  kind: 'UNAUTHORIZED',
  message: 'Invalid or expired access token',
  isUniform: true,
  headers: { 'WWW-Authenticate': tokenSent ? 'Bearer error="invalid_token"' : 'Bearer' },
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
export const found = <T>(record: T | undefined, failure: Failure): T => {
  if (record === undefined) throw new DomainError(failure)
  return record
}
