import { sinceStartMs } from '../kernel/clock.ts'
import type { Failure } from '../kernel/failure.ts'
import { isOfDryRun } from './dry-run.ts'
import type { Incoming } from './incoming.ts'
import type { HttpObserver, ResponseHeaders } from './observer.ts'
import { errorNameOf } from './operation.ts'
import { traceparentOf } from './request-id.ts'
import { documentedRoute } from './target.ts'

/** The facts of a finished request: never its path, query or other text of a client, which could hold a secret. */
export interface RequestFacts {
  method: string
  /** The route pattern, `/api/v1/products/:id`; null if no route matches. */
  route: string | null
  status: number
  durationMs: number
  requestId: string
  traceparent: string | undefined
  /** The username of its access token, or of the tokens that it gets; null without tokens. */
  client: string | null
  failure: Failure['code'] | null
  /** The name under which the error is documented (docs/use/errors.md). */
  error: string | null
  /** The address of the client, also behind trusted proxies. */
  address: string
  /** True for a dry run, which changes nothing. */
  isDryRun: boolean
  /** The fault that was injected. */
  fault: string | undefined
}

export interface RequestListener {
  onEnded: (facts: RequestFacts) => void
}

/** Measures requests and notifies the log and the metrics. */
export class RequestTimer implements HttpObserver {
  constructor(
    private readonly listeners: readonly RequestListener[],
    private readonly options: {
      addressOf: (request: Request) => string
      faultOf: ((incoming: Incoming) => string | undefined) | undefined
    },
  ) {}

  arrived = (incoming: Incoming): void => {
    incoming.arrival = { ms: sinceStartMs(), address: this.options.addressOf(incoming.request) }
  }

  ended: HttpObserver['ended'] = (incoming, { status, headers }, failure) => {
    const { request, route, operation, arrival, username } = incoming
    if (!arrival) return
    incoming.arrival = undefined
    const facts: RequestFacts = {
      method: request.method,
      route: route ? documentedRoute(route) : null,
      status,
      durationMs: Math.round((sinceStartMs() - arrival.ms) * 1_000) / 1_000,
      requestId: requestIdIn(headers),
      traceparent: traceparentOf(request),
      client: username,
      failure: failure?.code ?? null,
      error: failure ? ((operation && errorNameOf(operation, failure)) ?? failure.code) : null,
      address: arrival.address,
      isDryRun: isOfDryRun(headers),
      fault: this.options.faultOf?.(incoming),
    }
    for (const { onEnded } of this.listeners) onEnded(facts)
  }
}

const requestIdIn = (headers: ResponseHeaders): string =>
  String(headers instanceof Headers ? headers.get('x-request-id') : headers['X-Request-Id'])
