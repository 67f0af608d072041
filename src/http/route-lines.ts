import type { Static, TObject, TSchema, TVoid } from '@sinclair/typebox'
import type { AnyElysia, Context, HTTPMethod } from 'elysia'
import { DEFERRED, readObject, readText } from './body.ts'
import { hasDryRun } from './dry-run.ts'
import type { Json, JsonObject } from './json.ts'
import { completed, type Group, type Line, OPERATION, type Operation } from './operation.ts'
import { queryReader } from './parameters.ts'
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

type ValueOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown

/** The context of a handler. */
type Sent<Params, Query, Input> = RequestContext & { params: ValueOf<Params>; query: ValueOf<Query>; body: Input }

/** The possible results of a handler, which the compiler checks against the schema: the value, or its JSON. */
type Result<Value, Once> = Once extends true ? Json<Value> : Value | Json<Value> | Response | PublicFile

/** The place of routes in an app, and their common steps. */
export interface Place {
  prefix: string
  /** Runs before the path, the query and the body are read. */
  transform: (context: RoutedRequest) => void | Promise<void>
  /** Runs after they are read. */
  beforeHandle: (
    context: RequestContext & {
      route: string
      params: Record<string, unknown>
      query: Record<string, string | undefined>
    },
  ) => void | Promise<void>
}

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
 * the framework reads path, query and body, and the types of the handler. Documentation, errors and tests come from it, too
 * (decision 3). The framework's own types of a route would check each response while the program runs.
 */
export class Routes<
  Given extends Record<string, unknown> = Record<never, never>,
  GroupQuery extends TObject | undefined = undefined,
> {
  readonly #lines: ((app: AnyElysia, place: Partial<Place>) => void)[] = []
  readonly get = this.#adding('GET')
  readonly post = this.#adding('POST')
  readonly put = this.#adding('PUT')
  readonly patch = this.#adding('PATCH')
  readonly delete = this.#adding('DELETE')

  /** `give` runs before the path, the query and the body are read, and adds members to the context of each handler. */
  constructor(
    private readonly group: Group<GroupQuery>,
    private readonly give?: (context: RoutedRequest & Given) => Promise<void>,
  ) {}

  /** Adds the routes to an app. The framework would copy the routes of a plugin. */
  addTo(app: AnyElysia, place: Partial<Place> = {}): void {
    for (const add of this.#lines) add(app, place)
  }

  #adding(method: HTTPMethod): Add<Given, GroupQuery, this> {
    return (path, handler, line) => {
      const { prefix = '', ...group } = this.group as Group
      const operation = completed({ ...group, hasDryRun: hasDryRun(method, prefix + path) }, line as never)
      this.#lines.push((app, { prefix: above = '', ...place }) => {
        const options = routeOptions(operation, [place.transform, this.give], place.beforeHandle)
        app.route(method, documentedRoute(above + prefix + path), handler as never, options)
      })
      return this
    }
  }
}

const routeOptions = (operation: Operation, first: readonly unknown[], beforeHandle: unknown): object => {
  const { params, query, body, once, response } = operation
  const setStatus = ({ set }: Context): void => {
    set.status = response.status
  }
  return {
    ...(params && { params }),
    ...(query && { query: reader(queryReader(query)) }),
    transform: present(...first, query && handOverUrl),
    ...((body || once) && { body: body ? bodyReader(operation, body) : noBody(operation), parse: DEFERRED }),
    beforeHandle: present(beforeHandle, once || response.status === 200 ? undefined : setStatus),
    detail: { [OPERATION]: operation },
  }
}

const present = (...steps: readonly unknown[]): unknown[] => steps.filter((step) => step !== undefined)

/**
 * A schema that the framework runs (Standard Schema, version 1). The function throws a DomainError with all problems, so
 * that the framework never makes its own error.
 */
const reader = <Sent, Value>(read: (sent: Sent) => Value | Promise<Value>) => {
  const validate = (sent: Sent) => {
    const value = read(sent)
    return value instanceof Promise ? value.then((value) => ({ value })) : { value }
  }
  return { '~standard': { version: 1, vendor: 'scrip', validate } }
}

/**
 * Gives the reader of a query the URL. For such a schema, the framework itself would split values at commas and parse texts
 * that look like JSON.
 */
const handOverUrl = (context: { request: Request; query: unknown }): void => {
  context.query = context.request.url
}

const noBody = (operation: Operation) => reader(() => ({ text: '{}', read: () => undefined, operation }))

/** Reads the body of a request. The framework does not, because strangers are refused first (contract C4). */
const bodyReader = (operation: Operation, schema: TObject) => {
  const check = bodyCheck(schema, operation.bodyFailure)
  const { read = (sent: JsonObject) => check(sent), once, bodyAlsoAs } = operation
  if (bodyAlsoAs) return reader((request: Request) => request)
  if (once) {
    return reader(async (request: Request) => {
      const text = await readText(request)
      return { text, read: (sent: JsonObject) => read(sent, request), operation }
    })
  }
  const { bodyBytesMax: bytesMax, bodyValuesMax: valuesMax, bodyOptional: isOptional } = operation
  const bounds = { bytesMax, valuesMax, isOptional }
  return reader(async (request: Request) => read(await readObject(request, bounds), request))
}
