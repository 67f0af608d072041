import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { readObject } from '../http/body.ts'
import type { JsonObject } from '../http/json.ts'
import { documented } from '../http/operation.ts'
import type { RequestContext } from '../http/request-id.ts'
import { Timestamp } from '../http/schemas.ts'
import { bodyCheck } from '../http/validation.ts'
import { SECOND_MS, toTimestamp } from '../kernel/clock.ts'
import { DomainError, type Failure, type Violation } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import { type CredentialCheck, type Credentials, SESSION_BODY_BYTES_MAX } from './credentials.ts'
import type { Guard } from './guard.ts'
import type { IssuedTokens, Sessions } from './sessions.ts'

/** Login, refresh and logout (spec section 5, contract C3). Errors leave in the structured shape. */

const Username = Type.String({ minLength: 1, description: 'The API username' })
const Password = Type.String({ minLength: 1, description: 'The API password' })
const LoginBody = Type.Object({ username: Username, password: Password }, { title: 'LoginRequest' })
const RefreshBody = Type.Object(
  {
    refresh_token: Type.String({ description: 'The refresh token of the newest pair' }),
  },
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
  token_type: 'Bearer',
  expires_in: 3600,
}

const checkLogin = bodyCheck(LoginBody)
const checkRefresh = bodyCheck(RefreshBody)

/** For answers that carry tokens: no cache keeps them (contract C3). */
const NO_STORE = 'no-store'

const REQUIRED = (field: string): Violation => ({ field, rule: 'required', problem: 'is required' })

const UNWRITABLE = (field: string): Violation => ({
  field,
  rule: 'format',
  problem: 'must not hold NUL or half a surrogate pair',
})

export interface SessionRoutesOptions {
  credentials: CredentialCheck
  sessions: Sessions
  guard: Guard
  accessTtlMs: number
  /** Hears in which world a login is, right or wrong. */
  onPlaced: ((request: Request, world: World) => void) | undefined
  /** What resolving the account of a login can refuse. */
  accountRefusals: Record<string, Failure>
  /** Where a request comes from, for the limit on failed logins. */
  addressOf: (request: Request) => string
}

export const sessionRoutes = ({
  credentials,
  sessions,
  guard,
  accessTtlMs,
  accountRefusals,
  addressOf,
  onPlaced,
}: SessionRoutesOptions) => {
  const pairBody = (tokens: IssuedTokens) => ({
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
      async ({ request, set }) => {
        const login = readLogin(await readObject(request, SESSION_BODY_BYTES_MAX))
        const identified = await credentials.identify(login, { request, address: addressOf(request) }, (place) => {
          numberIn(place, set)
          onPlaced?.(request, place)
        })
        const tokens = await sessions.begin(identified)
        set.headers['Cache-Control'] = NO_STORE
        return pairBody(tokens)
      },
      documented({
        id: 'login',
        tag: 'Authentication',
        summary: 'Exchange credentials for tokens',
        description:
          'In the sandbox the client `sandbox` with the password `sandbox` always exists. A username `sbx_<name>` makes a world of that name on the spot: a fresh copy of the seeded state that no other world can touch.',
        public: true,
        body: { schema: LoginBody, example: { username: 'sandbox', password: 'sandbox' } },
        success: { status: 200, description: 'A pair of tokens', schema: TokenPair, example: PAIR_EXAMPLE },
        refusals: {
          'auth.credentials_missing': { code: 'credentials_missing', violations: [REQUIRED('password')] },
          'auth.body_unreadable': { code: 'body_unreadable' },
          'auth.credentials_wrong': { code: 'credentials_wrong' },
          'auth.too_many_failures': { code: 'rate_limited', retryAfterSeconds: 42 },
          'auth.validation': { code: 'validation', violations: [UNWRITABLE('username')] },
          ...accountRefusals,
        },
      }),
    )
    .post(
      '/auth/refresh',
      async ({ request, set }) => {
        const token = readRefreshToken(await readObject(request, SESSION_BODY_BYTES_MAX))
        const { world, ...tokens } = await sessions.refresh(token)
        numberIn(world, set)
        set.headers['Cache-Control'] = NO_STORE
        return pairBody(tokens)
      },
      documented({
        id: 'refresh',
        tag: 'Authentication',
        summary: 'Exchange a refresh token for a new pair of tokens',
        description:
          'The old refresh token is dead afterwards. Using a dead one revokes every token that descends from its login.',
        public: true,
        body: { schema: RefreshBody, example: { refresh_token: PAIR_EXAMPLE.refresh_token } },
        success: { status: 200, description: 'A new pair of tokens', schema: TokenPair, example: PAIR_EXAMPLE },
        refusals: {
          'auth.refresh_token_missing': { code: 'refresh_token_missing' },
          'auth.body_unreadable': { code: 'body_unreadable' },
          'auth.refresh_token_wrong': { code: 'refresh_token_wrong' },
          'auth.validation': { code: 'validation', violations: [UNWRITABLE('refresh_token')] },
        },
      }),
    )
    .use(guard.freePlugin())
    .post(
      '/auth/logout',
      async ({ session }) => {
        await sessions.end(session)
        return { message: 'Successfully logged out' }
      },
      documented({
        id: 'logout',
        tag: 'Authentication',
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
        refusals: {},
      }),
    )
}

/** A request that turns out to be of a world is numbered there, so that no other world counts. */
const numberIn = (world: World, set: RequestContext['set']): void => {
  set.headers['X-Request-Id'] ??= world.nextRequestId()
}

/** @throws DomainError credentials_missing, or validation for what cannot be written down (contract C4) */
const readLogin = (sent: JsonObject): Credentials => {
  try {
    return checkLogin(sent)
  } catch (error) {
    if (!(error instanceof DomainError) || error.failure.code !== 'validation') throw error
    const { violations } = error.failure
    if (violations.every(({ rule }) => rule === 'format')) throw error
    throw new DomainError({ code: 'credentials_missing', violations })
  }
}

/** @throws DomainError refresh_token_missing, refresh_token_wrong, or validation for what cannot be written down */
const readRefreshToken = (sent: JsonObject): string => {
  const token = sent.refresh_token
  if (token === undefined || token === null) throw new DomainError({ code: 'refresh_token_missing' })
  if (typeof token !== 'string') throw new DomainError({ code: 'refresh_token_wrong' })
  return checkRefresh(sent).refresh_token
}
