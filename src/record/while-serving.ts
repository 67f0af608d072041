import { JSON_TYPE } from '../http/json.ts'
import { laterResponse } from '../http/request-switch.ts'
import { pathOf } from '../http/target.ts'

export type Respond = (request: Request) => Response | Promise<Response>

interface Serving {
  isServing: boolean
  state: string
}

/**
 * Lets requests reach the app while the server has the lease, so that no response comes from a copy that may be stale
 * (contract C18). A client that repeats the request with the same Idempotency-Key still learns what was written.
 */
export const whileServing =
  (record: Serving, app: Respond): Respond =>
  (request) => {
    if (!record.isServing) return insteadOf(record, app, request)
    const response = app(request)
    if (!(response instanceof Promise)) return record.isServing ? response : laterResponse()
    return response.then((settled) => (record.isServing ? settled : laterResponse()))
  }

const insteadOf = ({ state }: Serving, app: Respond, request: Request) => {
  const path = pathOf(request.url)
  if (path === '/livez') return app(request)
  if (path !== '/readyz') return laterResponse()
  return new Response(JSON.stringify({ status: state }), { status: 503, headers: { 'content-type': JSON_TYPE } })
}
