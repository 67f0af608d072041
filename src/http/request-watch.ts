import { sinceStartMs } from '../kernel/clock.ts'
import type { Failure } from '../kernel/failure.ts'
import { documentedRoute } from './target.ts'
import type { AnswerHeaders, Witness } from './witness.ts'

/** What is told of a request once it is answered: never its path, its query or anything else that a client sent. */
export interface RequestFacts {
  method: string
  /** The pattern that serves it, `/api/v1/products/:id`; null where none does. */
  route: string | null
  status: number
  durationMs: number
  requestId: string
  /** The username behind its access token; null without a good one. */
  client: string | null
  /** Why it was refused. */
  failure: Failure['code'] | null
}

/** Who hears of each request. */
export interface RequestListener {
  onArrived?: () => void
  onEnded: (facts: RequestFacts) => void
}

/** What the program asks of itself, which is no request of anyone. */
export const ownRequests = new WeakSet<Request>()

interface Underway {
  arrivedMs: number
  client: string | null
}

/** Times requests and tells listeners of them: a log, metrics. Made only where somebody listens. */
export class RequestWatch implements Witness {
  readonly #underway = new WeakMap<Request, Underway>()

  constructor(private readonly listeners: readonly RequestListener[]) {}

  arrived = (request: Request): void => {
    if (ownRequests.has(request)) return
    this.#underway.set(request, { arrivedMs: sinceStartMs(), client: null })
    for (const { onArrived } of this.listeners) onArrived?.()
  }

  /** The access token of a request is good. */
  identified = (request: Request, username: string): void => {
    const underway = this.#underway.get(request)
    if (underway) underway.client = username
  }

  refused: Witness['refused'] = (request, route, failure, { status, headers }) =>
    this.#end(request, route, status, headers, failure.code)

  answered: Witness['answered'] = (request, status, headers, _, route) =>
    this.#end(request, route, status, headers, null)

  #end(
    request: Request,
    route: string | undefined,
    status: number,
    headers: AnswerHeaders,
    failure: Failure['code'] | null,
  ): void {
    const underway = this.#underway.get(request)
    if (!underway) return
    this.#underway.delete(request)
    const facts: RequestFacts = {
      method: request.method,
      route: route ? documentedRoute(route) : null,
      status,
      durationMs: Math.round((sinceStartMs() - underway.arrivedMs) * 1_000) / 1_000,
      requestId: requestIdIn(headers),
      client: underway.client,
      failure,
    }
    for (const { onEnded } of this.listeners) onEnded(facts)
  }
}

const requestIdIn = (headers: AnswerHeaders): string =>
  String(headers instanceof Headers ? headers.get('x-request-id') : headers['X-Request-Id'])
