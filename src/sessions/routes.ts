import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { BODY_UNREADABLE, rateLimited } from '../http/failures.ts'
import { operationsOf } from '../http/operation.ts'
import type { RequestContext } from '../http/request-id.ts'
import { SECOND_MS, toTimestamp } from '../kernel/clock.ts'
import { type Failure, INTERNAL, violation } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import {
  CREDENTIALS_WRONG,
  LoggedOut,
  LoginBody,
  loginFailure,
  REFRESH_TOKEN_MISSING,
  REFRESH_TOKEN_WRONG,
  RefreshBody,
  refreshFailure,
  TokenPair,
} from './contract.ts'
import { type CredentialCheck, SESSION_BODY_BYTES_MAX } from './credentials.ts'
import type { Guard } from './guard.ts'
import type { IssuedTokens, Session, Sessions } from './sessions.ts'

const operation = operationsOf({
  tag: 'Authentication',
  tagDescription: 'Get, refresh and revoke tokens.',
})
const unwritable = (field: string) => violation(field, 'format', 'must not hold NUL or half a surrogate pair')

const operationsWith = (accountErrors: Record<string, Failure>) => ({
  login: operation({
    id: 'login',
    summary: 'Exchange credentials for tokens',
    description:
      'The access token goes with every other request. Before it expires, the refresh token gets the next pair.',
    public: true,
    secret: true,
    body: LoginBody,
    bodyBytesMax: SESSION_BODY_BYTES_MAX,
    bodyFailure: loginFailure,
    success: { status: 200, description: 'A pair of tokens', schema: TokenPair },
    errors: {
      'auth.credentials_missing': loginFailure([{ field: 'password', rule: 'required', problem: 'is required' }]),
      'auth.body_unreadable': BODY_UNREADABLE,
      'auth.credentials_wrong': CREDENTIALS_WRONG,
      'auth.too_many_failures': rateLimited(42),
      'auth.validation': unwritable('username'),
      ...accountErrors,
    },
  }),
  refresh: operation({
    id: 'refresh',
    summary: 'Exchange a refresh token for a new pair of tokens',
    description:
      'The old refresh token becomes invalid. Using it again revokes every token that descends from its login.',
    public: true,
    secret: true,
    body: RefreshBody,
    bodyBytesMax: SESSION_BODY_BYTES_MAX,
    bodyFailure: refreshFailure,
    success: { status: 200, description: 'A new pair of tokens', schema: TokenPair },
    errors: {
      'auth.refresh_token_missing': REFRESH_TOKEN_MISSING,
      'auth.body_unreadable': BODY_UNREADABLE,
      'auth.refresh_token_wrong': REFRESH_TOKEN_WRONG,
      'auth.validation': unwritable('refresh_token'),
    },
  }),
  logout: operation({
    id: 'logout',
    summary: 'Revoke all tokens of the client',
    description:
      'Every access and refresh token of the client becomes invalid at once. It does not count towards the rate limits.',
    free: true,
    unexpectedError: INTERNAL.message,
    success: {
      status: 200,
      description: 'Every access and refresh token of the client is invalid',
      schema: LoggedOut,
    },
  }),
})

export interface SessionRoutesOptions {
  credentials: CredentialCheck
  sessions: Sessions
  guard: Guard
  accessTtlMs: number
  /** Failures of `resolveAccount`. */
  accountErrors: Record<string, Failure>
  /** The address that failed logins are limited by. */
  addressOf: (request: Request) => string
  /** Notified of whom a request gets tokens for. */
  onIdentified: (request: Request, who: Pick<Session, 'world' | 'client'>) => void
}

/** Login, refresh and logout (spec section 5, contract C3). */
export const sessionRoutes = (options: SessionRoutesOptions) => {
  const { credentials, sessions, guard, accessTtlMs, accountErrors, addressOf, onIdentified } = options
  const operations = operationsWith(accountErrors)
  const pairBody = ({ access, refresh, clientId }: IssuedTokens): Static<typeof TokenPair> => ({
    access_token: access.token,
    refresh_token: refresh.token,
    access_expires_at: toTimestamp(access.expiresAtMs),
    refresh_expires_at: toTimestamp(refresh.expiresAtMs),
    client_id: clientId,
    token_type: 'Bearer',
    expires_in: accessTtlMs / SECOND_MS,
  })

  return new Elysia({ name: 'sessions' })
    .post(
      '/auth/login',
      async ({ body, request, set }) => {
        const identified = await credentials.identify(body, { request, address: addressOf(request) }, (world) =>
          numberIn(world, set),
        )
        const tokens = await sessions.begin(identified)
        onIdentified(request, identified)
        return pairBody(tokens)
      },
      operations.login,
    )
    .post(
      '/auth/refresh',
      async ({ body, request, set }) => {
        const { world, client, ...tokens } = await sessions.refresh(body.refresh_token)
        numberIn(world, set)
        onIdentified(request, { world, client })
        return pairBody(tokens)
      },
      operations.refresh,
    )
    .use(guard.plugin({ isFree: true }))
    .post(
      '/auth/logout',
      async ({ session }) => {
        await sessions.end(session)
        return { message: 'Successfully logged out' }
      },
      operations.logout,
    )
}

/** A request is numbered in its world, so that no other world counts it. */
const numberIn = (world: World, set: RequestContext['set']): void => {
  set.headers['X-Request-Id'] ??= world.nextRequestId()
}
