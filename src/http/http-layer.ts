import { type AnyElysia, Elysia } from 'elysia'
import { DomainError, type Failure, INTERNAL } from '../kernel/failure.ts'
import { dryRunResponse, isOfDryRun } from './dry-run.ts'
import { renderFailure, STRUCTURED } from './errors.ts'
import { HOST_INVALID, routeNotFound } from './failures.ts'
import { Incoming } from './incoming.ts'
import { JSON_TYPE, Json, UNCACHED } from './json.ts'
import { IDLE_SECONDS } from './listen.ts'
import type { HttpObserver } from './observer.ts'
import { PublicFile } from './public-file.ts'
import { requestIdOf } from './request-id.ts'

interface HttpLayerOptions {
  /** Lets a request in, or throws: called for paths below /api/v1 that no route serves. */
  admit: (incoming: Incoming) => unknown
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  /** The path of the public URL, with which each Location begins. */
  basePath: string
  /** True once the program is closing: each response then closes its connection. */
  isClosing: () => boolean
  observer: HttpObserver | undefined
  /** Checks the name by which a request calls the server. @throws DomainError */
  requireHost?: ((request: Request) => void) | undefined
  /** The first step of each route. May refuse the request. */
  entered?: ((incoming: Incoming) => Promise<void> | undefined) | undefined
  /** Replaces an error that has a failure, such as a temporary one; returns any other error as it is. */
  asFailure: (error: unknown, incoming: Incoming) => unknown
  onUnexpectedError: (report: { error: unknown; requestId: string; method: string; path: string }) => void
}

/** The framework's context, which carries the request from its first step on. */
interface Carrier {
  incoming?: Incoming | null | undefined
}

/** The part of the HTTP layer that modules with routes use. */
export interface HttpLayer {
  /** The first step of every request, and the refusal of those that no route serves. */
  hooks: AnyElysia
  /** Serves a route: what its steps return or throw becomes the response. */
  serve: (incoming: Incoming, steps: (incoming: Incoming) => unknown) => Response | Promise<Response>
  /** Completes the response of a page, which has no operation. */
  completePage: (page: Carrier & { route: string; responseValue: unknown }) => Response
}

const KEEP_ALIVE = `timeout=${IDLE_SECONDS}`

const setCommonHeaders = (options: HttpLayerOptions, { headers }: Incoming['set']): void => {
  headers['X-Request-Id'] ??= options.nextRequestId()
  // Caches of proxies may keep a response that does not say so, and give it to a request with another token (contract C4).
  headers['Cache-Control'] ??= UNCACHED['Cache-Control']
  if (options.isClosing()) headers.connection = 'close'
  else headers['Keep-Alive'] = KEEP_ALIVE
}

const errorResponder = (options: HttpLayerOptions) => {
  const respondWith = (failure: Failure, incoming: Incoming): Response => {
    const { set, operation } = incoming
    setCommonHeaders(options, set)
    const { status, headers, body } = renderFailure(failure, operation ?? STRUCTURED)
    Object.assign(set.headers, headers, { 'content-type': JSON_TYPE })
    const text = JSON.stringify(body)
    options.observer?.ended(incoming, { status, headers: set.headers, body: text }, failure)
    return new Response(text, { status, headers: set.headers })
  }

  const refuse = (error: unknown, incoming: Incoming): Response => {
    const { request, set, path } = incoming
    if (!(error instanceof DomainError)) {
      setCommonHeaders(options, set)
      const requestId = String(set.headers['X-Request-Id'])
      options.onUnexpectedError({ error, requestId, method: request.method, path })
    }
    const known = options.asFailure(error, incoming)
    return respondWith(known instanceof DomainError ? known.failure : INTERNAL, incoming)
  }

  /** Refuses an unknown path. Below /api/v1, a request without a token gets a 401 even then (contract C4). */
  const refuseUnknownPath = async (incoming: Incoming): Promise<Response> => {
    if (/^\/api\/v1(?:\/|$)/.test(incoming.path)) {
      try {
        await options.admit(incoming)
      } catch (error) {
        return refuse(error, incoming)
      }
    }
    return respondWith(routeNotFound(incoming.path), incoming)
  }

  return { refuse, refuseUnknownPath }
}

/** The first and last step of every request: it gets an identifier, and anything thrown becomes an error response. */
export const httpLayer = (options: HttpLayerOptions): HttpLayer => {
  const { observer, requireHost, entered } = options
  const { refuse, refuseUnknownPath } = errorResponder(options)

  const complete = (answer: unknown, incoming: Incoming): Response => {
    const { request, set, operation } = incoming
    const { headers } = set
    if (answer instanceof PublicFile) headers['Cache-Control'] = 'no-cache'
    setCommonHeaders(options, set)
    if (headers.Location) headers.Location = options.basePath + headers.Location
    const shown = isOfDryRun(headers) ? dryRunResponse(answer, operation?.response.schema, headers) : answer
    if (shown instanceof Response || shown instanceof PublicFile) {
      const response = shown instanceof Response ? shown : shown.responseTo(request)
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
      observer?.ended(incoming, { status: response.status, headers: response.headers, body: undefined })
      return response
    }
    const body = serialized(shown)
    if (body !== shown) headers['content-type'] = JSON_TYPE
    const status = (shown instanceof Json ? shown.status : undefined) ?? set.status ?? operation?.response.status ?? 200
    observer?.ended(incoming, { status, headers, body })
    return new Response(body ?? '', { status, headers })
  }

  const serve: HttpLayer['serve'] = (incoming, steps) => {
    try {
      const entering = entered?.(incoming)
      const result = entering ? entering.then(() => steps(incoming)) : steps(incoming)
      if (!(result instanceof Promise)) return complete(result, incoming)
      return result.then((value) => complete(value, incoming)).catch((error) => refuse(error, incoming))
    } catch (error) {
      return refuse(error, incoming)
    }
  }

  return {
    hooks: new Elysia({ name: 'http-layer' })
      // Each context has the member from the beginning, so that all have one shape.
      .decorate('incoming', null as Incoming | null)
      .onRequest((context) => {
        const { request } = context
        const incoming = new Incoming(request)
        context.incoming = incoming
        const sent = requestIdOf(request)
        if (sent !== undefined) incoming.set.headers['X-Request-Id'] = sent
        observer?.arrived(incoming)
        if (!hasOneHost(request)) throw new DomainError(HOST_INVALID)
        requireHost?.(request)
      })
      .onError({ as: 'global' }, ({ error, code, incoming, route }) => {
        const found = foundIn({ incoming }, route)
        return code === 'NOT_FOUND' ? refuseUnknownPath(found) : refuse(error, found)
      }),
    serve,
    completePage: ({ incoming, route, responseValue }) => complete(responseValue, foundIn({ incoming }, route)),
  }
}

/** The request of a page or of an error, with its route, which is undefined if there is none. */
const foundIn = ({ incoming }: Carrier, route: string | undefined): Incoming => {
  if (!incoming) throw new Error('a request that has not entered')
  incoming.route ||= route ?? ''
  return incoming
}

/** True if a request names exactly one host in a valid form (RFC 9112, 3.2). */
const hasOneHost = ({ url, headers }: Request): boolean => !url.startsWith('/') && !headers.get('host')?.includes(',')

/** The body of a response. Text is sent as it is. */
const serialized = (value: unknown): string | Uint8Array<ArrayBuffer> | undefined => {
  if (value instanceof Json) return value.bytes ?? value.text
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value)
}
