import { Type } from '@sinclair/typebox'
import { Timestamp, withExample } from '../http/schemas.ts'
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

const REFRESH_TOKEN_EXAMPLE = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJyIn0.Qm9p'

export const LoginBody = withExample(
  Type.Object(
    {
      username: Text({ minLength: 1, description: 'The API username' }),
      password: Text({ minLength: 1, description: 'The API password' }),
    },
    { title: 'LoginRequest' },
  ),
  { username: 'acme', password: 'as it was issued' },
)

export const TokenPair = withExample(
  Type.Object(
    {
      access_token: Type.String({ description: 'A JWT for the Authorization header' }),
      refresh_token: Type.String({ description: 'Good for one refresh' }),
      access_expires_at: Timestamp,
      refresh_expires_at: Timestamp,
      client_id: Type.Integer(),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer({ description: 'Seconds until the access token expires' }),
    },
    { title: 'TokenPair' },
  ),
  {
    access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.Zk3n',
    refresh_token: REFRESH_TOKEN_EXAMPLE,
    access_expires_at: '2026-01-01T01:00:00.000Z',
    refresh_expires_at: '2026-01-08T00:00:00.000Z',
    client_id: 1,
    token_type: 'Bearer',
    expires_in: 3600,
  },
)
export const RefreshBody = withExample(
  Type.Object(
    { refresh_token: Text({ description: 'The refresh token of the newest pair' }) },
    { title: 'RefreshRequest' },
  ),
  { refresh_token: REFRESH_TOKEN_EXAMPLE },
)
export const LoggedOut = withExample(Type.Object({ message: Type.String() }, { title: 'LoggedOut' }), {
  message: 'Successfully logged out',
})
