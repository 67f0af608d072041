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

/**
 * Everything that Scrip refuses to do, as facts. How each leaves (status, code, words, shape) is decided at the edge,
 * in http/errors.ts.
 */
export type Failure =
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

export type FailureCode = Failure['code']

/** The only exception that Scrip throws on purpose: it carries the fact, and no prose. */
export class DomainError extends Error {
  constructor(
    readonly failure: Failure,
    options?: ErrorOptions,
  ) {
    super(failure.code, options)
    this.name = 'DomainError'
  }
}

/** @throws DomainError validation, with the one violation */
export const violated = (field: string, rule: Rule, problem: string): DomainError =>
  new DomainError({ code: 'validation', violations: [{ field, rule, problem }] })

/** The record that was looked up. @throws DomainError not_found when there is none */
export const found = <T>(record: T | undefined, resource: Resource): T => {
  if (record === undefined) throw new DomainError({ code: 'not_found', resource })
  return record
}
