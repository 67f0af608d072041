import { createHash, timingSafeEqual } from 'node:crypto'
import { rateLimited } from '../http/failures.ts'
import { DomainError } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import { type Client, findClient } from './clients.ts'
import { CREDENTIALS_WRONG } from './contract.ts'
import { LoginFailures } from './failures.ts'
import { findCredentials, type Passwords } from './queries.ts'

/** The largest body of a login or a refresh, in bytes (contract C3). */
export const SESSION_BODY_BYTES_MAX = 8_192
/** In code points. */
const USERNAME_LENGTH_MAX = 128
const PASSWORD_LENGTH_MAX = 256

/** A plain digest is enough, because passwords are long and random. */
export const passwordDigest = (password: string): string => createHash('sha256').update(password).digest('hex')

/** Compared for an unknown username, so that it takes as long as for a known one. */
const NOBODY: Passwords = { passwordSha256: passwordDigest(''), oldPasswordSha256: null, oldPasswordUntilMs: null }

export interface Credentials {
  username: string
  password: string
}

export interface Identified {
  world: World
  client: Client
  /** Undefined if the program itself logs the client in. */
  passwordSha256: string | undefined
}

interface LoginOrigin {
  /** Undefined if the program itself logs in. */
  request: Request | undefined
  address: string
}

export interface Account {
  world: World
  username: string
}

/** The account that a login names, which may not exist. */
export type ResolveAccount = (credentials: Credentials, request: Request | undefined) => Account | Promise<Account>

interface CredentialCheckOptions {
  resolveAccount: ResolveAccount
  limitsFailures: boolean
  refreshIfChanged: (world: World) => boolean
  onFailed?: ((username: string, address: string) => void) | undefined
}

export class CredentialCheck {
  readonly #failures: LoginFailures | undefined

  constructor(private readonly options: CredentialCheckOptions) {
    if (options.limitsFailures) this.#failures = new LoginFailures()
  }

  /** @throws DomainError credentials_wrong or rate_limited */
  async identify(
    { username, password }: Credentials,
    { request, address }: LoginOrigin,
    onPlaced: (world: World) => void,
  ): Promise<Identified> {
    if (isLonger(username, USERNAME_LENGTH_MAX) || isLonger(password, PASSWORD_LENGTH_MAX)) {
      throw new DomainError(CREDENTIALS_WRONG)
    }
    const { world, username: name } = await this.options.resolveAccount({ username, password }, request)
    onPlaced(world)
    this.options.refreshIfChanged(world)
    const passwordSha256 = passwordDigest(password)
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

/** Whether it is the client's password, or the one before while that is good; in constant time. */
export const isPasswordOf = (passwords: Passwords, sha256: string, nowMs: number): boolean => {
  const isNew = isEqual(passwords.passwordSha256, sha256)
  const isOld = isEqual(passwords.oldPasswordSha256 ?? NOBODY.passwordSha256, sha256)
  return isNew || (isOld && (passwords.oldPasswordUntilMs ?? 0) > nowMs)
}

const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
