import { type Context, Elysia } from 'elysia'
import { DomainError, type Failure } from '../kernel/failure.ts'
import { edgeOf, renderFailure } from './errors.ts'
import { JSON_TYPE, Prepared } from './prepared.ts'
import { type RequestContext, requestIdOf } from './request-id.ts'
import type { Witness } from './witness.ts'

export interface EdgeOptions {
  /** Lets a request in, or throws: asked for paths below /api/v1 that no route serves. */
  admit: (context: RequestContext & { path: string; route: string }) => Promise<unknown>
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  /** Looks on, for the sandbox, the log and the metrics. */
  witness: Witness | undefined
  /** Hears of failures that no one foresaw. */
  onBreakdown: (breakdown: { error: unknown; requestId: string; method: string; path: string }) => void
}

/**
 * The first and the last thing that happens to every request: it is given an identifier, and whatever was thrown
 * leaves as an error in the shape of its route.
 */
export const edge = ({ admit, nextRequestId, witness, onBreakdown }: EdgeOptions) => {
  const plugin = new Elysia({ name: 'edge' })
    .onRequest(({ request, set }) => {
      const sent = requestIdOf(request)
      if (sent !== undefined) set.headers['x-request-id'] = sent
      witness?.arrived(request)
    })
    .onError({ as: 'global' }, async ({ error, code, request, set, path, route }) => {
      const failure = code === 'NOT_FOUND' ? await unknownRoute({ request, set }, path, admit) : failureOf(error)
      set.headers['x-request-id'] ??= nextRequestId()
      if (failure.code === 'internal' && !(error instanceof DomainError)) {
        onBreakdown({ error, requestId: String(set.headers['x-request-id']), method: request.method, path })
      }
      const { status, headers, body } = renderFailure(failure, edgeOf(request.method, path))
      set.status = status
      for (const [name, value] of Object.entries(headers)) set.headers[name] = value
      const text = JSON.stringify(body)
      set.headers['content-type'] = JSON_TYPE
      witness?.refused(request, route, failure, { status, headers: set.headers, body: text })
      return failure.code === 'connection_dropped' ? brokenOff() : text
    })
  return plugin.onAfterHandle({ as: 'global' }, ({ request, responseValue, set, route }) => {
    // Of no world, and so not numbered in one.
    set.headers['x-request-id'] ??= nextRequestId()
    if (responseValue instanceof Prepared) return copyOf(responseValue, request, set, route, witness)
    const body = written(responseValue)
    if (body !== responseValue) set.headers['content-type'] = JSON_TYPE
    witness?.answered(request, Number(set.status ?? 200), set.headers, body, route)
    return body
  })
}

const copyOf = (
  prepared: Prepared,
  request: Request,
  set: Context['set'],
  route: string,
  witness: Witness | undefined,
): Response => {
  const response = prepared.answer(request)
  for (const name in set.headers) response.headers.set(name, String(set.headers[name]))
  const body = response.status === 304 ? undefined : prepared.body
  witness?.answered(request, response.status, response.headers, body, route)
  // With nothing left to add, the framework sends the response as it is, instead of making another one.
  set.headers = {}
  return response
}

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

/** A path below /api/v1 without a token is 401 whether it exists or not (contract C4). */
const unknownRoute = async (context: RequestContext, path: string, admit: EdgeOptions['admit']): Promise<Failure> => {
  if (!path.startsWith('/api/v1/') && path !== '/api/v1') return { code: 'route_not_found' }
  try {
    await admit({ ...context, path, route: '' })
    return { code: 'route_not_found' }
  } catch (error) {
    return failureOf(error)
  }
}

const failureOf = (error: unknown): Failure => (error instanceof DomainError ? error.failure : { code: 'internal' })
