import { type Static, type TObject, type TSchema, type TVoid, Type } from '@sinclair/typebox'
import type { AnyElysia, Context } from 'elysia'
import { type Failure, INTERNAL, unauthorized, unavailable, type Violation } from '../kernel/failure.ts'
import { DEFERRED, readObject, readText } from './body.ts'
import { type ErrorFormat, STRUCTURED } from './errors.ts'
import { BODY_ENCODED, rateLimited } from './failures.ts'
import type { Json, JsonObject } from './json.ts'
import { PAGE_HEADERS } from './pagination.ts'
import { queryReader, readPath } from './parameters.ts'
import { type Reader, reader } from './reader.ts'
import { canRehearse, rehearsalErrors } from './rehearsal.ts'
import { exampleOf } from './schemas.ts'
import { Submission } from './submission.ts'
import { documentedRoute } from './target.ts'
import { bodyCheck } from './validation.ts'

/** The member of a route's `detail` that holds its operation. */
const OPERATION = 'x-operation'

interface Success<Schema extends TSchema = TSchema> {
  status: number
  description: string
  /** Undefined when there is no body. */
  schema?: Schema
  /** That of the schema, if undefined. */
  example?: Static<Schema>
  /** The headers besides X-Request-Id and those of the limit. */
  headers?: TObject
  contentType?: string
  /** The same in other content types, for clients that request them with Accept. */
  alsoAs?: Record<string, { schema: TSchema; example: unknown }>
}

/** The request and the response of an operation. */
interface Wire<Params, Query, Body, Schema extends TSchema> {
  params?: Params
  query?: Query
  body?: Body
  success: Success<Schema>
}

interface About<Input, Once> {
  /** The name of the operation for generated clients: `createBeneficiary`. */
  id: string
  summary: string
  description: string
  /** The message when the program itself fails, where the name does not say it (contract C4). */
  unexpectedError?: string
  public?: true
  /** Takes no token of the buckets, so that the limits never refuse it. */
  free?: true
  headers?: TObject
  /** That of the schema, if undefined. */
  bodyExample?: object
  /** No body means an empty object. */
  bodyOptional?: true
  /** The largest body that is read, where it is smaller than elsewhere. */
  bodyBytesMax?: number
  /** How many values a body may hold, where it may hold more than elsewhere (contract C15). */
  bodyValuesMax?: number
  /** Checks a body by rules that its schema cannot express, and converts it. @throws DomainError validation */
  read?: ((sent: JsonObject, request: Request) => Input | Promise<Input>) | undefined
  /** An Idempotency-Key replays the response: a refusal of the body is stored in the same transaction (contract C14). */
  once?: Once
  /** The handler reads the body: it is a long document, in one of several formats. */
  readsBody?: true
  /** The failure of a body that breaks its schema, where it is not `validation`. */
  bodyFailure?: (violations: readonly Violation[], body: JsonObject) => Failure
  /** No cache keeps the response: it holds tokens, codes or secrets (contract C3). */
  secret?: true
  /** A second response that is not an error: a probe says that the service is not ready. */
  alternative?: Success
  /** Every error of this operation alone, by its stable name (contract C15), with facts that could be real. */
  errors?: Record<string, Failure>
}

/** What the operations of a module have in common. */
interface Group<Query = TObject> extends Partial<Pick<ErrorFormat, 'errorShape'>> {
  public?: true
  /** The group in the documentation, and what it is about; said once where modules share a group. */
  tag: string
  tagDescription?: string
  /** That of each operation, if it is set here. */
  secret?: true
  /** Reports the state of the service itself, so the HTTP layer never answers it with a 503. */
  isProbe?: true
  /** Bodies with unknown members are refused. */
  closed?: true
  /** The query of operations that declare none. */
  query?: Query
}

/** An operation as the documentation, an extension and the tests read it. */
export interface Operation
  extends About<unknown, true | undefined>,
    Omit<Group, 'errorShape'>,
    ErrorFormat,
    Wire<TObject, TObject, TObject, TSchema> {
  unexpectedError: string
  errors: Record<string, Failure>
  /** Takes X-Dry-Run (contract C19). */
  canRehearse?: boolean
}

/** What a handler may return, which the compiler checks against the schema: the value, or its JSON. */
type Result<Value, Once> = Once extends true ? Json<Value> : Value | Json<Value>

/**
 * The schemas of a route. The one of the response is a type alone: tests check responses, so that requests need not. The
 * framework's types look at that of status 200 and take anything without one, so it stands there whatever the status is.
 */
type Schemas<Params, Query, Body, Result> = {
  response: { 200: Reader<Result> }
  detail: { operationId: string }
} & (Params extends TObject ? { params: Reader<Static<Params>> } : unknown) &
  (Query extends TObject ? { query: Reader<Static<Query>> } : unknown) &
  (unknown extends Body ? unknown : { body: Reader<Body> })

/**
 * Declares the operations of a module. A declaration becomes the options of its route: the framework reads path, query and
 * body by it, and the compiler holds the handler to it. Documentation, errors and tests are made from the same declaration
 * (decision 3).
 */
