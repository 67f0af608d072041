import { isDeepStrictEqual } from 'node:util'
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { type Failure, INTERNAL, unauthorized, unavailable, type Violation } from '../kernel/failure.ts'
import { dryRunErrors } from './dry-run.ts'
import { type ErrorFormat, STRUCTURED } from './errors.ts'
import { BODY_ENCODED, BODY_UNREADABLE, FEATURE_DISABLED, KEY_MALFORMED, KEY_REUSED, rateLimited } from './failures.ts'
import type { JsonObject } from './json.ts'
import { PAGE_HEADERS } from './pagination.ts'
import { exampleOf } from './schemas.ts'
import { documentedRoute } from './target.ts'

/** The member of a route's `detail` that holds its operation. */
export const OPERATION = 'x-operation'

export interface Success<Schema extends TSchema = TSchema> {
  /** 200 if undefined. */
  status?: number
  description: string
  /** Undefined when there is no body. */
  schema?: Schema
  /** The example; that of the schema, if undefined. */
  example?: Static<Schema>
  /** The headers besides X-Request-Id and those of the limit. */
  headers?: TObject
  contentType?: string
  /** Bodies in other content types, for clients that request them with Accept. */
  alsoAs?: Record<string, { schema: TSchema; example: unknown }>
}

/** Members that the operations of a module can share; a line can set them for itself. */
interface Shared {
  public?: true
  /** The feature that a client must have. Otherwise it is refused before its path is read (contract C4). */
  feature?: string
  /** The prefix of the names of its errors: `payouts.`. */
  names?: string
}

/** The common members of the operations of a module. */
export interface Group<Query = TObject> extends Shared, Partial<Pick<ErrorFormat, 'errorShape'>> {
  prefix?: string
  /** The group in the documentation, with its description. Modules that share a group describe it once. */
  tag: string
  tagDescription?: string
  /** True for an operation that reports the state of the service itself: the HTTP layer never sends a 503 for it. */
  isProbe?: true
  /** True if bodies with unknown members are refused. */
  closed?: true
  /** The query of operations that declare none. */
  query?: Query
  /** Errors that each operation has besides its own. */
  alsoRefuses?: (line: Pick<Operation, 'query' | 'body'>) => Record<string, Failure>
}

/** The description of an operation, without its method, its path and its handler: the third argument of its route. */
export interface Line<Params, Query, Body, Schema extends TSchema, Input, Once> extends Shared {
  /** The name of the operation for generated clients: `createBeneficiary`. */
  id: string
  summary: string
  description: string
  /** The message when the program itself fails, if it does not follow from the name (contract C4). */
  unexpectedError?: string
  /** True if a request takes no token of the buckets, so that the limits never refuse it. */
  free?: true
  params?: Params | undefined
  query?: Query
  headers?: TObject
  body?: Body
  /** The example of the body; that of the schema, if undefined. */
  bodyExample?: object | undefined
  /** True if a missing body means an empty object. */
  bodyOptional?: true
  /** The largest body that is read, if it is smaller than the general limit. */
  bodyBytesMax?: number
  /** The most values of a body, if they are more than the general limit (contract C15). */
  bodyValuesMax?: number
  /** Checks a body by rules that its schema cannot express, and converts it. @throws DomainError validation */
  read?: ((sent: JsonObject, request: Request) => Input | Promise<Input>) | undefined
  /** An Idempotency-Key replays the response: a refusal of the body is stored in the same transaction (contract C14). */
  once?: Once
  /** The formats of a long document besides JSON. The handler then reads the body. */
  bodyAlsoAs?: Record<string, { schema: TSchema; example: unknown }>
  /** The failure of a body that breaks its schema, if it is not `validation`. */
  bodyFailure?: (violations: readonly Violation[], body: JsonObject) => Failure
  response: Success<Schema>
  /** A second response that is not an error: a probe says that the service is not ready. */
  alternative?: Success & { status: number }
  /**
   * The errors of this operation with realistic facts, by their stable names (contract C15). A name with a dot gets no
   * prefix. Errors of a path id, a body, a key and a feature are added from the other members.
   */
  refuses?: Record<string, Failure>
}

