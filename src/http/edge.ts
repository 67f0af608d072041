import { Elysia } from 'elysia'
import { DomainError, type Failure } from '../kernel/failure.ts'
import { edgeOf, renderFailure } from './errors.ts'
import { type RequestContext, requestIdOf } from './request-id.ts'

export interface EdgeOptions {
  /** Lets a request in, or throws: asked for paths below /api/v1 that no route serves. */
  admit: (context: RequestContext) => Promise<unknown>
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  /** Hears of failures that no one foresaw. */
  onBreakdown: (breakdown: { error: unknown; requestId: string; method: string; path: string }) => void
}

/**
 * The first and the last thing that happens to every request: it is given an identifier, and whatever was thrown
 * leaves as an error in the shape of its route.
 */
export const edge = ({ admit, nextRequestId, onBreakdown }: EdgeOptions) =>
  new Elysia({ name: 'edge' })
    .onRequest(({ request, set }) => {
      set.headers['x-request-id'] = requestIdOf(request) ?? nextRequestId()
    })
    .onError({ as: 'global' }, async ({ error, code, request, set, path }) => {
      const failure = code === 'NOT_FOUND' ? await unknownRoute({ request, set }, path, admit) : failureOf(error)
      if (failure.code === 'internal') {
        onBreakdown({ error, requestId: String(set.headers['x-request-id']), method: request.method, path })
      }
      const { status, headers, body } = renderFailure(failure, edgeOf(request.method, path))
      set.status = status
      for (const [name, value] of Object.entries(headers)) set.headers[name] = value
      return body
    })

/** A path below /api/v1 without a token is 401 whether it exists or not (contract C4). */
const unknownRoute = async (context: RequestContext, path: string, admit: EdgeOptions['admit']): Promise<Failure> => {
  if (!path.startsWith('/api/v1/') && path !== '/api/v1') return { code: 'route_not_found' }
  try {
    await admit(context)
    return { code: 'route_not_found' }
  } catch (error) {
    return failureOf(error)
  }
}

const failureOf = (error: unknown): Failure => (error instanceof DomainError ? error.failure : { code: 'internal' })
