import { LRUCache } from 'lru-cache'
import type { Query, Tx } from '../db/database.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { DomainError, unauthorized } from '../kernel/failure.ts'
import type { World } from '../work/world.ts'
import type { Worlds } from '../work/worlds.ts'
import { type Client, findClient } from './clients.ts'
import { CREDENTIALS_WRONG, REFRESH_TOKEN_WRONG } from './contract.ts'
import { type Identified, isPasswordOf } from './credentials.ts'
import {
  deleteExpiredLogins,
  findEnabledClient,
  findLogin,
  insertLogin,
  isLoginLive,
  makeRoomForLogin,
  nextLoginNumber,
  revokeLogins,
  updateLogin,
} from './queries.ts'
import type { TokenClaims, TokenKind, TokenSigner } from './tokens.ts'

export interface Session {
  readonly world: World
  readonly client: Client
  readonly loginId: string
  readonly expiresAtMs: number
  /** The client's token epoch when the token was last checked. */
  readonly epoch: number
  /**
   * Writes on behalf of this session, see {@link Database.write}.
   * @throws DomainError unauthorized if the token is no longer valid when the work begins
   */
  readonly write: <T>(work: (tx: Tx) => T) => Promise<T>
  /** Checks the token of a request that has waited. @throws DomainError unauthorized if it is no longer valid */
  readonly checkAgain: () => void
  /** True in a dry run: its writes are undone, and nothing else of the request may remain. */
  readonly isDryRun?: boolean
}

interface IssuedToken {
  token: string
  expiresAtMs: number
}

/** The tokens of a login or refresh (contract C3). */
export interface IssuedTokens {
  access: IssuedToken
  refresh: IssuedToken
  clientId: number
}

/** Verified tokens of all worlds; one that is dropped is verified again. */
const SESSIONS_MAX = 20_000
const TOKEN_ID_LENGTH = 24
/** Another scheme, or no token, counts as no credentials (RFC 6750, section 3.1). */
const BEARER_SENT = /^bearer +[^ ]/i
const BEARER = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i

interface SessionsOptions {
  worlds: Worlds
  signer: TokenSigner
  accessTtlMs: number
  refreshTtlMs: number
}

/** Issues tokens, remembers verified ones, and revokes them. */
export class Sessions {
  readonly #verified = new LRUCache<string, Session>({ maxSize: SESSIONS_MAX, sizeCalculation: () => 1 })

  constructor(private readonly options: SessionsOptions) {}

  /** The session of a token that was verified before and is still valid. */
  recall(authorization: string | null): Session | undefined {
    const known = authorization === null ? undefined : this.#verified.get(authorization)
    return known && isCurrent(known) ? known : undefined
  }

  /** The session of an Authorization header. @throws DomainError unauthorized */
  async admit(authorization: string | null): Promise<Session> {
    if (authorization === null) throw new DomainError(unauthorized(false))
    const known = this.recall(authorization)
    if (known) return known
    const session = await this.#verify(authorization)
    if (!session) {
      this.#verified.delete(authorization)
      throw new DomainError(unauthorized(BEARER_SENT.test(authorization)))
    }
    this.#verified.set(authorization, session)
    return session
  }

  /** Checks the password again when the login is written. @throws DomainError credentials_wrong */
  async begin({ world, client, passwordSha256 }: Identified): Promise<IssuedTokens> {
    const nowMs = world.clock.nowMs()
    const login = {
      id: world.ids.next('lgn', nowMs),
      clientId: client.id,
      number: 1,
      refreshGeneration: 0,
      expiresAtMs: this.#lastExpiryMs(nowMs),
      revoked: false,
    }
    await world.db.write((tx) => {
      // Meanwhile, an operator may have disabled the client or set another password.
      const now = findEnabledClient(tx, client.id)
      if (!now || (passwordSha256 !== undefined && !isPasswordOf(now, passwordSha256, nowMs))) {
        throw new DomainError(CREDENTIALS_WRONG)
      }
      deleteExpiredLogins(tx, nowMs)
      login.number = nextLoginNumber(tx, client.id)
      if (makeRoomForLogin(tx, client.id, login.number)) checkTokensAgain(world, client)
      // A world made from a scenario may draw the id of a login that it has taken over.
      while (findLogin(tx, login.id)) login.id = world.ids.next('lgn', nowMs)
      insertLogin(tx, login)
    })
    return this.#issue(world, client, login.id, 0, nowMs)
  }

