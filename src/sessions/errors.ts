import { BODY_UNREADABLE, rateLimited } from '../http/failures.ts'
import { type Failure, type Violation, violation } from '../kernel/failure.ts'

/** Failures of login and refresh (spec section 5, contract C3). */

export const credentialsMissing = (violations: readonly Violation[]): Failure => ({
  code: 'credentials_missing',
  kind: 'VALIDATION_FAILURE',
  message: 'Username and password are required',
  violations,
})

const wrong = (code: string, message: string): Failure => ({
  code,
  kind: 'UNAUTHORIZED',
  message,
  headers: { 'WWW-Authenticate': 'Bearer' },
})

export const CREDENTIALS_WRONG = wrong('credentials_wrong', 'Invalid credentials')

export const REFRESH_TOKEN_WRONG = wrong('refresh_token_wrong', 'Invalid refresh token')

export const REFRESH_TOKEN_MISSING: Failure = {
  code: 'refresh_token_missing',
  kind: 'VALIDATION_FAILURE',
  message: 'Refresh token is required',
  violations: [{ field: 'refresh_token', rule: 'required', problem: 'is required' }],
}

const unwritable = (field: string) => violation(field, 'format', 'must not hold NUL or half a surrogate pair')

export const LOGIN_ERRORS = {
  'auth.credentials_missing': credentialsMissing([{ field: 'password', rule: 'required', problem: 'is required' }]),
  'auth.body_unreadable': BODY_UNREADABLE,
  'auth.credentials_wrong': CREDENTIALS_WRONG,
  'auth.too_many_failures': rateLimited(42),
  'auth.validation': unwritable('username'),
}

export const REFRESH_ERRORS = {
  'auth.refresh_token_missing': REFRESH_TOKEN_MISSING,
  'auth.body_unreadable': BODY_UNREADABLE,
  'auth.refresh_token_wrong': REFRESH_TOKEN_WRONG,
  'auth.validation': unwritable('refresh_token'),
}
