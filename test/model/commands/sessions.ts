import fc from 'fast-check'
import { structured } from '../../errors.ts'
import { memberFaults } from '../expect.ts'
import { CLIENT_IDS, type ClientName, DEFAULT, spanWithin, type Token, type World } from '../model.ts'
import type { Call, Expected, Play, ProgramResponse, Rule, Who } from '../play.ts'
import { command, whoever, worldNames } from './command.ts'

/** Logins, refreshes and logouts (contract C3). */

const ACCESS_MS = 3_600_000
const REFRESH_MS = 7 * 86_400_000
const SECOND = 1_000

const usernameOf = ({ world, client }: Who): string => {
  if (world === DEFAULT) return client
  return client === 'limited' ? `sbx_${world}.limited` : `sbx_${world}`
}
const passwordOf = (play: Play, { world, client }: Who): string =>
  world === DEFAULT ? client : (play.model.worlds.get(world)?.password ?? 'a password')

interface PairWire {
  access_token: string
  refresh_token: string
  access_expires_at: string
  refresh_expires_at: string
}

/** Takes over a pair of tokens, and returns the problem with it. */
const pairFault = (
  play: Play,
  world: World,
  client: ClientName,
  response: ProgramResponse,
  keep: (token: Token) => void,
) => {
  const pair = response.json as PairWire
  const token: Token = {
    world: world.name,
    client,
    access: pair.access_token,
    refresh: pair.refresh_token,
    accessExpiresAt: Date.parse(pair.access_expires_at),
    refreshExpiresAt: Date.parse(pair.refresh_expires_at),
  }
  keep(token)
  play.remember(token)
  const now = play.now(world, response.real)
  const since = { lo: now.lo - SECOND, hi: now.hi }
  if (!spanWithin(since, token.accessExpiresAt - ACCESS_MS)) return 'access_expires_at is not in an hour'
  if (!spanWithin(since, token.refreshExpiresAt - REFRESH_MS)) return 'refresh_expires_at is not in seven days'
  return memberFaults(pair, { client_id: CLIENT_IDS[client], token_type: 'Bearer', expires_in: ACCESS_MS / SECOND })
}

/** Logs in, which makes an unknown world (contract C15). */
export const logIn = async (play: Play, who: Who, password = passwordOf(play, who)): Promise<void> => {
  const { model } = play
  const username = usernameOf(who)
  const call = { operation: 'login', body: { username, password } }
  const rule = (response: ProgramResponse): Expected => {
    const world = model.worlds.get(who.world) ?? model.put(who.world)
    if (model.claims(world, who.client, password)) {
      return {
        status: 200,
        fault: () => pairFault(play, world, who.client, response, (token) => model.loggedIn(token)),
      }
    }
    const now = play.now(world, response.real)
    const isRefused = model.limits === undefined ? false : model.tooManyFailures(world, username, now)
    if (response.status === 401) model.failed(world, username, now)
    if (isRefused === true) return { status: 429 }
    const wrong = { status: 401, body: structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid credentials') }
    return isRefused === undefined && response.status === 429 ? { status: 429 } : wrong
  }
  await play.open(call, rule)
}

/** Sends a request as a client, who logs in first if there is no valid token. */
export const ask = async (play: Play, who: Who, call: Call, rule: Rule): Promise<ProgramResponse> => {
  if (who.token === undefined && play.tokenOf(who) === undefined) await logIn(play, who)
  return play.api(who, call, rule)
}

const refresh = async (play: Play, who: Who): Promise<void> => {
  const { model } = play
  const token = play.refreshTokenOf(who)
  const sent = who.token === 'garbage' ? 'a.b.c' : (token?.refresh ?? token?.access ?? 'none')
  await play.open({ operation: 'refresh', body: { refresh_token: sent } }, (response) => {
    const login = model.refresh(sent, (world) => play.now(world, response.real))
    if (!login || !token) {
      return { status: 401, body: structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid refresh token') }
    }
    const world = model.world(token.world)
    return {
      status: 200,
      fault: () => pairFault(play, world, login.client, response, (next) => model.refreshed(login, next)),
    }
  })
}

export const sessionCommands = [
  command('log in', ['login'], 4, { args: whoever, run: (play, who) => logIn(play, who) }),
  command('log in with a password', ['login'], 2, {
    args: fc.record({ who: whoever, password: fc.constantFrom('sandbox', 'wrong', 'a password') }),
    run: (play, { who, password }) => logIn(play, who, password),
  }),
  command('log in wrongly again and again', ['login'], 1, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world }) => {
      for (let count = 0; count < 12; count++) await logIn(play, { world, client: 'sandbox' }, 'wrong')
    },
  }),
  command('refresh', ['refresh'], 4, { args: whoever, run: refresh }),
  command('log out', ['logout'], 2, {
    args: whoever,
    run: async (play, who) => {
      const access = play.tokenOf(who)
      await play.settle()
      const response = await play.send({ operation: 'logout' }, access)
      play.judge(
        { operation: 'logout' },
        access,
        response,
        ({ model, world, client }) => {
          model.loggedOut(world, client)
          return { status: 200, body: { message: 'Successfully logged out' } }
        },
        'free',
      )
    },
  }),
]
