import { type Context, Elysia, ValidationError } from 'elysia'
import { DomainError, type Failure, INTERNAL, invalid } from '../kernel/failure.ts'
import { isLeftUnread } from './body.ts'
import { renderFailure, STRUCTURED } from './errors.ts'
import { HOST_INVALID, ROUTE_NOT_FOUND } from './failures.ts'
import type { JsonObject } from './json.ts'
import type { HttpObserver } from './observer.ts'
import type { Operation } from './operation.ts'
import { type RequestContext, requestIdOf } from './request-id.ts'
import { bodyOf, JSON_TYPE } from './responses.ts'
import { StoredResponse } from './stored-response.ts'
import { violationsOf } from './validation.ts'

export interface HttpLayerOptions {
  /** Lets a request in, or throws: asked for paths below /api/v1 that no route serves. */
  admit: (context: Asked) => unknown
  /** What is served, by method and route: an error is written in the format of its route. */
  operations: ReadonlyMap<string, Operation>
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  /** Whether the program is closing: each answer then closes its connection. */
  isClosing: () => boolean
  observer: HttpObserver | undefined
  /** Names the failure behind an error that may pass by waiting; answers any other error as it is. */
  asFailure: (error: unknown) => unknown
  /** Hears of failures that no one foresaw. */
  onUnexpectedError: (unexpectedError: { error: unknown; requestId: string; method: string; path: string }) => void
}

/** A request, its path, and the pattern that serves it; an empty one where none does. */
type Asked = RequestContext & { path: string; route: string }

/**
 * The first and the last thing that happens to every request: it is given an identifier, and whatever was thrown
 * leaves as an error in the shape of its route.
 */
export class HttpLayer {
  constructor(private readonly options: HttpLayerOptions) {}

  /** @throws DomainError host_invalid */
  readonly arrive = ({ request, set }: RequestContext): void => {
    const sent = requestIdOf(request)
    if (sent !== undefined) set.headers['X-Request-Id'] = sent
    this.options.observer?.arrived(request)
    if (!hasOneHost(request)) throw new DomainError(HOST_INVALID)
  }

  /** What a route has answered, as it leaves. */
  readonly answer = (
    { request, set, route }: RequestContext & { route: string },
    value: unknown,
  ): Response | string | Uint8Array | undefined => {
    this.#sign(request, set)
    if (value instanceof StoredResponse) return this.#complete(value.respond(request), request, set, route)
    if (value instanceof Response) return this.#complete(value, request, set, route)
    const body = written(value)
    if (body !== value) set.headers['content-type'] = JSON_TYPE
    this.options.observer?.answered(request, Number(set.status ?? 200), set.headers, body, route)
    return body
  }

  /** What was thrown, as it leaves. */
  readonly refuse = (asked: Asked, error: unknown): Response | string =>
    this.#render(asked, this.#failureOf(asked, this.options.asFailure(error)), error)

  /** A path below /api/v1 without a token is 401 whether it exists or not (contract C4). */
  readonly miss = async (asked: Asked): Promise<Response | string> => {
    if (!asked.path.startsWith('/api/v1/') && asked.path !== '/api/v1') return this.#render(asked, ROUTE_NOT_FOUND)
    try {
      await this.options.admit({ ...asked, route: '' })
      return this.#render(asked, ROUTE_NOT_FOUND)
    } catch (error) {
      return this.refuse(asked, error)
    }
  }

  /** What every answer carries. */
  #sign(request: Request, set: Context['set']): void {
    // Of no world, and so not numbered in one.
    set.headers['X-Request-Id'] ??= this.options.nextRequestId()
    if (this.options.isClosing() || isLeftUnread(request)) set.headers.connection = 'close'
  }

  #complete(response: Response, request: Request, set: Context['set'], route: string): Response {
    for (const name in set.headers) response.headers.set(name, String(set.headers[name]))
    this.options.observer?.answered(request, response.status, response.headers, bodyOf(response), route)
    // With nothing left to add, the framework sends the response as it is, instead of making another one.
    set.headers = {}
    return response
  }

  #render({ request, set, path, route }: Asked, failure: Failure, error?: unknown): Response | string {
    const { observer, onUnexpectedError } = this.options
    this.#sign(request, set)
    if (error !== undefined && !(error instanceof DomainError || error instanceof ValidationError)) {
      onUnexpectedError({ error, requestId: String(set.headers['X-Request-Id']), method: request.method, path })
    }
    const { status, headers, body } = renderFailure(failure, this.#operationOf(request, route) ?? STRUCTURED)
    set.status = status
    for (const [name, value] of Object.entries(headers)) set.headers[name] = value
    const text = JSON.stringify(body)
    set.headers['content-type'] = JSON_TYPE
    observer?.refused(request, route, failure, { status, headers: set.headers, body: text })
    return failure.dropsConnection ? brokenOff() : text
  }

  #operationOf({ method }: Request, route: string | undefined): Operation | undefined {
    return this.options.operations.get(`${method} ${route}`)
  }

  #failureOf({ request, route }: Asked, error: unknown): Failure {
    if (error instanceof DomainError) return error.failure
    const operation = error instanceof ValidationError ? this.#operationOf(request, route) : undefined
    if (!(error instanceof ValidationError) || !operation?.body) return INTERNAL
    const violations = violationsOf(error, operation.body)
    return operation.bodyFailure?.(violations, error.value as JsonObject) ?? invalid(violations)
  }

  /** The edge of an app. */
  get plugin() {
    return new Elysia({ name: 'edge' })
      .onRequest(this.arrive)
      .onError({ as: 'global' }, ({ error, code, request, set, path, route }) => {
        const asked = { request, set, path, route }
        return code === 'NOT_FOUND' ? this.miss(asked) : this.refuse(asked, error)
      })
      .onAfterHandle({ as: 'global' }, ({ request, responseValue, set, route }) =>
        this.answer({ request, set, route }, responseValue),
      )
  }
}

/** Whether a request names one host, and one that is written as such (RFC 9112, 3.2). */
const hasOneHost = ({ url, headers }: Request): boolean => !url.startsWith('/') && !headers.get('host')?.includes(',')

/** What a route answers is an object, text, bytes or nothing; an object is written out once, for all who want it. */
const written = (value: unknown): string | Uint8Array | undefined =>
  value === undefined || typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value)

/** An answer that fails before its first byte: the connection is closed without one. */
const brokenOff = (): Response =>
  new Response(
    new ReadableStream({
      pull: (controller) => controller.error(),
    }),
  )
