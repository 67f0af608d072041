import { sinceStartMs } from '../kernel/clock.ts'
import type { Failure } from '../kernel/failure.ts'
import { isOfDryRun } from './dry-run.ts'
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

interface Underway {
  arrivedMs: number
  address: string
  client: string | null
}

/** Measures requests and notifies the log and the metrics. */
export class RequestTimer implements HttpObserver {
  readonly #underway = new WeakMap<Request, Underway>()

  constructor(
    private readonly listeners: readonly RequestListener[],
    private readonly options: {
      addressOf: (request: Request) => string
      faultOf: ((request: Request) => string | undefined) | undefined
    },
  ) {}

  arrived = (request: Request): void => {
    const address = this.options.addressOf(request)
    this.#underway.set(request, { arrivedMs: sinceStartMs(), address, client: null })
  }

  identified = (request: Request, username: string): void => {
    const underway = this.#underway.get(request)
    if (underway) underway.client = username
  }

  ended: HttpObserver['ended'] = ({ request, route, operation }, { status, headers }, failure) => {
    const underway = this.#underway.get(request)
    if (!underway) return
    this.#underway.delete(request)
    const facts: RequestFacts = {
      method: request.method,
      route: route ? documentedRoute(route) : null,
      status,
      durationMs: Math.round((sinceStartMs() - underway.arrivedMs) * 1_000) / 1_000,
      requestId: requestIdIn(headers),
      traceparent: traceparentOf(request),
      client: underway.client,
      failure: failure?.code ?? null,
      error: failure ? ((operation && errorNameOf(operation, failure)) ?? failure.code) : null,
      address: underway.address,
      isDryRun: isOfDryRun(headers),
      fault: this.options.faultOf?.(request),
    }
    for (const { onEnded } of this.listeners) onEnded(facts)
  }
}

const requestIdIn = (headers: ResponseHeaders): string =>
  String(headers instanceof Headers ? headers.get('x-request-id') : headers['X-Request-Id'])
