import type { Static } from '@sinclair/typebox'
import { rateLimited } from '../http/failures.ts'
import type { Incoming } from '../http/incoming.ts'
import { LAST_TAG } from '../http/operation.ts'
import { Routes } from '../http/route-lines.ts'
import { SECOND_MS, toTimestamp } from '../kernel/clock.ts'
import { type Failure, INTERNAL, violation } from '../kernel/failure.ts'
import type { World } from '../work/world.ts'
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

const GROUP = {
  prefix: '/auth',
  tag: 'Authentication',
  tagDescription: 'Get and refresh tokens.',
  names: 'auth.',
}
/** The last group in the document: tools send requests in its order, and those after a logout would be refused. */
const LAST_GROUP = { ...GROUP, tag: LAST_TAG, tagDescription: 'Revoke all tokens, at the end.' }
const unwritable = (field: string) => violation(field, 'format', 'must not contain NUL or half a surrogate pair')

export interface SessionRoutesOptions {
  credentials: CredentialCheck
  sessions: Sessions
  guard: Guard
  accessTtlMs: number
  /** The failures of `resolveAccount`. */
  accountErrors: Record<string, Failure>
  /** The address that failed logins are limited by. */
  addressOf: (request: Request) => string
  /** The name of a client in logs. */
  usernameOf: (who: Pick<Session, 'world' | 'client'>) => string
}

/** Login, refresh and logout (spec section 5, contract C3). */
export const sessionRoutes = (options: SessionRoutesOptions) => {
  const { credentials, sessions, guard, accessTtlMs, accountErrors, addressOf, usernameOf } = options
  const pairBody = ({ access, refresh, clientId }: IssuedTokens): Static<typeof TokenPair> => ({
    access_token: access.token,
    refresh_token: refresh.token,
    access_expires_at: toTimestamp(access.expiresAtMs),
    refresh_expires_at: toTimestamp(refresh.expiresAtMs),
    client_id: clientId,
    token_type: 'Bearer',
    expires_in: accessTtlMs / SECOND_MS,
  })

  const open = new Routes({ ...GROUP, public: true })
    .post(
      '/login',
      async (incoming) => {
        const origin = { incoming, address: addressOf(incoming.request) }
        const identified = await credentials.identify(incoming.body, origin, (world) => numberIn(world, incoming))
        const tokens = await sessions.begin(identified)
        incoming.username = usernameOf(identified)
        return pairBody(tokens)
      },
      {
        id: 'login',
        summary: 'Exchange credentials for tokens',
        description:
          'The access token goes with every other request. Before it expires, the refresh token gets the next pair.',
        body: LoginBody,
        bodyBytesMax: SESSION_BODY_BYTES_MAX,
        bodyFailure: loginFailure,
        response: { description: 'A pair of tokens', schema: TokenPair },
        refuses: {
          credentials_missing: loginFailure([{ field: 'password', rule: 'required', problem: 'is required' }]),
          credentials_wrong: CREDENTIALS_WRONG,
          too_many_failures: rateLimited(42),
          validation: unwritable('username'),
          ...accountErrors,
        },
      },
    )
    .post(
      '/refresh',
      async (incoming) => {
        const { world, client, ...tokens } = await sessions.refresh(incoming.body.refresh_token)
        numberIn(world, incoming)
        incoming.username = usernameOf({ world, client })
        return pairBody(tokens)
      },
      {
        id: 'refresh',
        summary: 'Exchange a refresh token for a new pair of tokens',
        description:
          'The old refresh token becomes invalid. Using it again revokes every token that descends from its login.',
        body: RefreshBody,
        bodyBytesMax: SESSION_BODY_BYTES_MAX,
        bodyFailure: refreshFailure,
        response: { description: 'A new pair of tokens', schema: TokenPair },
        refuses: {
          refresh_token_missing: REFRESH_TOKEN_MISSING,
          refresh_token_wrong: REFRESH_TOKEN_WRONG,
          validation: unwritable('refresh_token'),
        },
      },
    )

  const revoking = guard.routes(LAST_GROUP).post(
    '/logout',
    async ({ session }) => {
      await sessions.end(session)
      return { message: 'Successfully logged out' }
    },
    {
      id: 'logout',
      summary: 'Revoke all tokens of the client',
      description:
        'Every access and refresh token of the client becomes invalid immediately. It does not count towards the rate limits.',
      free: true,
      unexpectedError: INTERNAL.message,
      response: {
        description: 'Every access and refresh token of the client is invalid',
        schema: LoggedOut,
      },
    },
  )
  return [open, revoking]
}

/** Numbers a request in its world, so that no other world counts it. */
const numberIn = (world: World, { set }: Incoming): void => {
  set.headers['X-Request-Id'] ??= world.nextRequestId()
}
