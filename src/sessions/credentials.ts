import { createHash, timingSafeEqual } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { preparedReads } from '../db/prepared.ts'
import { DomainError } from '../kernel/failure.ts'
import { turns } from '../kernel/turns.ts'
import type { World } from '../worlds/world.ts'
import { Worlds } from '../worlds/worlds.ts'
import { type Client, findClient } from './clients.ts'
import { LoginFailures } from './failures.ts'
import { clients } from './tables.ts'

/** The largest body of a login or a refresh, in bytes (contract C3). */
export const SESSION_BODY_BYTES_MAX = 8_192
/** In code points. Nobody has longer ones. */
const USERNAME_LENGTH_MAX = 128
const PASSWORD_LENGTH_MAX = 256

const NEW_WORLDS = 'new worlds'

const WORLD_USERNAME = /^sbx_([^.]*)(\.limited)?$/

/** The two accounts of every sandbox world (contract C2). */
export const SANDBOX_USERNAME = 'sandbox'
export const LIMITED_USERNAME = 'limited'

/** The digest under which a password is stored: passwords are long and random, so that a plain one will do. */
export const passwordDigest = (password: string): string => createHash('sha256').update(password).digest('hex')

/** What an unknown name is compared with, so that it takes as long as a known one. */
const NOBODYS_DIGEST = passwordDigest('')

export interface Credentials {
  username: string
  password: string
}

/** Who logs in, and in which world. */
export interface Identified {
  world: World
  client: Client
  /** The digest of the password that was right; undefined where the program itself logs a client in. */
  passwordSha256: string | undefined
}

/** Where a login comes from. */
export interface LoginOrigin {
  /** Undefined for a login of the program itself. */
  request: Request | undefined
  address: string
}

export interface CredentialCheckOptions {
  worlds: Worlds
  /** What a request must pass whose login makes a world; undefined where none does. */
  worldGate: ((request: Request) => void) | undefined
  limitsFailures: boolean
  /** Takes over what another process has written to a world. */
  keepUp: (world: World) => boolean
}

/** Finds who logs in, and in which world; in the sandbox `sbx_` names make their world on the spot (contract C15). */
export class CredentialCheck {
  readonly #failures: LoginFailures | undefined

  constructor(private readonly options: CredentialCheckOptions) {
    if (options.limitsFailures) this.#failures = new LoginFailures()
  }

  /** @throws DomainError credentials_wrong, rate_limited, sandbox_foreign or worlds_exhausted */
  async identify(
    { username, password }: Credentials,
    { request, address }: LoginOrigin,
    onPlaced: (world: World) => void,
  ): Promise<Identified> {
    if (isLonger(username, USERNAME_LENGTH_MAX) || isLonger(password, PASSWORD_LENGTH_MAX)) {
      throw new DomainError({ code: 'credentials_wrong' })
    }
    const { world, name } = await this.#place(username, password, request)
    onPlaced(world)
    this.options.keepUp(world)
    const passwordSha256 = passwordDigest(password)
    const client = verify(world, name, passwordSha256)
    if (client) return { world, client, passwordSha256 }
    const refused = this.#failures?.add(world, username, address)
    throw new DomainError(refused ? { code: 'rate_limited', ...refused } : { code: 'credentials_wrong' })
  }

  /** The world that a username belongs to, and the name that it has there. */
  async #place(
    username: string,
    password: string,
    request: Request | undefined,
  ): Promise<{ world: World; name: string }> {
    const { worlds, worldGate } = this.options
    const match = worldGate ? WORLD_USERNAME.exec(username) : null
    const worldName = match?.[1] ?? ''
    if (!match || !Worlds.isName(worldName)) return { world: worlds.default, name: username }
    const name = match[2] ? LIMITED_USERNAME : SANDBOX_USERNAME
    const find = () => worlds.find(worldName)
    // Strangers may ask for many at once: one is made in each turn of the event loop.
    const world = find() ?? (await turns.take(NEW_WORLDS, () => find() ?? this.#make(worldName, request)))
    if (passwordDigestOf(world) === UNCLAIMED) setPasswords(world, passwordDigest(password))
    return { world, name }
  }

  #make(worldName: string, request: Request | undefined): World {
    if (request) this.options.worldGate?.(request)
    return unclaimed(this.options.worlds.create(worldName))
  }
}

/** Whether a text has more code points than it may; a code point is one or two units. */
const isLonger = (text: string, lengthMax: number): boolean =>
  text.length > lengthMax && (text.length > 2 * lengthMax || [...text].length > lengthMax)

const statements = preparedReads({
  named: (query) =>
    query
      .select({ id: clients.id, digest: clients.passwordSha256 })
      .from(clients)
      .where(eq(clients.username, sql.placeholder('username')))
      .limit(1)
      .prepare(),
  first: (query) => query.select({ digest: clients.passwordSha256 }).from(clients).limit(1).prepare(),
})

const verify = (world: World, username: string, passwordSha256: string): Client | undefined => {
  const row = statements(world.db.query).named.get({ username })
  const right = timingSafeEqual(Buffer.from(passwordSha256, 'hex'), Buffer.from(row?.digest ?? NOBODYS_DIGEST, 'hex'))
  return row && right ? findClient(world, row.id) : undefined
}

/** What stands for the password of a world that nobody has logged in to: no digest is like it. */
const UNCLAIMED = ''

/** Leaves the password of a world to its first login. */
export const unclaimed = (world: World): World => {
  setPasswords(world, UNCLAIMED)
  return world
}

/** The password of a named world is the first that was used, for both of its accounts. */
const setPasswords = (world: World, digest: string): void => {
  world.db.fill((tx) => tx.update(clients).set({ passwordSha256: digest }).run())
}

/** Lets a world keep its password, whatever its data was put back to. */
export const withPasswordOf = (digest: string, world: World): World => {
  setPasswords(world, digest)
  return world
}

/** The digest of a named world's password. */
export const passwordDigestOf = (world: World): string =>
  statements(world.db.query).first.get()?.digest ?? NOBODYS_DIGEST