export const operationsOf = <GroupQuery extends TObject | undefined = undefined>(group: Group<GroupQuery>) => {
  function operation<
    Params extends TObject | undefined = undefined,
    Query extends TObject | undefined = GroupQuery,
    Body extends TObject | undefined = undefined,
    Schema extends TSchema = TVoid,
    Input = Body extends TObject ? Static<Body> : unknown,
    Once extends true | undefined = undefined,
  >(
    declared: About<Input, Once> & Wire<Params, Query, Body, Schema>,
  ): Schemas<Params, Query, Once extends true ? Submission<Input, Static<Schema>> : Input, Result<Static<Schema>, Once>>
  function operation(declared: About<unknown, true | undefined> & Wire<TObject, TObject, TObject, TSchema>): object {
    const { id, public: isPublic = group.public } = declared
    const unexpectedError = isPublic ? INTERNAL.message : failureTo(id)
    return routeOptions(completed({ ...STRUCTURED, unexpectedError, errors: {}, ...group, ...declared }))
  }
  return operation
}

/** The message when the program itself fails (contract C4): "Failed to retrieve payouts" for `listPayouts`. */
const failureTo = (id: string): string =>
  `Failed to ${id.replace(/^(?:list|get)(?=[A-Z])/, 'retrieve').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`

/** With what follows from the declaration: examples of schemas, the headers of creation and of an Idempotency-Key. */
const completed = (operation: Operation): Operation => {
  const { body, bodyExample = body && exampleOf(body), headers, once, success } = operation
  const { schema, example = schema && exampleOf(schema) } = success
  const sent = [
    ...(success.headers ? [success.headers] : []),
    ...(success.status === CREATED ? [CREATED_HEADERS] : []),
    ...(once ? [REPLAY_HEADERS] : []),
  ]
  const taken = [...(once ? [KEY_HEADERS] : []), ...(headers ? [headers] : [])]
  return {
    ...operation,
    ...(bodyExample && { bodyExample }),
    ...(taken.length > 0 && { headers: together(taken) }),
    success: { ...success, ...(schema && { example }), ...(sent.length > 0 && { headers: together(sent) }) },
  }
}

const together = (headers: readonly TObject[]): TObject =>
  Type.Object(Object.assign({}, ...headers.map(({ properties }) => properties)))

const routeOptions = (operation: Operation) => {
  const { params, query, body, once, secret, success } = operation
  const isUsual = success.status === 200 && !secret
  return {
    ...(params && { params: reader((sent: Record<string, string>) => readPath(params, sent)) }),
    ...(query && { query: reader(queryReader(query)), transform: handOverUrl }),
    ...(body && { body: bodyReader(operation, body), parse: DEFERRED }),
    ...(!isUsual && {
      beforeHandle: ({ set }: Context): void => {
        if (!once) set.status = success.status
        if (secret) set.headers['Cache-Control'] = 'no-store'
      },
    }),
    detail: {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      description: operation.description,
      security: operation.public ? [] : [{ accessToken: [] }],
      [OPERATION]: operation,
    },
  }
}

/**
 * The framework parses a query for such a schema by splitting values at commas and parsing what looks like JSON. So its
 * reader gets the URL instead.
 */
const handOverUrl = (context: { request: Request; query: unknown }): void => {
  context.query = context.request.url
}

/** Reads the body of a request. The framework does not, because strangers are refused first (contract C4). */
const bodyReader = (operation: Operation, schema: TObject) => {
  const check = bodyCheck(schema, operation.bodyFailure)
  const { read = (sent: JsonObject) => check(sent), once, readsBody } = operation
  if (readsBody) return reader((request: Request) => request)
  if (once) {
    return reader(async (request: Request) => {
      const text = await readText(request)
      return new Submission(request, text, operation, (sent) => read(sent, request))
    })
  }
  const { bodyBytesMax: bytesMax, bodyValuesMax: valuesMax, bodyOptional: isOptional } = operation
  const bounds = { bytesMax, valuesMax, isOptional }
  return reader(async (request: Request) => read(await readObject(request, bounds), request))
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
    if (!operation) return []
    const served = { ...operation, canRehearse: canRehearse(method, path) }
    return [{ method, route: documentedRoute(path), path, operation: served }]
  })

/** Every error of an operation by its stable name, the common ones last. */
export const errorsOf = (operation: Operation): Record<string, Failure> => ({
  ...operation.errors,
  ...commonErrorsOf(operation),
})

/** The errors that are the same wherever they can occur. */
export const commonErrorsOf = (operation: Operation): Record<string, Failure> => ({
  ...(operation.canRehearse && rehearsalErrors(operation)),
  ...(operation.body && { body_encoded: BODY_ENCODED }),
  ...(!operation.public && { unauthorized: unauthorized(true) }),
  ...(!operation.public && !operation.free && { rate_limited: rateLimited(36) }),
  internal: INTERNAL,
  ...(!operation.isProbe && { unavailable: unavailable(1) }),
})

const CREATED = 201
const CREATED_HEADERS = Type.Object({ Location: Type.String({ description: 'The path of the new record' }) })
const KEY_HEADERS = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({ minLength: 8, maxLength: 256, description: 'A repeated key gets the stored response for 24 hours' }),
  ),
})
const REPLAY_HEADERS = Type.Object({
  'Idempotent-Replayed': Type.Optional(Type.Literal('true', { description: 'Set if this is a stored response' })),
})

/** The success of an operation that lists all records. */
export const listOf = <Schema extends TSchema>(
  description: string,
  schema: Schema,
  example: Static<Schema> | undefined = exampleOf(schema),
) => ({
  status: 200,
  description,
  schema: Type.Array(schema),
  ...(example !== undefined && { example: [example] }),
})

/** The success of an operation that lists records in pages. */
export const pageOf = <Schema extends TSchema>(
  description: string,
  schema: Schema,
  headers: TObject = PAGE_HEADERS,
) => ({ ...listOf(description, schema), headers })
