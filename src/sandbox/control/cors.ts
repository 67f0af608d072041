import { pathOf } from '../../http/target.ts'

/** Lets pages of the origins of `--cors` call the API from a browser (contract C15, the Fetch standard). */

const ALLOWED_METHODS = 'GET, POST, PUT, PATCH, DELETE'
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, X-Dry-Run, X-Request-Id, X-Sandbox-Fault, X-Sandbox-Delay'
const EXPOSED_HEADERS = [
  ...['X-Page', 'X-Per-Page', 'X-Total-Count', 'X-Total-Pages', 'X-Page-Size', 'X-Has-More'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Location', 'Retry-After', 'X-Request-Id'],
  ...['X-Cache', 'X-Dry-Run', 'Idempotent-Replayed', 'WWW-Authenticate'],
].join(', ')
/** In seconds: browsers ask again after a restart with other origins. */
const MAX_AGE = '60'

type Handle = (request: Request) => Response | Promise<Response>

/** Answers preflights before authentication and limits, and names the origin in each response. */
export const withCors = (handle: Handle, origins: ReadonlySet<string>): Handle => {
  if (origins.size === 0) return handle
  return async (request) => {
    if (!/^\/(?:auth|api\/v1)\//.test(pathOf(request.url))) return handle(request)
    const origin = request.headers.get('origin')
    const isNamed = origin !== null && origins.has(origin)
    const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
    const response = isNamed && isPreflight ? new Response(null, { status: 204 }) : await handle(request)
    // A cache keeps the responses to other origins apart.
    response.headers.append('Vary', 'Origin')
    if (!isNamed) return response
    response.headers.set('Access-Control-Allow-Origin', origin)
    if (isPreflight) {
      response.headers.set('Access-Control-Allow-Methods', ALLOWED_METHODS)
      response.headers.set('Access-Control-Allow-Headers', ALLOWED_HEADERS)
      response.headers.set('Access-Control-Max-Age', MAX_AGE)
    } else response.headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    return response
  }
}
