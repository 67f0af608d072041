import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { AnyElysia, Context } from 'elysia'
import { type Failure, INTERNAL, unauthorized, unavailable, type Violation } from '../kernel/failure.ts'
import { DEFERRED, readObject, readOptionalObject } from './body.ts'
import type { ErrorFormat } from './errors.ts'
import { rateLimited } from './failures.ts'
import type { JsonObject } from './json.ts'
import { queryReader, readPath } from './parameters.ts'
import { documentedRoute } from './target.ts'
import { knownMembers } from './validation.ts'

/** The member of a route's `detail` that holds its operation. */
const OPERATION = 'x-operation'

interface Success<Schema extends TSchema = TSchema, Status extends number = number> {
  status: Status
  description: string
  /** Undefined when there is no body. */
  schema?: Schema
  example?: Static<Schema>
  /** The headers besides X-Request-Id and those of the limit. */
  headers?: TObject
  contentType?: string
  /** The same in other content types, for clients that ask for them by Accept. */
  alsoAs?: Record<string, { schema: TSchema; example: unknown }>
}

/** The request and the response of an operation. */
interface Wire<Params, Query, Body, Schema extends TSchema, Status extends number> {
  params?: Params
  query?: Query
  body?: Body
  success: Success<Schema, Status>
}

interface About {
  /** The name of the operation for generated clients: `createBeneficiary`. */
  id: string
  summary: string
  description: string
  /** The message when the program itself fails (contract C4): "Failed to create beneficiary". */
  unexpectedError?: string
  public?: true
  /** Takes no token of the buckets, so that the limits never refuse it. */
  free?: true
  headers?: TObject
  bodyExample?: object
  /** No body means an empty object. */
  bodyOptional?: true
  /** The largest body that is read, where it is smaller than elsewhere. */
  bodyBytesMax?: number
  /**
   * The handler checks the body, not the framework: a refusal is stored for its Idempotency-Key in the same transaction
   * (contract C14).
   */
  checksBody?: true
  /** The failure of a body that breaks its schema, where it is not `validation`. */
  bodyFailure?: (violations: readonly Violation[], body: JsonObject) => Failure
  /** The response has an entity tag and can be compressed. */
  stored?: true
  /** A second response that is no error: a probe says that the service is not ready. */
  alternative?: Success
  /** Every error of this operation alone, by its stable name (contract C15), with facts that could be real. */
  errors: Record<string, Failure>
}

/** What the operations of a module have in common. */
interface Group extends Pick<ErrorFormat, 'errorShape'>, Pick<About, 'public'> {
  /** The group in the documentation, and what it is about; said once where modules share a group. */
  tag: string
  tagDescription?: string
  /** Says itself how the service is, so that it is never a 503 of the HTTP layer. */
  isProbe?: true
  /** Bodies with unknown members are refused. */
  closed?: true
}

/** An operation as the documentation, the sandbox and the tests read it. */
export interface Operation extends About, Group, ErrorFormat, Wire<TObject, TObject, TObject, TSchema, number> {
  unexpectedError: string
}

/** The schemas of a route, for the framework and for the types of its handler. */
type Schemas<Params, Query, Body, Schema extends TSchema, Status extends number> = {
  response: { [Key in Status]: Schema }
} & (Params extends TObject ? { params: Params } : unknown) &
  (Query extends TObject ? { query: Query } : unknown) &
  (Body extends TObject ? { body: Body } : unknown)

/**
 * Declares the operations of a module. A declaration becomes the options of its route: the framework checks the body and
 * types the handler. Documentation, errors and tests are made from the same declaration (decision 3).
 */
export const operationsOf = (group: Group) => {
  function operation<
    Params extends TObject | undefined = undefined,
    Query extends TObject | undefined = undefined,
    Body extends TObject | undefined = undefined,
    Schema extends TSchema = TSchema,
    const Status extends number = number,
  >(
    declared: About & Wire<Params, Query, Body, Schema, Status>,
  ): Schemas<Params, Query, Body, Schema, Status> & { detail: { operationId: string } }
  function operation(declared: About & Wire<TObject, TObject, TObject, TSchema, number>): object {
    return routeOptions({ unexpectedError: INTERNAL.message, ...group, ...declared })
  }
  return operation
}

