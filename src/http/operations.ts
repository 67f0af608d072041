import type { AnyElysia } from 'elysia'
import type { Failure } from '../kernel/failure.ts'
import { OPERATION, type Operation } from './operation.ts'
import { documentedRoute } from './target.ts'

/** An operation where it is served: `GET`, `/api/v1/countries/:id`. */
export interface ServedOperation {
  method: string
  route: string
  operation: Operation
}

/** What every protected route can refuse, whatever it does. */
const GUARD_REFUSALS: Record<string, Failure> = { unauthorized: { code: 'unauthorized', tokenSent: true } }
const LIMIT_REFUSALS: Record<string, Failure> = { rate_limited: { code: 'rate_limited', retryAfterSeconds: 36 } }
const INTERNAL: Record<string, Failure> = { internal: { code: 'internal' } }
/** Where waiting helps; probes and status say for themselves how the service is. */
const UNAVAILABLE: Record<string, Failure> = { unavailable: { code: 'unavailable', retryAfterSeconds: 1 } }

/** Every refusal of an operation by its stable name, the common ones last. */
export const refusalsOf = (operation: Operation): Record<string, Failure> => ({
  ...operation.refusals,
  ...(operation.public ? {} : GUARD_REFUSALS),
  ...(operation.public || operation.free ? {} : LIMIT_REFUSALS),
  ...INTERNAL,
  ...(operation.tag === 'Service' ? {} : UNAVAILABLE),
})

/** The documented operations of an app, in the order in which they were registered. */
export const operationsOf = (app: AnyElysia): ServedOperation[] =>
  app.routes.flatMap(({ method, path, hooks }) => {
    const operation = (hooks?.detail as { [OPERATION]?: Operation } | undefined)?.[OPERATION]
    return operation ? [{ method, route: documentedRoute(path), operation }] : []
  })
