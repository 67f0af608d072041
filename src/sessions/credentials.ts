import { createHash, timingSafeEqual } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, SECOND_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { Worlds } from '../worlds/worlds.ts'
import { type Client, findClient } from './clients.ts'
import { clients } from './tables.ts'

/** Failures in a minute, of one username from one address, after which the next attempt is refused unread. */
const FAILURES_MAX = 10
const FAILURE_WINDOW_MS = MINUTE_MS
/** How many pairs of username and address are watched in one world; the longest unseen is forgotten first. */
const WATCHED_MAX = 10_000

const WORLD_USERNAME = /^sbx_([^.]*)(\.limited)?$/

/** The two accounts of every sandbox world (contract C2). */
export const SANDBOX_USERNAME = 'sandbox'
export const LIMITED_USERNAME = 'limited'

/** The digest under which a password is stored: passwords are long and random, so that a plain one will do. */
export const passwordDigest = (password: string): string => createHash('sha256').update(password).digest('hex')

/** What an unknown name is compared with, so that it takes as long as a known one. */
const NOBODYS_DIGEST = passwordDigest('')

const failureTimes = worldPart(() => new LRUCache<string, number[]>({ maxSize: WATCHED_MAX, sizeCalculation: () => 1 }))

export interface Credentials {
  username: string
  password: string
}

export interface CredentialCheckOptions {
  worlds: Worlds
  makesWorlds: boolean
  limitsFailures: boolean
  /** Takes over what another process has written to a world. */
  keepUp: (world: World) => boolean
}

/** Finds who logs in, and in which world; in the sandbox `sbx_` names make their world on the spot (contract C15). */
export class CredentialCheck {
  constructor(private readonly options: CredentialCheckOptions) {}

  /** @throws DomainError credentials_wrong, rate_limited or worlds_exhausted */
  identify(
    { username, password }: Credentials,
    address: string,
    onPlaced: (world: World) => void,
  ): { world: World; client: Client } {
    const { world, name } = this.#place(username, password)
    onPlaced(world)
    this.options.keepUp(world)
    const watched = `${address} ${username}`
    const failures = this.options.limitsFailures ? recentFailures(world, watched) : []
    const oldest = failures[0]
    if (oldest !== undefined && failures.length >= FAILURES_MAX) {
      const waitMs = oldest + FAILURE_WINDOW_MS - world.clock.nowMs()
      throw new DomainError({ code: 'rate_limited', retryAfterSeconds: Math.ceil(waitMs / SECOND_MS) })
    }
    const client = verify(world, name, password)
    if (client) return { world, client }
    if (this.options.limitsFailures) world.of(failureTimes).set(watched, [...failures, world.clock.nowMs()])
    throw new DomainError({ code: 'credentials_wrong' })
  }

  /** The world that a username belongs to, and the name that it has there. */
  #place(username: string, password: string): { world: World; name: string } {
    const { worlds, makesWorlds } = this.options
    const match = makesWorlds ? WORLD_USERNAME.exec(username) : null
    const worldName = match?.[1] ?? ''
    if (!match || !Worlds.isName(worldName)) return { world: worlds.default, name: username }
    const name = match[2] ? LIMITED_USERNAME : SANDBOX_USERNAME
    const world = worlds.find(worldName) ?? unclaimed(worlds.create(worldName))
    if (passwordDigestOf(world) === UNCLAIMED) setPasswords(world, passwordDigest(password))
    return { world, name }
  }
}

const recentFailures = (world: World, watched: string): number[] => {
  const since = world.clock.nowMs() - FAILURE_WINDOW_MS
  return (world.of(failureTimes).get(watched) ?? []).filter((timeMs) => timeMs > since)
}

const verify = (world: World, username: string, password: string): Client | undefined => {
  const row = world.db.query
    .select({ id: clients.id, digest: clients.passwordSha256 })
    .from(clients)
    .where(eq(clients.username, username))
    .limit(1)
    .get()
  const right = timingSafeEqual(
    Buffer.from(passwordDigest(password), 'hex'),
    Buffer.from(row?.digest ?? NOBODYS_DIGEST, 'hex'),
  )
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
  world.db.query.update(clients).set({ passwordSha256: digest }).run()
}

/** Lets a world keep its password, whatever its data was put back to. */
export const withPasswordOf = (digest: string, world: World): World => {
  setPasswords(world, digest)
  return world
}

/** The digest of a named world's password. */
export const passwordDigestOf = (world: World): string =>
  world.db.query.select({ digest: clients.passwordSha256 }).from(clients).limit(1).get()?.digest ?? NOBODYS_DIGEST