const routeOptions = (operation: Operation) => ({
  ...schemasOf(operation),
  transform: readersOf(operation),
  ...(operation.body && { parse: DEFERRED }),
  detail: {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: operation.public ? [] : [{ accessToken: [] }],
    [OPERATION]: operation,
  },
})

/**
 * The framework checks bodies alone: parameters are read by their own schemas, and tests check responses.
 */
const schemasOf = ({ params, query, body, checksBody, success: { status, schema } }: Operation) => ({
  ...(params && { params: unchecked(params) }),
  ...(query && { query: unchecked(query) }),
  ...(body && { body: checksBody ? unchecked(body) : { ...body, additionalProperties: true } }),
  ...(schema && { response: { [status]: unchecked(schema) } }),
})

const unchecked = (schema: TSchema): TSchema => ({ ...schema, noValidate: true })

type Given = Pick<Context, 'request'> & { params: unknown; query: unknown; body: unknown }

/** The hooks that read path, query and body, in the order of contract C4. */
const readersOf = ({ params, query, body, checksBody, bodyOptional, bodyBytesMax }: Operation) => {
  const readers: ((given: Given) => void | Promise<void>)[] = []
  if (params) {
    readers.push((given) => {
      given.params = readPath(params, given.params as Record<string, string>)
    })
  }
  if (query) {
    const readQuery = queryReader(query)
    readers.push((given) => {
      given.query = readQuery(given.request.url)
    })
  }
  if (body && !checksBody) {
    readers.push(async (given) => {
      const read = bodyOptional ? readOptionalObject(given.request) : readObject(given.request, bodyBytesMax)
      given.body = knownMembers(body, await read)
    })
  }
  return readers
}

/** An operation where it is served: `GET`, `/api/v1/countries/:id`. */
export interface ServedOperation {
  method: string
  /** As it is documented; the framework's own pattern of a prefix ends in a slash. */
  route: string
  path: string
  operation: Operation
}

/** The operations of an app, in the order in which they were registered. */
export const servedBy = (app: AnyElysia): ServedOperation[] =>
  app.routes.flatMap(({ method, path, hooks }) => {
    const operation = (hooks?.detail as { [OPERATION]?: Operation } | undefined)?.[OPERATION]
    return operation ? [{ method, route: documentedRoute(path), path, operation }] : []
  })

/** Every error of an operation by its stable name, the common ones last. */
export const errorsOf = ({ errors, public: isPublic, free, isProbe }: Operation): Record<string, Failure> => ({
  ...errors,
  ...(!isPublic && { unauthorized: unauthorized(true) }),
  ...(!isPublic && !free && { rate_limited: rateLimited(36) }),
  internal: INTERNAL,
  ...(!isProbe && { unavailable: unavailable(1) }),
})

export const CREATED_HEADERS = Type.Object({
  Location: Type.String({ description: 'The path of the new record' }),
})

const PAGE_HEADERS = Type.Object({
  'X-Page': Type.Integer({ minimum: 1, description: 'The current page' }),
  'X-Per-Page': Type.Integer({ minimum: 1, description: 'Items per page' }),
  'X-Total-Count': Type.Integer({ minimum: 0, description: 'All items that match' }),
  'X-Total-Pages': Type.Integer({ minimum: 0, description: 'All pages; 0 when nothing matches' }),
})

export const LONG_PAGE_HEADERS = Type.Object({
  ...PAGE_HEADERS.properties,
  'X-Page-Size': Type.Integer({ minimum: 0, description: 'Items in this page' }),
  'X-Has-More': Type.Boolean({ description: 'Whether more pages exist' }),
})

/** The success of an operation that lists all records. */
export const listOf = <Schema extends TSchema>(description: string, schema: Schema, example: Static<Schema>) => ({
  status: 200 as const,
  description,
  schema: Type.Array(schema),
  example: [example],
})

/** The success of an operation that lists records in pages. */
export const pageOf = <Schema extends TSchema>(
  description: string,
  schema: Schema,
  example: Static<Schema>,
  headers: TObject = PAGE_HEADERS,
) => ({ ...listOf(description, schema, example), headers })
