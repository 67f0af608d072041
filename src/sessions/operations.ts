import { Type } from '@sinclair/typebox'
import { operationsOf } from '../http/operation.ts'
import { Timestamp } from '../http/schemas.ts'
import { Text } from '../http/validation.ts'
import { type Failure, invalid, type Violation } from '../kernel/failure.ts'
import { SESSION_BODY_BYTES_MAX } from './credentials.ts'
import {
  credentialsMissing,
  LOGIN_ERRORS,
  REFRESH_ERRORS,
  REFRESH_TOKEN_MISSING,
  REFRESH_TOKEN_WRONG,
} from './errors.ts'

const operation = operationsOf({
  tag: 'Authentication',
  tagDescription: 'Get, refresh and revoke tokens.',
  errorShape: 'structured',
})

const LoginBody = Type.Object(
  {
    username: Text({ minLength: 1, description: 'The API username' }),
    password: Text({ minLength: 1, description: 'The API password' }),
  },
  { title: 'LoginRequest' },
)
const RefreshBody = Type.Object(
  { refresh_token: Text({ description: 'The refresh token of the newest pair' }) },
  { title: 'RefreshRequest' },
)

export const TokenPair = Type.Object(
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
)

const PAIR_EXAMPLE = {
  access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.Zk3n',
  refresh_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJyIn0.Qm9p',
  access_expires_at: '2026-01-01T01:00:00.000Z',
  refresh_expires_at: '2026-01-08T00:00:00.000Z',
  client_id: 1,
  token_type: 'Bearer' as const,
  expires_in: 3600,
}

/** No cache keeps tokens (contract C3). */
export const NO_STORE = 'no-store'

const loginFailure = (violations: readonly Violation[]): Failure =>
  violations.every(({ rule }) => rule === 'format') ? invalid(violations) : credentialsMissing(violations)

const refreshFailure = (violations: readonly Violation[]): Failure => {
  const rule = violations[0]?.rule
  if (rule === 'required') return REFRESH_TOKEN_MISSING
  return rule === 'string' ? REFRESH_TOKEN_WRONG : invalid(violations)
}

export const login = (accountErrors: Record<string, Failure>) =>
  operation({
    id: 'login',
    summary: 'Exchange credentials for tokens',
    description:
      'The access token goes with every other request. Before it expires, the refresh token gets the next pair.',
    public: true,
    body: LoginBody,
    bodyExample: { username: 'acme', password: 'as it was issued' },
    bodyBytesMax: SESSION_BODY_BYTES_MAX,
    bodyFailure: loginFailure,
    success: { status: 200, description: 'A pair of tokens', schema: TokenPair, example: PAIR_EXAMPLE },
    errors: { ...LOGIN_ERRORS, ...accountErrors },
  })

export const refresh = operation({
  id: 'refresh',
  summary: 'Exchange a refresh token for a new pair of tokens',
  description:
    'The old refresh token becomes invalid. Using it again revokes every token that descends from its login.',
  public: true,
  body: RefreshBody,
  bodyExample: { refresh_token: PAIR_EXAMPLE.refresh_token },
  bodyBytesMax: SESSION_BODY_BYTES_MAX,
  bodyFailure: refreshFailure,
  success: { status: 200, description: 'A new pair of tokens', schema: TokenPair, example: PAIR_EXAMPLE },
  errors: REFRESH_ERRORS,
})

export const logout = operation({
  id: 'logout',
  summary: 'Revoke all tokens of the client',
  description:
    'Every access and refresh token of the client becomes invalid at once. It does not count towards the rate limits.',
  free: true,
  success: {
    status: 200,
    description: 'Every access and refresh token of the client is invalid',
    schema: Type.Object({ message: Type.String() }, { title: 'LoggedOut' }),
    example: { message: 'Successfully logged out' },
  },
  errors: {},
})
