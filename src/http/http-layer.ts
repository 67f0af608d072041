import { type Context, Elysia } from 'elysia'
import { DomainError, type Failure, INTERNAL } from '../kernel/failure.ts'
import { dryRunResponse, isOfDryRun } from './dry-run.ts'
import { renderFailure, STRUCTURED } from './errors.ts'
import { HOST_INVALID, routeNotFound } from './failures.ts'
import { JSON_TYPE, Json, UNCACHED } from './json.ts'
import { IDLE_SECONDS } from './listen.ts'
import type { HttpObserver } from './observer.ts'
import type { Operation } from './operation.ts'
import { PublicFile } from './public-file.ts'
import { type RoutedRequest, requestIdOf, withOperation } from './request-id.ts'

interface HttpLayerOptions {
  /** Lets a request in, or throws: called for paths below /api/v1 that no route serves. */
  admit: (context: RoutedRequest) => unknown
  /** The operations by method and pattern: an error has the format of its operation. */
  operations: ReadonlyMap<string, Operation>
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  /** The path of the public URL, with which each Location begins. */
  basePath: string
  /** True once the program is closing: each response then closes its connection. */
  isClosing: () => boolean
  observer: HttpObserver | undefined
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

const errorResponder = (options: HttpLayerOptions) => {
  const respondWith = (failure: Failure, routed: RoutedRequest): string => {
    const { set, operation } = routed
    setCommonHeaders(options, set)
    const { status, headers, body } = renderFailure(failure, operation ?? STRUCTURED)
    set.status = status
    Object.assign(set.headers, headers, { 'content-type': JSON_TYPE })
    const text = JSON.stringify(body)
    options.observer?.ended(routed, { status, headers: set.headers, body: text }, failure)
    return text
  }

  const refuse = (error: unknown, routed: RoutedRequest): string => {
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
  const refuseUnknownPath = async (routed: RoutedRequest): Promise<string> => {
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

/** The first and last step of every request: it gets an identifier, and anything thrown becomes an error response. */
export const httpLayer = (options: HttpLayerOptions) => {
  const { observer } = options
  const { refuse, refuseUnknownPath } = errorResponder(options)

  const complete = (answer: unknown, routed: RoutedRequest) => {
    const { request, set, operation } = routed
    if (answer instanceof PublicFile) set.headers['Cache-Control'] = 'no-cache'
    setCommonHeaders(options, set)
    if (set.headers.Location) set.headers.Location = options.basePath + set.headers.Location
    const shown = isOfDryRun(set.headers) ? dryRunResponse(answer, operation?.response.schema, set.headers) : answer
    if (shown instanceof Response || shown instanceof PublicFile) {
      const response = shown instanceof Response ? shown : shown.responseTo(request)
      for (const name in set.headers) response.headers.set(name, String(set.headers[name]))
      observer?.ended(routed, { status: response.status, headers: response.headers, body: undefined })
      // Without headers to add, the framework sends the response as it is instead of making another one.
      set.headers = {}
      return response
    }
    const body = serialized(shown)
    if (body !== shown) set.headers['content-type'] = JSON_TYPE
    if (shown instanceof Json && shown.status !== undefined) set.status = shown.status
    observer?.ended(routed, { status: Number(set.status ?? 200), headers: set.headers, body })
    return body
  }

  return new Elysia({ name: 'http-layer' })
    .onRequest(({ request, set }) => {
      const sent = requestIdOf(request)
      if (sent !== undefined) set.headers['X-Request-Id'] = sent
      observer?.arrived(request)
      if (!hasOneHost(request)) throw new DomainError(HOST_INVALID)
    })
    .use(withOperation)
    .onTransform({ as: 'global' }, (context) => {
      context.operation = options.operations.get(`${context.request.method} ${context.route}`)
    })
    .onError({ as: 'global' }, ({ error, code, request, set, path, route, operation }) => {
      const routed = { request, set, path, route, operation }
      return code === 'NOT_FOUND' ? refuseUnknownPath(routed) : refuse(error, routed)
    })
    .onAfterHandle({ as: 'global' }, ({ request, responseValue, set, path, route, operation }) =>
      complete(responseValue, { request, set, path, route, operation }),
    )
}

/** True if a request names exactly one host in a valid form (RFC 9112, 3.2). */
const hasOneHost = ({ url, headers }: Request): boolean => !url.startsWith('/') && !headers.get('host')?.includes(',')

/** The body of a response. Text and bytes are sent as they are. */
const serialized = (value: unknown): string | Uint8Array | undefined => {
  if (value instanceof Json) return value.bytes ?? value.text
  return value === undefined || typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value)
}
