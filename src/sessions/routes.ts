import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { RequestContext } from '../http/request-id.ts'
import { SECOND_MS, toTimestamp } from '../kernel/clock.ts'
import type { Failure } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import type { CredentialCheck } from './credentials.ts'
import type { Guard } from './guard.ts'
import * as operations from './operations.ts'
import { NO_STORE, type TokenPair } from './operations.ts'
import type { IssuedTokens, Session, Sessions } from './sessions.ts'

/** Login, refresh and logout (spec section 5, contract C3). Errors leave in the structured shape. */

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

export const sessionRoutes = (options: SessionRoutesOptions) => {
  const { credentials, sessions, guard, accessTtlMs, accountErrors, addressOf, onIdentified } = options
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
        set.headers['Cache-Control'] = NO_STORE
        return pairBody(tokens)
      },
      operations.login(accountErrors),
    )
    .post(
      '/auth/refresh',
      async ({ body, request, set }) => {
        const { world, client, ...tokens } = await sessions.refresh(body.refresh_token)
        numberIn(world, set)
        onIdentified(request, { world, client })
        set.headers['Cache-Control'] = NO_STORE
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
