import { JSON_TYPE } from '../http/json.ts'
import { laterResponse } from '../http/request-switch.ts'
import { pathOf } from '../http/target.ts'

export type Respond = (request: Request) => Response | Promise<Response>

interface Serving {
  isServing: boolean
  state: string
}

/** Operations that take a POST and write nothing. */
const COMPUTES = /\/(?:availability|charges|discount)$/

/**
 * Lets requests reach the app while the server has the lease, so that no response comes from a copy that may be stale
 * (contract C18). What a write has done, or may have done, is in the record or known to be uncertain: its response
 * leaves however late the lease is, because a 503 says that nothing was done (contract C4).
 */
export const whileServing =
  (record: Serving, app: Respond): Respond =>
  (request) => {
    if (!record.isServing) return insteadOf(record, app, request)
    const checked = (response: Response): Response =>
      record.isServing || isOutcome(request, response) ? response : laterResponse()
    const response = app(request)
    return response instanceof Promise ? response.then(checked) : checked(response)
  }

/** Whether a response says what became of a write. A refusal rests on the copy alone, and nothing was done. */
const isOutcome = ({ method, url }: Request, { ok, status }: Response): boolean =>
  method !== 'GET' && method !== 'HEAD' && !COMPUTES.test(pathOf(url)) && (ok || status === 500)

const insteadOf = ({ state }: Serving, app: Respond, request: Request) => {
  const path = pathOf(request.url)
  if (path === '/livez') return app(request)
  if (path !== '/readyz') return laterResponse()
  return new Response(JSON.stringify({ status: state }), { status: 503, headers: { 'content-type': JSON_TYPE } })
}
