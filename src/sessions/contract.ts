import { Type } from '@sinclair/typebox'
import { Text } from '../http/validation.ts'
import { type Failure, invalid, type Violation } from '../kernel/failure.ts'

/** Login, refresh and logout in the API (spec section 5, contract C3). */

const credentialsMissing = (violations: readonly Violation[]): Failure => ({
  code: 'credentials_missing',
  kind: 'VALIDATION_FAILURE',
  message: 'Username and password are required',
  violations,
})

const wrong = (code: Failure['code'], message: string): Failure => ({
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

export const loginFailure = (violations: readonly Violation[]): Failure =>
  violations.every(({ rule }) => rule === 'format') ? invalid(violations) : credentialsMissing(violations)

export const refreshFailure = (violations: readonly Violation[]): Failure => {
  const rule = violations[0]?.rule
  if (rule === 'required') return REFRESH_TOKEN_MISSING
  return rule === 'string' ? REFRESH_TOKEN_WRONG : invalid(violations)
}

export const LoginBody = Type.Object(
  {
    username: Text({ minLength: 1, description: 'The API username', example: 'acme' }),
    password: Text({ minLength: 1, description: 'The API password', example: 'as it was issued' }),
  },
  { title: 'LoginRequest' },
)

const TOKEN = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'
const REFRESH_TOKEN = `${TOKEN}.eyJhdWQiOiJyIn0.Qm9p`

export const TokenPair = Type.Object(
  {
    access_token: Type.String({
      description: 'A JWT for the Authorization header',
      example: `${TOKEN}.eyJzdWIiOiIxIn0.Zk3n`,
    }),
    refresh_token: Type.String({ description: 'Valid for one refresh', example: REFRESH_TOKEN }),
    access_expires_at: Type.String({ format: 'date-time', example: '2026-01-01T01:00:00.000Z' }),
    refresh_expires_at: Type.String({ format: 'date-time', example: '2026-01-08T00:00:00.000Z' }),
    client_id: Type.Integer({ example: 1 }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds until the access token expires', example: 3600 }),
  },
  { title: 'TokenPair' },
)
export const RefreshBody = Type.Object(
  { refresh_token: Text({ description: 'The refresh token of the newest pair', example: REFRESH_TOKEN }) },
  { title: 'RefreshRequest' },
)
export const LoggedOut = Type.Object(
  { message: Type.String({ example: 'Successfully logged out' }) },
  { title: 'LoggedOut' },
)
