import { type AnyElysia, type Context, Elysia } from 'elysia'
import { DomainError, type Failure, INTERNAL } from '../kernel/failure.ts'
import { andThen } from '../kernel/turns.ts'
import { dryRunResponse, isOfDryRun } from './dry-run.ts'
import { renderFailure, STRUCTURED } from './errors.ts'
import { HOST_INVALID, routeNotFound } from './failures.ts'
import { JSON_TYPE, Json, UNCACHED } from './json.ts'
import { IDLE_SECONDS } from './listen.ts'
import type { HttpObserver } from './observer.ts'
import { PublicFile } from './public-file.ts'
import { type RoutedRequest, requestIdOf } from './request-id.ts'

interface HttpLayerOptions {
  /** Lets a request in, or throws: called for paths below /api/v1 that no route serves. */
  admit: (context: RoutedRequest) => unknown
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
  entered?: ((routed: RoutedRequest) => Promise<void> | undefined) | undefined
  /** Replaces an error that has a failure, such as a temporary one; returns any other error as it is. */
  asFailure: (error: unknown, request: Request) => unknown
  onUnexpectedError: (report: { error: unknown; requestId: string; method: string; path: string }) => void
}

const KEEP_ALIVE = `timeout=${IDLE_SECONDS}`

const setCommonHeaders = (options: HttpLayerOptions, set: Context['set']): void => {
  set.headers['X-Request-Id'] ??= options.nextRequestId()
  // Caches of proxies may keep a response that does not say so, and give it to a request with another token (contract C4).
  set.headers['Cache-Control'] ??= UNCACHED['Cache-Control']
  if (options.isClosing()) set.headers.connection = 'close'
  else set.headers['Keep-Alive'] = KEEP_ALIVE
}

/** The part of the HTTP layer that modules with routes use. */
export interface HttpLayer {
  /** The first step of every request, and the refusal of those that no route serves. */
  hooks: AnyElysia
  /** Serves a route: what its steps return or throw becomes the response. */
  serve: (routed: RoutedRequest, steps: (routed: RoutedRequest) => unknown) => Response | Promise<Response>
  /** Completes the response of a page, which has no operation. */
  completePage: (page: Omit<RoutedRequest, 'operation'> & { responseValue: unknown }) => Response
}

const errorResponder = (options: HttpLayerOptions) => {
  const respondWith = (failure: Failure, routed: RoutedRequest): Response => {
    const { set, operation } = routed
    setCommonHeaders(options, set)
    const { status, headers, body } = renderFailure(failure, operation ?? STRUCTURED)
    Object.assign(set.headers, headers, { 'content-type': JSON_TYPE })
    const text = JSON.stringify(body)
    options.observer?.ended(routed, { status, headers: set.headers, body: text }, failure)
    return finished(text, status, set)
  }

  const refuse = (error: unknown, routed: RoutedRequest): Response => {
    const { request, set, path } = routed
    if (!(error instanceof DomainError)) {
      setCommonHeaders(options, set)
      const requestId = String(set.headers['X-Request-Id'])
      options.onUnexpectedError({ error, requestId, method: request.method, path })
    }
    const known = options.asFailure(error, request)
    return respondWith(known instanceof DomainError ? known.failure : INTERNAL, routed)
  }

  /** Refuses an unknown path. Below /api/v1, a request without a token gets a 401 even then (contract C4). */
  const refuseUnknownPath = async (routed: RoutedRequest): Promise<Response> => {
    if (/^\/api\/v1(?:\/|$)/.test(routed.path)) {
      try {
        await options.admit({ ...routed, route: '' })
      } catch (error) {
        return refuse(error, routed)
      }
    }
    return respondWith(routeNotFound(routed.path), routed)
  }

  return { refuse, refuseUnknownPath }
}

/** The framework sends a response as it is if it has no headers to add; otherwise it would make another one. */
const finished = (
  body: string | Uint8Array<ArrayBuffer> | undefined,
  status: number,
  set: Context['set'],
): Response => {
  const { headers } = set
  set.headers = {}
  set.status = 200
  return new Response(body ?? '', { status, headers: headers as Record<string, string> })
}

/** The first and last step of every request: it gets an identifier, and anything thrown becomes an error response. */
export const httpLayer = (options: HttpLayerOptions): HttpLayer => {
  const { observer, requireHost, entered } = options
  const { refuse, refuseUnknownPath } = errorResponder(options)

  const complete = (answer: unknown, routed: RoutedRequest): Response => {
    const { request, set, operation } = routed
    if (answer instanceof PublicFile) set.headers['Cache-Control'] = 'no-cache'
    setCommonHeaders(options, set)
    if (set.headers.Location) set.headers.Location = options.basePath + set.headers.Location
    const shown = isOfDryRun(set.headers) ? dryRunResponse(answer, operation?.response.schema, set.headers) : answer
    if (shown instanceof Response || shown instanceof PublicFile) {
      const response = shown instanceof Response ? shown : shown.responseTo(request)
      for (const name in set.headers) response.headers.set(name, String(set.headers[name]))
      observer?.ended(routed, { status: response.status, headers: response.headers, body: undefined })
      set.headers = {}
      return response
    }
    const body = serialized(shown)
    if (body !== shown) set.headers['content-type'] = JSON_TYPE
    const status = (shown instanceof Json ? shown.status : undefined) ?? Number(set.status ?? 200)
    observer?.ended(routed, { status, headers: set.headers, body })
    return finished(body, status, set)
  }

  return {
    hooks: new Elysia({ name: 'http-layer' })
      .onRequest(({ request, set }) => {
        const sent = requestIdOf(request)
        if (sent !== undefined) set.headers['X-Request-Id'] = sent
        observer?.arrived(request)
        if (!hasOneHost(request)) throw new DomainError(HOST_INVALID)
        requireHost?.(request)
      })
      .onError({ as: 'global' }, ({ error, code, request, set, path, route }) => {
        const routed = { request, set, path, route, operation: undefined }
        return code === 'NOT_FOUND' ? refuseUnknownPath(routed) : refuse(error, routed)
      }),
    serve: (routed, steps) => {
      try {
        const result = andThen(entered?.(routed), () => steps(routed))
        if (!(result instanceof Promise)) return complete(result, routed)
        return result.then((value) => complete(value, routed)).catch((error) => refuse(error, routed))
      } catch (error) {
        return refuse(error, routed)
      }
    },
    completePage: ({ request, set, path, route, responseValue }) =>
      complete(responseValue, { request, set, path, route, operation: undefined }),
  }
}

/** True if a request names exactly one host in a valid form (RFC 9112, 3.2). */
const hasOneHost = ({ url, headers }: Request): boolean => !url.startsWith('/') && !headers.get('host')?.includes(',')

/** The body of a response. Text is sent as it is. */
const serialized = (value: unknown): string | Uint8Array<ArrayBuffer> | undefined => {
  if (value instanceof Json) return value.bytes ?? value.text
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value)
}
