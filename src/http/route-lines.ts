import type { Static, TObject, TSchema, TVoid } from '@sinclair/typebox'
import type { AnyElysia, HTTPMethod } from 'elysia'
import { andThen } from '../kernel/turns.ts'
import { readObject, readText } from './body.ts'
import { hasDryRun } from './dry-run.ts'
import type { HttpLayer } from './http-layer.ts'
import type { Json, JsonObject } from './json.ts'
import { completed, type Group, type Line, OPERATION, type Operation } from './operation.ts'
import { pathReader, queryReader } from './parameters.ts'
import type { PublicFile } from './public-file.ts'
import type { RequestContext, RoutedRequest } from './request-id.ts'
import { documentedRoute } from './target.ts'
import { bodyCheck } from './validation.ts'

/**
 * The body of a write that happens once: its handler reads it, so that a refusal is stored with the key (contract C14).
 * That of an operation without a body is an empty object, whatever was sent.
 */
export interface DeferredBody<Input, Output> {
  text: string
  /** @throws DomainError validation */
  read: (sent: JsonObject) => Input | Promise<Input>
  operation: Operation
  /** The result of the write, for the compiler alone. */
  output?: Output
}

export type ValueOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown

/** The context of a handler. */
type Sent<Params, Query, Input> = RequestContext & { params: ValueOf<Params>; query: ValueOf<Query>; body: Input }

/** The possible results of a handler, which the compiler checks against the schema: the value, or its JSON. */
type Result<Value, Once> = Once extends true ? Json<Value> : Value | Json<Value> | Response | PublicFile

/** The prefix of routes in an app, and the hooks that they share. */
export interface Mount {
  prefix: string
  /** Runs before the path, the query and the body are read. */
  transform: RouteHook
  /** Runs after they are read. */
  beforeHandle: RouteHook
}

/** A request whose route has read its path and its query. */
interface ReadRequest extends RoutedRequest {
  params: Record<string, unknown>
  query: Record<string, string | undefined>
}

/** Runs before a handler. May throw a DomainError. */
type RouteHook = (context: ReadRequest) => undefined | Promise<void>

/** Adds an operation with its path, its handler and its description. */
type Add<Given, GroupQuery, Self> = <
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = GroupQuery extends TObject ? GroupQuery : undefined,
  Body extends TObject | undefined = undefined,
  Schema extends TSchema = TVoid,
  Input = ValueOf<Body>,
  Once extends true | undefined = undefined,
>(
  path: string,
  handler: (
    context: Given &
      Sent<Params, Query, Once extends true ? DeferredBody<NoInfer<Input>, Static<Schema>> : NoInfer<Input>>,
  ) => Result<Static<NoInfer<Schema>>, Once> | Promise<Result<Static<NoInfer<Schema>>, Once>>,
  line: Line<Params, Query, Body, Schema, Input, Once>,
) => Self

/**
 * The routes of a module, a line each: method, path, handler, and the description of the operation. The line determines how
 * path, query and body are read, and the types of the handler. Documentation, errors and tests come from it, too (decision 3).
 * The framework finds the route of a request; it would await each step of its own, and check each response.
 */
export class Routes<
  Given extends Record<string, unknown> = Record<never, never>,
  GroupQuery extends TObject | undefined = undefined,
> {
  readonly #lines: ((app: AnyElysia, layer: HttpLayer, mount: Partial<Mount>) => void)[] = []
  readonly get = this.#adding('GET')
  readonly post = this.#adding('POST')
  readonly put = this.#adding('PUT')
  readonly patch = this.#adding('PATCH')
  readonly delete = this.#adding('DELETE')

  /** `give` runs before the path, the query and the body are read, and adds members to the context of each handler. */
  constructor(
    private readonly group: Group<GroupQuery>,
    private readonly give?: (context: RoutedRequest & Given) => undefined | Promise<void>,
  ) {}

  /** Adds the routes to an app. The framework would copy the routes of a plugin. */
  addTo(app: AnyElysia, layer: HttpLayer, mount: Partial<Mount> = {}): void {
    for (const add of this.#lines) add(app, layer, mount)
  }

  #adding(method: HTTPMethod): Add<Given, GroupQuery, this> {
    return (path, handler, line) => {
      const { prefix = '', ...group } = this.group as Group
      const operation = completed({ ...group, hasDryRun: hasDryRun(method, prefix + path) }, line as never)
      this.#lines.push((app, { serve }, { prefix: above = '', transform, beforeHandle }) => {
        const route = documentedRoute(above + prefix + path)
        const steps = stepsOf(
          operation,
          [transform, this.give as RouteHook | undefined],
          beforeHandle,
          handler as never,
        )
        const respond = ({ request, set, path, params }: Omit<ReadRequest, 'query'>) =>
          serve({ request, set, path, route, operation, params } as RoutedRequest, steps)
        // From the text of a function the framework takes what to read, and whether to wait. A bound one has none.
        app.route(method, route, respond.bind(undefined) as never, { detail: { [OPERATION]: operation } })
      })
      return this
    }
  }
}

/** All that a route does, at once as far as it need not wait. */
const stepsOf = (
  operation: Operation,
  first: readonly (RouteHook | undefined)[],
  beforeHandle: RouteHook | undefined,
  handler: (context: ReadRequest & { body?: unknown }) => unknown,
) => {
  const { params, query, once, response } = operation
  const steps = first.filter((step) => step !== undefined)
  const readPath = params && pathReader(params)
  const readQuery = query && queryReader(query)
  const readBody = operation.body ? bodyReader(operation, operation.body) : once && noBody(operation)
  const handle = (context: ReadRequest): unknown => {
    if (!once) context.set.status = response.status
    return handler(context)
  }
  const read = (context: ReadRequest & { body?: unknown }): unknown => {
    if (readPath) context.params = readPath(context.params as never) as never
    if (readQuery) context.query = readQuery(context.request.url) as never
    if (!readBody && !beforeHandle) return handle(context)
    return andThen(readBody?.(context.request), (body) => {
      context.body = body
      return andThen(beforeHandle?.(context), () => handle(context))
    })
  }
  return (context: RoutedRequest) => andThen(inTurn(steps, context as ReadRequest), () => read(context as ReadRequest))
}

const inTurn = (steps: readonly RouteHook[], context: ReadRequest): undefined | Promise<void> => {
  for (const [index, step] of steps.entries()) {
    const underway = step(context)
    if (underway) return underway.then(() => inTurn(steps.slice(index + 1), context))
  }
  return undefined
}

const noBody = (operation: Operation) => () => ({ text: '{}', read: () => undefined, operation })

/** Reads the body of a request. The framework does not, because strangers are refused first (contract C4). */
const bodyReader = (operation: Operation, schema: TObject): ((request: Request) => unknown) => {
  const check = bodyCheck(schema, operation.bodyFailure)
  const { read = (sent: JsonObject) => check(sent), once, bodyAlsoAs } = operation
  if (bodyAlsoAs) return (request) => request
  if (once) {
    return async (request) => {
      const text = await readText(request)
      return { text, read: (sent: JsonObject) => read(sent, request), operation }
    }
  }
  const { bodyBytesMax: bytesMax, bodyValuesMax: valuesMax, bodyOptional: isOptional } = operation
  const bounds = { bytesMax, valuesMax, isOptional }
  return async (request) => read(await readObject(request, bounds), request)
}
