import type { Failure, Violation } from '../kernel/failure.ts'

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
