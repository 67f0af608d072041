import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { BODY_UNREADABLE, rateLimited } from '../http/failures.ts'
import { operationsOf } from '../http/operation.ts'
import type { RequestContext } from '../http/request-id.ts'
import { Timestamp } from '../http/schemas.ts'
import { Text } from '../http/validation.ts'
import { SECOND_MS, toTimestamp } from '../kernel/clock.ts'
import { type Failure, invalid, type Violation, violation } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import { type CredentialCheck, SESSION_BODY_BYTES_MAX } from './credentials.ts'
import { CREDENTIALS_WRONG, credentialsMissing, REFRESH_TOKEN_MISSING, REFRESH_TOKEN_WRONG } from './errors.ts'
import type { Guard } from './guard.ts'
import type { IssuedTokens, Sessions } from './sessions.ts'

/** Login, refresh and logout (spec section 5, contract C3). Errors leave in the structured shape. */

const operation = operationsOf({ tag: 'Authentication', errorShape: 'structured' })

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

const TokenPair = Type.Object(
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
const NO_STORE = 'no-store'

const unwritable = (field: string) => violation(field, 'format', 'must not hold NUL or half a surrogate pair')

export interface SessionRoutesOptions {
  credentials: CredentialCheck
  sessions: Sessions
  guard: Guard
  accessTtlMs: number
  /** Hears in which world a login is, right or wrong. */
  onPlaced: ((request: Request, world: World) => void) | undefined
  /** What resolving the account of a login can refuse. */
  accountErrors: Record<string, Failure>
  /** Where a request comes from, for the limit on failed logins. */
  addressOf: (request: Request) => string
}

export const sessionRoutes = ({
  credentials,
  sessions,
  guard,
  accessTtlMs,
  accountErrors,
  addressOf,
  onPlaced,
}: SessionRoutesOptions) => {
  const pairBody = (tokens: IssuedTokens): Static<typeof TokenPair> => ({
    access_token: tokens.accessToken,
    refresh_token: tokens.refreshToken,
    access_expires_at: toTimestamp(tokens.accessExpiresAtMs),
    refresh_expires_at: toTimestamp(tokens.refreshExpiresAtMs),
    client_id: tokens.clientId,
    token_type: 'Bearer',
    expires_in: accessTtlMs / SECOND_MS,
  })

  return new Elysia({ name: 'sessions' })
    .post(
      '/auth/login',
      async ({ body, request, set }) => {
        const identified = await credentials.identify(body, { request, address: addressOf(request) }, (place) => {
          numberIn(place, set)
          onPlaced?.(request, place)
        })
        const tokens = await sessions.begin(identified)
        set.headers['Cache-Control'] = NO_STORE
        return pairBody(tokens)
      },
      operation({
        id: 'login',
        summary: 'Exchange credentials for tokens',
        description:
          'In the sandbox the client `sandbox` with the password `sandbox` always exists. A username `sbx_<name>` makes a world of that name on the spot: a fresh copy of the seeded state that no other world can touch.',
        public: true,
        body: LoginBody,
        bodyExample: { username: 'sandbox', password: 'sandbox' },
        bodyBytesMax: SESSION_BODY_BYTES_MAX,
        bodyFailure: loginFailure,
        success: { status: 200, description: 'A pair of tokens', schema: TokenPair, example: PAIR_EXAMPLE },
        errors: {
          'auth.credentials_missing': credentialsMissing([
            { field: 'password', rule: 'required', problem: 'is required' },
          ]),
          'auth.body_unreadable': BODY_UNREADABLE,
          'auth.credentials_wrong': CREDENTIALS_WRONG,
          'auth.too_many_failures': rateLimited(42),
          'auth.validation': unwritable('username'),
          ...accountErrors,
        },
      }),
    )
    .post(
      '/auth/refresh',
      async ({ body, set }) => {
        const { world, ...tokens } = await sessions.refresh(body.refresh_token)
        numberIn(world, set)
        set.headers['Cache-Control'] = NO_STORE
        return pairBody(tokens)
      },
      operation({
        id: 'refresh',
        summary: 'Exchange a refresh token for a new pair of tokens',
        description:
          'The old refresh token is dead afterwards. Using a dead one revokes every token that descends from its login.',
        public: true,
        body: RefreshBody,
        bodyExample: { refresh_token: PAIR_EXAMPLE.refresh_token },
        bodyBytesMax: SESSION_BODY_BYTES_MAX,
        bodyFailure: refreshFailure,
        success: { status: 200, description: 'A new pair of tokens', schema: TokenPair, example: PAIR_EXAMPLE },
        errors: {
          'auth.refresh_token_missing': REFRESH_TOKEN_MISSING,
          'auth.body_unreadable': BODY_UNREADABLE,
          'auth.refresh_token_wrong': REFRESH_TOKEN_WRONG,
          'auth.validation': unwritable('refresh_token'),
        },
      }),
    )
    .use(guard.plugin({ isFree: true }))
    .post(
      '/auth/logout',
      async ({ session }) => {
        await sessions.end(session)
        return { message: 'Successfully logged out' }
      },
      operation({
        id: 'logout',
        summary: 'Revoke all tokens of the client',
        description:
          'Access and refresh tokens of every login of the client are dead at once. It takes no request of the limits.',
        free: true,
        success: {
          status: 200,
          description: 'Every access and refresh token of the client is dead',
          schema: Type.Object({ message: Type.String() }, { title: 'LogoutResult' }),
          example: { message: 'Successfully logged out' },
        },
        errors: {},
      }),
    )
}

/** A request that turns out to be of a world is numbered there, so that no other world counts. */
const numberIn = (world: World, set: RequestContext['set']): void => {
  set.headers['X-Request-Id'] ??= world.nextRequestId()
}

const loginFailure = (violations: readonly Violation[]): Failure =>
  violations.every(({ rule }) => rule === 'format') ? invalid(violations) : credentialsMissing(violations)

const refreshFailure = (violations: readonly Violation[]): Failure => {
  const rule = violations[0]?.rule
  if (rule === 'required') return REFRESH_TOKEN_MISSING
  return rule === 'string' ? REFRESH_TOKEN_WRONG : invalid(violations)
}
