import type { Static, TObject, TSchema, TVoid } from '@sinclair/typebox'
import type { AnyElysia, HTTPMethod } from 'elysia'
import { andThen } from '../kernel/turns.ts'
import { readObject, readText } from './body.ts'
import { hasDryRun } from './dry-run.ts'
import type { HttpLayer } from './http-layer.ts'
import type { Incoming } from './incoming.ts'
import type { Json, JsonObject } from './json.ts'
import { completed, type Group, type Line, OPERATION, type Operation } from './operation.ts'
import { pathReader, queryReader } from './parameters.ts'
import type { PublicFile } from './public-file.ts'
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

/** A request as its handler gets it. */
type Sent<Params, Query, Input> = Incoming & { params: ValueOf<Params>; query: ValueOf<Query>; body: Input }

/** The possible results of a handler, which the compiler checks against the schema: the value, or its JSON. */
type Result<Value, Once> = Once extends true ? Json<Value> : Value | Json<Value> | Response | PublicFile

/** The prefix of routes in an app, and the steps that they share. */
export interface Mount {
  prefix: string
  /** Runs before the path, the query and the body are read. */
  admit: RouteStep
  /** Runs after they are read. */
  beforeHandle: (incoming: ReadRequest) => Promise<void>
}

/** A request whose route has read its path and its query. */
type ReadRequest = Incoming & { params: Record<string, unknown>; query: Record<string, string | undefined> }

/** A step before a handler. May throw a DomainError. */
type RouteStep = (incoming: Incoming) => undefined | Promise<void>

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
    incoming: Given &
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

  /** `admit` runs before the path, the query and the body are read. It gives each request what its handler expects. */
  constructor(
    private readonly group: Group<GroupQuery>,
    private readonly admit?: RouteStep,
  ) {}

  /** Adds the routes to an app. The framework would copy the routes of a plugin. */
  addTo(app: AnyElysia, layer: HttpLayer, mount: Partial<Mount> = {}): void {
    for (const add of this.#lines) add(app, layer, mount)
  }

  #adding(method: HTTPMethod): Add<Given, GroupQuery, this> {
    return (path, handler, line) => {
      const { prefix = '', ...group } = this.group as Group
      const operation = completed({ ...group, hasDryRun: hasDryRun(method, prefix + path) }, line as never)
      this.#lines.push((app, { serve }, { prefix: above = '', admit = this.admit, beforeHandle }) => {
        const route = documentedRoute(above + prefix + path)
        const steps = stepsOf(operation, admit, beforeHandle, handler as never)
        const respond = ({ incoming, params }: { incoming: Incoming; params: unknown }) => {
          incoming.route = route
          incoming.operation = operation
          incoming.params = params
          return serve(incoming, steps)
        }
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
  admit: RouteStep | undefined,
  beforeHandle: Mount['beforeHandle'] | undefined,
  handler: (incoming: Incoming) => unknown,
) => {
  const { params, query, body, bodyAlsoAs, once } = operation
  const readPath = params && pathReader(params)
  const readQuery = query && queryReader(query)
  // A handler that takes several formats reads the body itself.
  const readBody = body && !bodyAlsoAs ? bodyReader(operation, body) : once && noBody(operation)
  const read = (incoming: Incoming): unknown => {
    if (readPath) incoming.params = readPath(incoming.params as never)
    if (readQuery) incoming.query = readQuery(incoming.request.url)
    if (!readBody && !beforeHandle) return handler(incoming)
    return andThen(readBody?.(incoming), (body) => {
      incoming.body = body
      return andThen(beforeHandle?.(incoming as ReadRequest), () => handler(incoming))
    })
  }
  return (incoming: Incoming) => {
    const admitting = admit?.(incoming)
    return admitting ? admitting.then(() => read(incoming)) : read(incoming)
  }
}

const noBody = (operation: Operation) => () => ({ text: '{}', read: () => undefined, operation })

/** Reads the body of a request. The framework does not, because strangers are refused first (contract C4). */
const bodyReader = (operation: Operation, schema: TObject): ((incoming: Incoming) => unknown) => {
  const check = bodyCheck(schema, operation.bodyFailure)
  const { read = (sent: JsonObject) => check(sent), once } = operation
  if (once) {
    return async (incoming) => {
      const text = await readText(incoming)
      return { text, read: (sent: JsonObject) => read(sent, incoming.request), operation }
    }
  }
  const { bodyBytesMax: bytesMax, bodyValuesMax: valuesMax, bodyOptional: isOptional } = operation
  const bounds = { bytesMax, valuesMax, isOptional }
  return async (incoming) => read(await readObject(incoming, bounds), incoming.request)
}
