import { createHash, timingSafeEqual } from 'node:crypto'
import { rateLimited } from '../http/failures.ts'
import { DomainError } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import { type Client, findClient } from './clients.ts'
import { CREDENTIALS_WRONG } from './errors.ts'
import { LoginFailures } from './failures.ts'
import { findCredentials } from './queries.ts'

/** The largest body of a login or a refresh, in bytes (contract C3). */
export const SESSION_BODY_BYTES_MAX = 8_192
/** In code points. Nobody has longer ones. */
const USERNAME_LENGTH_MAX = 128
const PASSWORD_LENGTH_MAX = 256

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

/** A world, and the name of a client in it. */
export interface Account {
  world: World
  username: string
}

/** The account that a login names, whether it exists or not. */
export type ResolveAccount = (credentials: Credentials, request: Request | undefined) => Account | Promise<Account>

export interface CredentialCheckOptions {
  resolveAccount: ResolveAccount
  limitsFailures: boolean
  /** Takes over what another process has written to a world. */
  refreshIfChanged: (world: World) => boolean
}

/** Finds who logs in, and in which world. */
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
    const refused = this.#failures?.add(world, username, address)
    throw new DomainError(refused ? rateLimited(refused.retryAfterSeconds) : CREDENTIALS_WRONG)
  }
}

/** Whether a text has more code points than it may; a code point is one or two units. */
const isLonger = (text: string, lengthMax: number): boolean =>
  text.length > lengthMax && (text.length > 2 * lengthMax || [...text].length > lengthMax)

const verify = (world: World, username: string, passwordSha256: string): Client | undefined => {
  const row = findCredentials(world.db.query, username)
  const right = timingSafeEqual(Buffer.from(passwordSha256, 'hex'), Buffer.from(row?.digest ?? NOBODYS_DIGEST, 'hex'))
  return row && right ? findClient(world, row.id) : undefined
}
