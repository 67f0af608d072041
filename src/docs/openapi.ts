import type { TObject, TSchema } from '@sinclair/typebox'
import { type AnyElysia, Elysia } from 'elysia'
import { errorsOf, type Operation, type ServedOperation, servedBy } from '../http/operation.ts'
import { REHEARSAL_HEADERS, REHEARSED_HEADERS } from '../http/rehearsal.ts'
import { ownRequests } from '../http/request-timer.ts'
import { documentedRoute } from '../http/target.ts'
import type { Failure } from '../kernel/failure.ts'
import type { ApiDocument, DocumentedOperation, Parameter, Reference } from './document.ts'
import { ERROR_SCHEMAS, errorResponses } from './error-responses.ts'
import { commonHeaders, headerObjects, RATE_LIMIT_HEADERS, REQUEST_ID_HEADER, schemaOf } from './headers.ts'
import { Components } from './schemas.ts'
import { type DeliveredEvent, webhookObjects } from './webhooks.ts'

/**
 * The OpenAPI document: collected from the routes by the plugin, then completed from the operation that each route
 * carries, so that what is documented is what is served.
 */

/** What the plugin makes of a route. */
type Collected = Pick<DocumentedOperation, 'operationId' | 'tags' | 'summary' | 'security'>
type Paths<OfOperation> = Record<string, Record<string, OfOperation>>

const COLLECTED_PATH = '/openapi/collected'

const DESCRIPTION = `Gift cards and payouts for businesses, over HTTP and JSON.

Log in with \`POST /auth/login\`, then send \`Authorization: Bearer <access_token>\`.

Every request may carry an \`X-Request-Id\`; every response does. Amounts are numbers in major units, times RFC 3339 in UTC.`

/** What an extension documents besides the operations. */
export interface Additions {
  /** A paragraph of the introduction. */
  introduction: string
  /** The username with which readers can log in. */
  username: string
  /** Request headers that an operation takes besides its own. */
  headersOf: (served: ServedOperation) => TObject | undefined
  /** Errors that an operation has besides its own, by their names. */
  errorsOf: (served: ServedOperation) => Record<string, Failure>
  /** What is said of some operations instead, by their ids. */
  operations: Readonly<Record<string, Partial<Pick<Operation, 'description' | 'bodyExample' | 'success'>>>>
}

export interface DocumentOptions {
  app: AnyElysia
  version: string
  publicUrl: string
  /** What an extension adds; undefined without one. */
  additions: Additions | undefined
  /** What is posted to webhooks, by type of event. */
  events: Readonly<Record<string, DeliveredEvent>>
}