  /** Exchanges a refresh token. One that was used before revokes all tokens of its login. @throws DomainError refresh_token_wrong */
  async refresh(token: string): Promise<IssuedTokens & Pick<Session, 'world' | 'client'>> {
    const refused = new DomainError(REFRESH_TOKEN_WRONG)
    const claims = await this.options.signer.verify(token, 'refresh')
    const world = claims && this.options.worlds.find(claims.world)
    if (!world) throw refused
    const client = findClient(world, claims.clientId)
    if (!client) throw refused
    const nowMs = world.clock.nowMs()
    if (nowMs >= claims.expiresAtMs) throw refused
    const generation = await world.db.write((tx) => {
      const login = findLogin(tx, claims.loginId)
      if (!login || login.revoked || login.clientId !== client.id) return undefined
      // A token that is newer than its login was issued before a snapshot was restored. It is refused, but it is not a second use.
      if (claims.generation > login.refreshGeneration) return undefined
      if (claims.generation < login.refreshGeneration) {
        updateLogin(tx, login.id, { revoked: true })
        checkTokensAgain(world, client)
        return undefined
      }
      const next = login.refreshGeneration + 1
      updateLogin(tx, login.id, { refreshGeneration: next, expiresAtMs: this.#lastExpiryMs(nowMs) })
      return next
    })
    if (generation === undefined) throw refused
    return { world, client, ...(await this.#issue(world, client, claims.loginId, generation, nowMs)) }
  }

  /** Revokes every access and refresh token of the client, at once. */
  async end({ world, client, write }: Session): Promise<void> {
    await write((tx) => {
      revokeLogins(tx, client.id)
      checkTokensAgain(world, client)
    })
  }

  async #verify(authorization: string): Promise<Session | undefined> {
    const token = BEARER.exec(authorization)?.[1]
    const claims = token === undefined ? undefined : await this.options.signer.verify(token, 'access')
    const world = claims && this.options.worlds.find(claims.world)
    const client = world && findClient(world, claims.clientId)
    if (!client || !isAlive(world.db.query, world, claims)) return undefined
    const checkAgain = (): void => {
      if (isCurrent(session)) return
      if (!isAlive(world.db.query, world, claims)) throw new DomainError(unauthorized(true))
    }
    const session: Session = {
      world,
      client,
      loginId: claims.loginId,
      expiresAtMs: claims.expiresAtMs,
      epoch: client.tokenEpoch,
      write: (work) =>
        world.db.write((tx) => {
          checkAgain()
          return work(tx)
        }),
      checkAgain,
    }
    return session
  }

  async #issue(
    world: World,
    client: Client,
    loginId: string,
    generation: number,
    nowMs: number,
  ): Promise<IssuedTokens> {
    const common = { clientId: client.id, loginId, world: world.name, generation, issuedAtMs: wholeSecond(nowMs) }
    const issue = async (kind: TokenKind): Promise<IssuedToken> => {
      const expiresAtMs = this.#expiryMs(nowMs, kind)
      const tokenId = world.ids.letters(TOKEN_ID_LENGTH)
      return { token: await this.options.signer.sign({ kind, tokenId, expiresAtMs, ...common }), expiresAtMs }
    }
    const [access, refresh] = await Promise.all([issue('access'), issue('refresh')])
    return { access, refresh, clientId: client.id }
  }

  /** A login is stored until its last token expires. */
  #lastExpiryMs(nowMs: number): number {
    return Math.max(this.#expiryMs(nowMs, 'access'), this.#expiryMs(nowMs, 'refresh'))
  }

  #expiryMs(nowMs: number, kind: TokenKind): number {
    return wholeSecond(nowMs) + (kind === 'access' ? this.options.accessTtlMs : this.options.refreshTtlMs)
  }
}

/** Called once the revocation is committed: before, a checked token would still be valid. */
const checkTokensAgain = (world: World, client: Client): void =>
  world.db.afterCommit(() => {
    client.tokenEpoch += 1
  })

const isCurrent = ({ world, client, epoch, expiresAtMs }: Session): boolean =>
  !world.closed && epoch === client.tokenEpoch && world.clock.nowMs() < expiresAtMs

/** Checks a token by the clock and the database of its world. */
const isAlive = (query: Query, world: World, { loginId, clientId, expiresAtMs }: TokenClaims): boolean =>
  world.clock.nowMs() < expiresAtMs && isLoginLive(query, loginId, clientId)

/** Rounds down to a second, the unit of JWTs. */
const wholeSecond = (timeMs: number): number => timeMs - (timeMs % SECOND_MS)
