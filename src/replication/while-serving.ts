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
  /** Closes the connection, so that the next request can reach the active server. */
  const refusal = (request: Request, replaced?: object): Response => {
    const { headers, body } = renderFailure(unavailable(RETRY_AFTER_SECONDS), STRUCTURED)
    const requestId = requestIdOf(request) ?? nextRequestId()
    return responseBeside(503, replaced ?? body, { 'X-Request-Id': requestId, ...headers, Connection: 'close' })
  }
  const insteadOf = (request: Request): Response | Promise<Response> => {
    const path = pathOf(request.url)
    if (path === '/livez') return app(request)
    return refusal(request, path === '/readyz' ? { status: replica.state } : undefined)
  }
  return (request) => {
    if (!replica.isServing) return insteadOf(request)
    const checked = (response: Response): Response =>
      replica.isServing || isOutcome(request, response) ? response : refusal(request)
    const response = app(request)
    return response instanceof Promise ? response.then(checked) : checked(response)
  }
}

/** True if a response reports the result of a write. A refusal is based on the copy alone, and nothing was done. */
const isOutcome = ({ method, url }: Request, { ok, status }: Response): boolean =>
  method !== 'GET' && method !== 'HEAD' && !COMPUTES.test(pathOf(url)) && (ok || status === 500)
