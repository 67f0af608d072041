import type { AnyElysia, Context } from 'elysia'
import { Memoirist } from 'memoirist'
import type { Edge } from './edge.ts'
import { OPERATION, type Operation } from './operation.ts'
import type { RequestContext } from './request-id.ts'
import { pathOf } from './target.ts'

type Answer = Response | Promise<Response>

/** What the handler of a fast operation is given: of the framework's context, what those handlers use. */
interface FastContext extends RequestContext {
  params: Record<string, string>
  path: string
  route: string
  session: unknown
}

interface FastRoute {
  route: string
  handler: (context: FastContext) => unknown
  /** Lets a request in, or throws: the guard, or what stands before public routes. */
  admit: (context: FastContext) => unknown
}

export interface FastPathOptions {
  edge: Edge
  /** The guard, which answers the session. */
  admit: (context: FastContext) => unknown
  /** What stands before routes that need no access token. */
  enter: ((context: FastContext) => unknown) | undefined
}

/**
 * Answers the operations that say they are `fast` by their own handlers, without the framework between (decision 0024):
 * the same edge, the same guard, the same errors. All other requests, and those with anything unusual in their path, go
 * to the app.
 *
 * @throws Error when an operation says so that needs more than a session
 */
export const fastPath = (
  app: AnyElysia,
  { edge, admit, enter = () => undefined }: FastPathOptions,
): ((request: Request) => Answer) => {
  const router = new Memoirist<FastRoute>()
  for (const { method, path, handler, hooks } of app.routes) {
    const operation = (hooks?.detail as { [OPERATION]?: Operation } | undefined)?.[OPERATION]
    if (!operation?.fast) continue
    if (isGuardedFurther(operation))
      throw new Error(`${operation.id} needs more of the guard than a fast operation has`)
    // The framework offers handlers more than this; that a fast one uses no more is what its test compares.
    router.add(method, path.replace(/\/$/, ''), {
      route: path,
      handler: handler as unknown as FastRoute['handler'],
      admit: operation.public ? enter : admit,
    })
  }

  const finish = (context: FastContext, value: unknown): Response => {
    const { set } = context
    const body = edge.answer(context, value)
    return body instanceof Response ? body : responseOf(body, set)
  }
  const refuse = (context: FastContext, error: unknown): Response => {
    const body = edge.refuse(context, error)
    return body instanceof Response ? body : responseOf(body, context.set)
  }
  const handle = ({ handler }: FastRoute, context: FastContext, session: unknown): Answer => {
    context.session = session
    try {
      const value = handler(context)
      return value instanceof Promise
        ? value.then((settled) => finish(context, settled)).catch((error: unknown) => refuse(context, error))
        : finish(context, value)
    } catch (error) {
      return refuse(context, error)
    }
  }

  return (request) => {
    const path = pathOf(request.url)
    const found = router.find(request.method, path)
    if (!found || path.includes('%')) return app.fetch(request)
    const { store, params } = found
    const context: FastContext = { request, set: { headers: {} }, params, path, route: store.route, session: undefined }
    try {
      edge.arrive(context)
      const admitted = store.admit(context)
      return admitted instanceof Promise
        ? admitted.then((session) => handle(store, context, session)).catch((error) => refuse(context, error))
        : handle(store, context, admitted)
    } catch (error) {
      return refuse(context, error)
    }
  }
}

const responseOf = (body: string | Uint8Array | undefined, { headers, status }: Context['set']): Response =>
  new Response(body as string | undefined, {
    headers: headers as Record<string, string>,
    status: Number(status ?? 200),
  })

const isGuardedFurther = ({ refusals }: Operation): boolean =>
  Object.values(refusals).some(({ code }) => code === 'feature_disabled')
