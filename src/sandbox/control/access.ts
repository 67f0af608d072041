import { timingSafeEqual } from 'node:crypto'
import { targetOf } from '../../http/target.ts'
import { DomainError } from '../../kernel/failure.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import { FOREIGN_SITE, TOKEN_WRONG } from '../errors.ts'

export const isControl = (path: string): boolean => path.startsWith('/_sandbox')

/** True for the paths that supervisors request. No fault changes their responses. */
export const isProbe = (path: string): boolean => path === '/livez' || path === '/readyz'

/** True for paths that browsers also request: the reference with its files, pictures and the icon of the site. */
export const isAsset = (path: string): boolean =>
  /^\/(?:docs(?:\/|$)|cards\/|openapi\.json$|llms\.txt$|favicon\.ico$)/.test(path)

export const isExempt = (path: string): boolean => isControl(path) || isProbe(path)

/** True for paths of the sandbox itself, the front page included. Requests to them belong to no client. */
export const isAboutSandbox = (path: string): boolean => isControl(path) || path === '/'

/** True if a host name can only mean this machine. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|(?:[\w-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

/**
 * Decides who may use the control API (contract C15). Bound to loopback, it serves everyone on this machine; elsewhere it requires
 * the token. It always refuses a page of another site that sends its Origin.
 */
export const sandboxAccess =
  ({ boundHost, token }: { boundHost: string; token: string | undefined }) =>
  (request: Request): void => {
    ownUrl(request)
    if (token === undefined && isLoopback(boundHost)) return
    const sent = request.headers.get('x-sandbox-token')
    if (token === undefined || sent === null || !sameSecret(sent, token)) throw new DomainError(TOKEN_WRONG)
  }

/** Decides whether a login may create a world (decision 10): it needs no token. Pages of the origins of `--cors` may. */
export const worldAccess =
  (origins: ReadonlySet<string>) =>
  (request: Request): void => {
    if (!origins.has(request.headers.get('origin') ?? '')) ownUrl(request)
  }

/**
 * Limits the host names of requests. A page whose name resolves to this machine could log in with the known password, and read
 * the network through the deliveries of its webhooks. Bound elsewhere, the server cannot know the names that others use for it.
 */
export const hostAccess = ({ boundHost, publicUrl }: { boundHost: string; publicUrl: string }) => {
  const publicName = new URL(publicUrl).hostname
  const isOwn = ({ hostname }: URL): boolean => isLoopback(hostname) || hostname === publicName
  return ({ url, headers }: Request): void => {
    // Every browser sends a Host; some health checks of proxies do not.
    if (!isLoopback(boundHost) || !headers.has('host') || !/^\/(?:auth|api\/v1|_sandbox)(?:[/?]|$)/.test(targetOf(url)))
      return
    if (URL.canParse(url) && !isOwn(new URL(url))) throw new DomainError(FOREIGN_SITE)
  }
}

/** The URL that a request was sent to. @throws DomainError sandbox_foreign when a page of another site sent it */
const ownUrl = ({ url, headers }: Request): URL => {
  // An invalid Host makes an invalid URL.
  if (!URL.canParse(url)) throw new DomainError(FOREIGN_SITE)
  const requestUrl = new URL(url)
  const origin = headers.get('origin')
  if (origin !== null && (!URL.canParse(origin) || new URL(origin).host !== requestUrl.host))
    throw new DomainError(FOREIGN_SITE)
  return requestUrl
}

const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(passwordDigest(a)), Buffer.from(passwordDigest(b)))
