import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { networkOf } from '../http/client-address.ts'
import { rateLimited } from '../http/failures.ts'
import type { Incoming } from '../http/incoming.ts'
import { MINUTE_MS, SECOND_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { sha256Of } from '../kernel/sha256.ts'
import { type World, worldPart } from '../work/world.ts'
import { type Client, findClient } from './clients.ts'
import { CREDENTIALS_WRONG } from './contract.ts'
import { findCredentials, type Passwords } from './queries.ts'

/** The largest body of a login or a refresh, in bytes (contract C3). */
export const SESSION_BODY_BYTES_MAX = 8_192
/** In code points. */
const USERNAME_LENGTH_MAX = 128
const PASSWORD_LENGTH_MAX = 256

/** A plain digest is enough, because passwords are long and random. */
export const passwordDigest = sha256Of

/** Compared for an unknown username, so that it takes as long as for a known one. */
const NOBODY: Passwords = { passwordSha256: sha256Of(''), oldPasswordSha256: null, oldPasswordUntilMs: null }

export interface Credentials {
  username: string
  password: string
}

export interface Identified {
  world: World
  client: Client
  /** The digest of the password; undefined if the program itself logs the client in. */
  passwordSha256: string | undefined
}

interface LoginOrigin {
  /** The request of a login; undefined if the program itself logs in. */
  incoming: Incoming | undefined
  address: string
}

export interface Account {
  world: World
  username: string
}

/** The account that a login names, which may not exist. */
export type ResolveAccount = (credentials: Credentials, incoming: Incoming | undefined) => Account | Promise<Account>

interface CredentialCheckOptions {
  resolveAccount: ResolveAccount
  limitsFailures: boolean
  onFailed?: ((username: string, address: string) => void) | undefined
}

/** Failed logins per minute, of one username from one address or IPv6 network; further ones are refused. */
const FAILURES_MAX = 10
const FAILURE_WINDOW_MS = MINUTE_MS
/** The most pairs of username and address, in all worlds: some 4 MB. The least recently seen are dropped. */
const WATCHED_MAX = 10_000

let worldCount = 0
/** The number of a world. A reset world gets another one, so that its counts start again. */
const worldNumber = worldPart(() => ++worldCount)

/** Failed logins of the last minute, by the world's clock (contract C3). */
export class LoginFailures {
  readonly #times = new LRUCache<string, number[]>({ maxSize: WATCHED_MAX, sizeCalculation: () => 1 })

  /** Counts a failure, or returns the seconds until the next one counts. */
  add(world: World, username: string, address: string): { retryAfterSeconds: number } | undefined {
    const nowMs = world.clock.steadyMs()
    // A digest gives keys a fixed size, however long the username is.
    const key = sha256Of(`${world.of(worldNumber)} ${networkOf(address)} ${username}`)
    const recent = (this.#times.get(key) ?? []).filter((timeMs) => timeMs > nowMs - FAILURE_WINDOW_MS)
    const [oldest = nowMs] = recent
    if (recent.length >= FAILURES_MAX) {
      return { retryAfterSeconds: Math.ceil((oldest + FAILURE_WINDOW_MS - nowMs) / SECOND_MS) }
    }
    this.#times.set(key, [...recent, nowMs])
    return undefined
  }
}

export class CredentialCheck {
  readonly #failures: LoginFailures | undefined

  constructor(private readonly options: CredentialCheckOptions) {
    if (options.limitsFailures) this.#failures = new LoginFailures()
  }

  /** @throws DomainError credentials_wrong or rate_limited */
  async identify(
    { username, password }: Credentials,
    { incoming, address }: LoginOrigin,
    onPlaced: (world: World) => void,
  ): Promise<Identified> {
    if (isLonger(username, USERNAME_LENGTH_MAX) || isLonger(password, PASSWORD_LENGTH_MAX)) {
      throw new DomainError(CREDENTIALS_WRONG)
    }
    const { world, username: name } = await this.options.resolveAccount({ username, password }, incoming)
    onPlaced(world)
    const passwordSha256 = sha256Of(password)
    const client = verify(world, name, passwordSha256)
    if (client) return { world, client, passwordSha256 }
    this.options.onFailed?.(username, address)
    const refused = this.#failures?.add(world, username, address)
    throw new DomainError(refused ? rateLimited(refused.retryAfterSeconds) : CREDENTIALS_WRONG)
  }
}

/** In code points, each of which is one or two units. */
const isLonger = (text: string, lengthMax: number): boolean =>
  text.length > lengthMax && (text.length > 2 * lengthMax || [...text].length > lengthMax)

const verify = (world: World, username: string, passwordSha256: string): Client | undefined => {
  const row = findCredentials(world.db.query, username)
  const isRight = isPasswordOf(row ?? NOBODY, passwordSha256, world.clock.nowMs())
  return row && isRight ? findClient(world, row.id) : undefined
}

/** Compares, in constant time, with the client's password, and with the previous one while that is valid. */
export const isPasswordOf = (passwords: Passwords, sha256: string, nowMs: number): boolean => {
  const isNew = isEqual(passwords.passwordSha256, sha256)
  const isOld = isEqual(passwords.oldPasswordSha256 ?? NOBODY.passwordSha256, sha256)
  return isNew || (isOld && (passwords.oldPasswordUntilMs ?? 0) > nowMs)
}

const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
