import { readObject } from '../../http/body.ts'
import type { Incoming } from '../../http/incoming.ts'
import { type JsonObject, parseObject } from '../../http/json.ts'
import type { Failure } from '../../kernel/failure.ts'
import { turns } from '../../kernel/turns.ts'
import type { Log } from '../../observability/log.ts'
import { type Client, findClient } from '../../sessions/clients.ts'
import {
  type Account,
  type Credentials,
  passwordDigest,
  type ResolveAccount,
  SESSION_BODY_BYTES_MAX,
} from '../../sessions/credentials.ts'
import { findCredentials, findPasswordDigest } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { DEFAULT_WORLD, type Worlds } from '../../work/worlds.ts'
import { FOREIGN_SITE, worldDamaged, worldsExhausted } from '../errors.ts'
import { isAccount, SANDBOX_CLIENT_IDS, SANDBOX_USERNAME, setAccountDigests, UNCLAIMED } from '../seed/accounts.ts'
import { SandboxWorlds, WORLDS_MAX } from './worlds.ts'

/** Logins to named worlds, and their passwords (contracts C2 and C15). */

const WORLD_USERNAME = /^sbx_([^.]*)(?:\.(.+))?$/
/** Logins that wait to make a world, which takes 5 ms: strangers may request many at once. */
const NEW_WORLDS = {}

/**
 * Resolves `sbx_<name>` to the world of that name, which is made on first use; the first password used is its
 * password. A check decides which requests may make worlds.
 *
 * @throws DomainError sandbox_foreign, worlds_exhausted or world_damaged
 */
export const worldAccounts =
  (worlds: SandboxWorlds, requireAccess: (request: Request) => void): ResolveAccount =>
  async ({ username, password }: Credentials, incoming): Promise<Account> => {
    const [, worldName = '', client = SANDBOX_USERNAME] = WORLD_USERNAME.exec(username) ?? []
    if (!SandboxWorlds.isName(worldName)) return { world: worlds.default, username }
    const make = (): World => {
      if (incoming) requireAccess(incoming.request)
      return worlds.create(worldName)
    }
    const find = () => worlds.find(worldName)
    // A wrong name makes no world.
    if (!find() && !worlds.beginsWith(client)) return { world: worlds.default, username }
    if (!find()) await turns.take(NEW_WORLDS)
    const world = find() ?? make()
    const digest = findCredentials(world.db.query, client)?.passwordSha256
    if (digest === UNCLAIMED) setAccountDigests(world.db, passwordDigest(password))
    return { world, username: client }
  }

/** The username with which a client of a world logs in (contracts C2 and C15). */
export const usernameIn = ({ name }: Pick<World, 'name'>, client: string): string => {
  if (name === DEFAULT_WORLD && isAccount(client)) return client
  return client === SANDBOX_USERNAME ? `sbx_${name}` : `sbx_${name}.${client}`
}

/** The client that logs in to a world with this username. */
export const findClientIn = (world: World, username: string): Client | undefined => {
  const named = WORLD_USERNAME.exec(username)
  const client = named ? (named[2] ?? SANDBOX_USERNAME) : username
  const row = findCredentials(world.db.query, client)
  return row && findClient(world, row.id)
}

export const WORLD_ERRORS: Record<string, Failure> = {
  'auth.exhausted': worldsExhausted(WORLDS_MAX),
  'auth.world_damaged': worldDamaged('checkout'),
  'auth.foreign': FOREIGN_SITE,
}

/**
 * Makes a world whose first login chooses its password, or resets one to its seeded state or to an image.
 *
 * @throws DomainError worlds_exhausted, world_damaged
 */
export const makeWorld = (worlds: SandboxWorlds, name: string, image?: Uint8Array): World => {
  const existing = worlds.find(name)
  if (existing) return restoreInto(worlds, existing, image)
  const world = worlds.create(name, image)
  if (image !== undefined) setAccountDigests(world.db, UNCLAIMED)
  return world
}

/** Resets a world to its seeded state, or to an image. A named world keeps its password. */
export const restoreInto = (worlds: SandboxWorlds, world: World, image?: Uint8Array): World => {
  if (world.name === DEFAULT_WORLD) return worlds.replace(world, image)
  const digest = worldDigest(world) ?? UNCLAIMED
  const next = worlds.replace(world, image)
  setAccountDigests(next.db, digest)
  return next
}

const worldDigest = (world: World): string | undefined => findPasswordDigest(world.db.query, SANDBOX_CLIENT_IDS.sandbox)

/** Reads the world from a body of these routes. Nothing of it is verified (contract C3). */
const NAMED_IN: Record<string, (body: JsonObject) => string | undefined> = {
  '/auth/login': ({ username }) => /^sbx_([^.]+)/.exec(String(username))?.[1],
  '/auth/refresh': ({ refresh_token: token }) => worldOfToken(String(token)),
}

/** The world that a login or a refresh names, if it exists: its faults apply, and its log keeps the request. */
export const worldNamedIn = async (worlds: Worlds, incoming: Incoming): Promise<World | undefined> => {
  const nameIn = NAMED_IN[incoming.route]
  if (!nameIn) return undefined
  try {
    const name = nameIn(await readObject(incoming, { bytesMax: SESSION_BODY_BYTES_MAX }))
    return name === undefined ? undefined : worlds.find(name)
  } catch {
    return undefined
  }
}

const BEARER = /^bearer +(.+)$/i

/** The world of a refused access token: its user looks there for the refusal. */
export const worldOfBearer = (worlds: Worlds, { headers }: Request): World | undefined => {
  const token = BEARER.exec(headers.get('authorization') ?? '')?.[1]
  try {
    return token === undefined ? undefined : worlds.find(worldOfToken(token))
  } catch {
    return undefined
  }
}

/** The world in a token that nobody has verified. */
const worldOfToken = (token: string): string => {
  const [, payload = ''] = token.split('.')
  return String((JSON.parse(Buffer.from(payload, 'base64url').toString()) as JsonObject).wld)
}

/**
 * Logs why a login was refused, which its response must not say (contract C3). It shows only usernames of worlds: in another, somebody
 * may have typed a password.
 */
export const explainRefusal = ({ log, worlds }: { log: Log; worlds: Worlds }, { text = '' }: Incoming): void => {
  const username = String(parseObject(text).username)
  const shown = /^sbx_/i.test(username) ? username.slice(0, USERNAME_SHOWN_MAX) : undefined
  log.warn('login refused', { username: shown, reason: reasonOf(worlds, username) })
}

/** A world's prefix and name, and the name of a client. */
const USERNAME_SHOWN_MAX = 128

const reasonOf = (worlds: Worlds, username: string): string => {
  const [, worldName, client = SANDBOX_USERNAME] = /^sbx_([^.]*)(?:\.(.*))?$/i.exec(username) ?? []
  if (worldName !== undefined && !(username.startsWith('sbx_') && SandboxWorlds.isName(worldName))) {
    return 'a world is named in lower-case letters, digits, - and _, at most 64: sbx_my-test'
  }
  const name = worldName === undefined ? username : client
  const world = worldName === undefined ? worlds.default : worlds.find(worldName)
  if (world?.name === DEFAULT_WORLD && isAccount(name)) return `the password of ${name} is ${name}`
  if (!world || !findCredentials(world.db.query, name)) {
    return worldName === undefined
      ? `no client has this name: log in as ${SANDBOX_USERNAME}, or as sbx_<name> for a world of your own`
      : 'the world has no client of this name'
  }
  return isAccount(name)
    ? 'the password differs from the one of the first login to this world'
    : 'the password is not the one of this client'
}
