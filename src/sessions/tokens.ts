import { jwt } from '@elysiajs/jwt'
import { SignJWT } from 'jose'
import { SECOND_MS } from '../kernel/clock.ts'

/** The kinds of tokens, which are never accepted for each other (contract C3). */
export type TokenKind = 'access' | 'refresh'

/** Times are Unix milliseconds on whole seconds, as JWTs count them. */
export interface TokenClaims {
  kind: TokenKind
  clientId: number
  tokenId: string
  loginId: string
  world: string
  /** The number of earlier refreshes of the login. */
  generation: number
  issuedAtMs: number
  expiresAtMs: number
}

const ISSUER = 'scrip'
const ALGORITHM = 'HS256'

/**
 * Signs and verifies JWTs by HS256 alone. The plugin verifies; its own library signs, because the plugin takes the
 * time of issue from the machine and not from the world (decision 0004).
 */
export class TokenSigner {
  #plugin: ReturnType<typeof jwt<'tokens'>> | undefined

  constructor(private readonly key: Uint8Array) {}

  sign(claims: TokenClaims): Promise<string> {
    return new SignJWT({ lgn: claims.loginId, wld: claims.world, gen: claims.generation })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setIssuer(ISSUER)
      .setAudience(claims.kind)
      .setSubject(String(claims.clientId))
      .setJti(claims.tokenId)
      .setIssuedAt(claims.issuedAtMs / SECOND_MS)
      .setExpirationTime(claims.expiresAtMs / SECOND_MS)
      .sign(this.key)
  }

  /** The claims of our own token; undefined for others. The caller checks the expiry, by the clock of the token's world. */
  async verify(token: string, kind: TokenKind): Promise<TokenClaims | undefined> {
    // Created with the first token, because the start would wait for it.
    this.#plugin ??= jwt({ name: 'tokens', secret: this.key, alg: ALGORITHM })
    const payload = await this.#plugin.decorator.tokens.verify(token, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: kind,
      requiredClaims: ['sub', 'jti', 'iat', 'exp', 'lgn', 'wld', 'gen'],
      currentDate: new Date(0),
    })
    if (!payload) return undefined
    const { sub, jti, iat, exp, lgn, wld, gen } = { ...payload } as Record<string, unknown>
    return {
      kind,
      clientId: Number(sub),
      tokenId: String(jti),
      loginId: String(lgn),
      world: String(wld),
      generation: Number(gen),
      issuedAtMs: Number(iat) * SECOND_MS,
      expiresAtMs: Number(exp) * SECOND_MS,
    }
  }
}