/** An operation as the documentation, an extension and the tests read it. */
export interface Operation
  extends Omit<Line<TObject, TObject, TObject, TSchema, unknown, true | undefined>, keyof ErrorFormat>,
    Omit<Group, 'errorShape' | 'query' | 'prefix'>,
    ErrorFormat {
  response: Success & { status: number }
  refuses: Record<string, Failure>
  /** Takes X-Dry-Run (contract C19). */
  hasDryRun: boolean
}

/** The tag of operations that come last in the document. */
export const LAST_TAG = 'Log out'

/** The message when the program itself fails (contract C4): "Failed to retrieve payouts" for `listPayouts`. */
const failureTo = (id: string): string =>
  `Failed to ${id.replace(/^(?:list|get)(?=[A-Z])/, 'retrieve').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`

/** Adds the implied members of a line: names of errors, examples of schemas, headers of creation and of an Idempotency-Key. */
export const completed = (
  { alsoRefuses, ...group }: Omit<Group, 'prefix'> & Pick<Operation, 'hasDryRun'>,
  line: Omit<Operation, keyof ErrorFormat | 'hasDryRun'>,
): Operation => {
  const operation = { errorShape: STRUCTURED.errorShape, ...group, ...line }
  const { id, body, bodyExample, headers, once, names = '', response } = operation
  const { status = 200, schema, example } = response
  return {
    unexpectedError: operation.public ? INTERNAL.message : failureTo(id),
    ...operation,
    // Made when they are read: only the documentation and the sandbox's errors do, and a start would take longer.
    get bodyExample(): object | undefined {
      return bodyExample ?? (body && exampleOf(body))
    },
    get headers() {
      return together(once && KEY_HEADERS, headers)
    },
    response: {
      ...response,
      status,
      get example() {
        return example ?? (schema && exampleOf(schema))
      },
      get headers() {
        return together(response.headers, status === CREATED && CREATED_HEADERS, once && REPLAY_HEADERS)
      },
    },
    get refuses() {
      const refuses = { ...impliedErrors(operation), ...alsoRefuses?.(operation), ...line.refuses }
      return Object.fromEntries(
        Object.entries(refuses).map(([name, failure]) => [name.includes('.') ? name : names + name, failure]),
      )
    },
  }
}

/** The errors that follow from other members of a line. */
const impliedErrors = ({ feature, params, body, once }: Partial<Operation>): Record<string, Failure> => ({
  ...(feature !== undefined && { feature_disabled: FEATURE_DISABLED }),
  ...(params?.properties.id?.failure && { invalid_id: params.properties.id.failure }),
  ...(body && { body_unreadable: BODY_UNREADABLE }),
  ...(once && { idempotency_key_malformed: KEY_MALFORMED, idempotency_key_reused: KEY_REUSED }),
})

const together = (...headers: (TObject | false | undefined)[]): TObject =>
  Type.Object(Object.assign({}, ...headers.map((each) => (each ? each.properties : {}))))

/** An operation where it is served: `GET`, `/api/v1/countries/:id`. */
export interface ServedOperation {
  method: string
  /** The documented route; the framework's own pattern of a prefix ends in a slash. */
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
export const errorsOf = (operation: Operation): Record<string, Failure> => ({
  ...operation.refuses,
  ...commonErrorsOf(operation),
})

/** The errors that are the same wherever they can occur. */
export const commonErrorsOf = (operation: Operation): Record<string, Failure> => ({
  ...(operation.hasDryRun && dryRunErrors(operation)),
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
    Type.String({
      minLength: 8,
      maxLength: 256,
      description: 'Repeating a key within 24 hours returns the stored response',
    }),
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

/**
 * The name of the closest documented error: the same facts, otherwise the same field and rule, otherwise the same code.
 */
export const errorNameOf = (operation: Operation, failure: Failure): string | undefined => {
  const alike = Object.entries(errorsOf(operation)).filter(([, documented]) => documented.code === failure.code)
  const nearest =
    alike.find(([, documented]) => isDeepStrictEqual(documented, failure)) ??
    alike.find(([, documented]) => fieldAndRule(documented) === fieldAndRule(failure)) ??
    alike[0]
  return nearest?.[0]
}

const fieldAndRule = (failure: Failure): string => {
  const [first] = failure.violations ?? []
  return `${first?.field} ${first?.rule}`
}
