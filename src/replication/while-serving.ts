import { renderFailure, STRUCTURED } from '../http/errors.ts'
import { responseBeside } from '../http/json.ts'
import type { Respond } from '../http/listen.ts'
import { requestIdOf } from '../http/request-id.ts'
import { pathOf } from '../http/target.ts'
import { unavailable } from '../kernel/failure.ts'

const RETRY_AFTER_SECONDS = 1

interface Serving {
  isServing: boolean
  state: string
}

/** Operations that take a POST and write nothing. */
const COMPUTES = /\/(?:availability|charges|discount)$/

/**
 * Lets requests reach the app while the server has the lease, so that no response comes from a copy that may be stale
 * (contract C18). The effect of a write is in PostgreSQL, or known to be uncertain: its response leaves even if the lease
 * is late, because a 503 says that nothing was done (contract C4).
 */
export const whileServing = (replica: Serving, app: Respond, nextRequestId: () => string): Respond => {
  const refusal = (request: Request, body: object, headers: Record<string, string> = {}): Response => {
    return responseBeside(503, body, { 'X-Request-Id': requestIdOf(request) ?? nextRequestId(), ...headers })
  }
  /** Closes the connection, so that the next request can reach the active server. */
  const later = (request: Request): Response => {
    const { headers, body } = renderFailure(unavailable(RETRY_AFTER_SECONDS), STRUCTURED)
    return refusal(request, body, { ...headers, Connection: 'close' })
  }
  const insteadOf = (request: Request): Response | Promise<Response> => {
    const path = pathOf(request.url)
    if (path === '/livez') return app(request)
    return path === '/readyz' ? refusal(request, { status: replica.state }) : later(request)
  }
  return (request) => {
    if (!replica.isServing) return insteadOf(request)
    const checked = (response: Response): Response =>
      replica.isServing || isOutcome(request, response) ? response : later(request)
    const response = app(request)
    return response instanceof Promise ? response.then(checked) : checked(response)
  }
}

/** True if a response reports the result of a write. A refusal is based on the copy alone, and nothing was done. */
const isOutcome = ({ method, url }: Request, { ok, status }: Response): boolean =>
  method !== 'GET' && method !== 'HEAD' && !COMPUTES.test(pathOf(url)) && (ok || status === 500)