export const openApiDocument = async ({
  app,
  version,
  publicUrl,
  additions,
  events,
}: DocumentOptions): Promise<ApiDocument> => {
  const operations = new Map(
    servedBy(app).map((served) => {
      const { operation } = served
      return [operation.id, { ...served, operation: { ...operation, ...additions?.operations[operation.id] } }]
    }),
  )
  const components = new Components()
  const paths: ApiDocument['paths'] = {}
  const sharedHeaders: Record<string, Parameter> = {}
  const tags = new Map<string, string>()
  for (const [path, methods] of Object.entries(await collectedFrom(app))) {
    const documented = Object.entries(methods).flatMap(([method, collected]) => {
      const served = operations.get(collected.operationId)
      if (!served) return []
      const { operation } = served
      if (operation.tagDescription !== undefined) tags.set(operation.tag, operation.tagDescription)
      const headers = [
        ...sharedIn(sharedHeaders, operation.canRehearse ? REHEARSAL_HEADERS : undefined),
        ...sharedIn(sharedHeaders, additions?.headersOf(served)),
      ]
      const errors = { ...errorsOf(operation), ...additions?.errorsOf(served) }
      return [[method, operationObject({ components, collected, headers, errors }, operation)]]
    })
    if (documented.length > 0) paths[documentedRoute(path)] = Object.fromEntries(documented)
  }
  const webhooks = webhookObjects(components, events)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Scrip',
      version,
      description: [DESCRIPTION, ...(additions ? [additions.introduction] : [])].join('\n\n'),
      contact: { name: 'The documentation of this server', url: `${publicUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: [...tags].map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: { ...ERROR_SCHEMAS, ...components.schemas },
      ...(Object.keys(sharedHeaders).length > 0 && { parameters: sharedHeaders }),
      headers: {
        ...headerObjects(REQUEST_ID_HEADER),
        ...headerObjects(RATE_LIMIT_HEADERS),
        ...headerObjects(REHEARSED_HEADERS),
      },
      securitySchemes: { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  }
}

const collectedFrom = async (app: AnyElysia): Promise<Paths<Collected>> => {
  // Loaded with the first request for the document: it would take a fifth of the time that the program takes to start.
  const { swagger } = await import('@elysiajs/swagger')
  // The plugin serves what it collects: it does so around the app, where no client can reach it.
  const collector = new Elysia().use(app).use(swagger({ specPath: COLLECTED_PATH, excludeStaticFile: false }))
  const request = new Request(`http://localhost${COLLECTED_PATH}`)
  ownRequests.add(request)
  const response = await collector.handle(request)
  const { paths } = (await response.json()) as { paths: Paths<Collected> }
  return paths
}

/** What the parts of a document have in common. */
interface Context {
  components: Components
  collected: Collected
  /** References to headers that operations share. */
  headers: Reference[]
  errors: Record<string, Failure>
}

const operationObject = (context: Context, operation: Operation): DocumentedOperation => {
  const { id, body, description } = operation
  const { components, headers, collected, errors } = context
  const { operationId, tags, summary, security } = collected
  return {
    operationId,
    tags,
    summary,
    description,
    security,
    parameters: [
      ...parameters('path', operation.params),
      ...parameters('query', operation.query),
      ...parameters('header', operation.headers).map((parameter) => withExampleOf(id, parameter)),
      ...headers,
    ],
    ...(body && {
      requestBody: {
        required: !operation.bodyOptional,
        content: {
          'application/json': {
            schema: components.place(body, { isRequest: true, isClosed: operation.closed === true }),
            example: operation.bodyExample,
          },
        },
      },
    }),
    responses: {
      ...successResponse(components, operation, operation.success),
      ...(operation.alternative && successResponse(components, operation, operation.alternative)),
      ...errorResponses(operation, errors),
    },
  }
}

const parameters = (place: 'path' | 'query' | 'header', schema: TObject | undefined): Parameter[] =>
  Object.entries(schema?.properties ?? {}).map(([name, { description, example, read: _, ...rest }]) => {
    const own = schemaOf(rest as TSchema)
    return {
      name,
      in: place,
      required: rest.default === undefined && (schema?.required?.includes(name) ?? false),
      description,
      // Every numbered record begins with 1.
      example: example ?? own.default ?? own.enum?.[0] ?? (own.type === 'integer' ? 1 : undefined),
      schema: own,
    }
  })

/** A key is for one request: each operation shows one of its own. */
const withExampleOf = (id: string, parameter: Parameter): Parameter =>
  parameter.name === 'Idempotency-Key' ? { ...parameter, example: `${id}-2026-01-0001` } : parameter

/** Adds headers to those that operations share, and refers to them: `X-Sandbox-Fault` becomes `SandboxFault`. */
const sharedIn = (shared: Record<string, Parameter>, headers: TObject | undefined): Reference[] =>
  parameters('header', headers).map((header) => {
    const name = header.name.replace(/^X-|-/g, '')
    shared[name] = header
    return { $ref: `#/components/parameters/${name}` }
  })

type Responses = DocumentedOperation['responses']

const successResponse = (
  components: Components,
  operation: Operation,
  success: NonNullable<Operation['alternative']>,
): Responses => {
  const { status, description, schema, example, headers, contentType = 'application/json', alsoAs = {} } = success
  return {
    [status]: {
      description,
      headers: { ...headerObjects(headers), ...commonHeaders(operation, status) },
      ...(schema && {
        content: Object.fromEntries(
          Object.entries({ [contentType]: { schema, example }, ...alsoAs }).map(([type, { schema, example }]) => [
            type,
            { schema: components.place(schema), example },
          ]),
        ),
      }),
    },
  }
}
