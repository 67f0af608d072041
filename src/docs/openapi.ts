import type { TObject } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { DRY_RUN_HEADERS } from '../http/dry-run.ts'
import { errorsOf, LAST_TAG, type Operation, type ServedOperation, servedBy } from '../http/operation.ts'
import type { Failure } from '../kernel/failure.ts'
import type { Picture } from '../pages/drawing.ts'
import type { ApiDocument, DocumentedOperation, Parameter } from './document.ts'
import { ERROR_SCHEMAS, errorResponses } from './error-responses.ts'
import { commonHeaders, headerObjects, parametersOf } from './headers.ts'
import { Components } from './schemas.ts'
import { type DeliveredEvent, webhookObjects } from './webhooks.ts'

/** The OpenAPI document, made from the operations of an app's routes, so that it documents exactly the served operations. */

const DESCRIPTION = `Gift cards and payouts for businesses, over HTTP and JSON.

Log in with \`POST /auth/login\`, then send \`Authorization: Bearer <access_token>\`.

Every response has an \`X-Request-Id\`; a request may set it. Amounts are numbers in major units. Times are RFC 3339 in UTC.`

/** The documentation that an extension adds to the operations. */
export interface Additions {
  /** A paragraph of the introduction. */
  introduction: string
  /** The address of the page on which readers send requests. */
  console: string
  /** Further pictures, as those of the reference. */
  pictures: Readonly<Record<string, Picture>>
  /** Further request headers of an operation. */
  headersOf: (served: ServedOperation) => TObject | undefined
  /** Further errors of an operation, by their names. */
  errorsOf: (served: ServedOperation) => Record<string, Failure>
  /** Other descriptions of some operations, by their ids. */
  operations: Readonly<Record<string, Partial<Pick<Operation, 'description' | 'bodyExample' | 'response'>>>>
}

export interface DocumentOptions {
  app: AnyElysia
  version: string
  publicUrl: string
  /** The additions of an extension; undefined without one. */
  additions: Additions | undefined
  /** The bodies of deliveries, by type of event. */
  events: Readonly<Record<string, DeliveredEvent>>
}

/** The document that the plugin makes of the routes of the app, with what the operations of the routes say. */
export const openApiDocument = async (options: DocumentOptions): Promise<ApiDocument> => {
  const { app, additions, events } = options
  const document = await plainDocument(options)
  const components = new Components()
  const paths: ApiDocument['paths'] = {}
  const tags = new Map<string, string>()
  const isLast = ({ operation }: ServedOperation) => operation.tag === LAST_TAG
  const isListed = ({ method, route }: ServedOperation) => document.paths[pathOf(route)]?.[method.toLowerCase()]
  const listed = servedBy(app).filter(isListed)
  for (const served of listed.sort((a, b) => Number(isLast(a)) - Number(isLast(b)))) {
    const operation = { ...served.operation, ...additions?.operations[served.operation.id] }
    if (operation.tagDescription !== undefined) tags.set(operation.tag, operation.tagDescription)
    const headers = [
      ...parametersOf('header', operation.hasDryRun ? DRY_RUN_HEADERS : undefined),
      ...parametersOf('header', additions?.headersOf(served)),
    ]
    const errors = { ...errorsOf(operation), ...additions?.errorsOf(served) }
    const path = pathOf(served.route)
    paths[path] = {
      ...paths[path],
      [served.method.toLowerCase()]: operationObject({ components, headers, errors }, operation),
    }
  }
  const webhooks = webhookObjects(components, events)
  return {
    ...document,
    tags: [...tags].map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: { ...document.components, schemas: { ...ERROR_SCHEMAS, ...components.schemas } },
  }
}

const SPEC_PATH = '/openapi.json'

const pathOf = (route: string): string => route.replace(/:(\w+)/g, '{$1}')

/** The plugin's document of the app's routes. Its own page loads a script from outside (contract C1), so that it is not served. */
const plainDocument = async ({ app, version, publicUrl, additions }: DocumentOptions): Promise<ApiDocument> => {
  const documentation = {
    openapi: '3.1.0',
    info: {
      title: 'Scrip',
      version,
      description: [DESCRIPTION, ...(additions ? [additions.introduction] : [])].join('\n\n'),
      contact: { name: 'The documentation of this server', url: `${publicUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    components: { securitySchemes: { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
  } as const
  // Loaded with the first request for the document: it would take a part of the time that the program takes to start.
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({ documentation: documentation as never, specPath: SPEC_PATH, excludeStaticFile: false })
  Object.assign(plugin, { getGlobalRoutes: () => app.routes }) // as if the app used it, and did not serve its page
  return (await (await plugin.handle(new Request(`http://localhost${SPEC_PATH}`))).json()) as ApiDocument
}

/** Shared by the functions that make the parts of a document. */
interface Context {
  components: Components
  /** Headers of requests besides the operation's own. */
  headers: Parameter[]
  errors: Record<string, Failure>
}

const operationObject = (context: Context, operation: Operation): DocumentedOperation => {
  const { id, body, bodyAlsoAs, summary, description } = operation
  const { components, headers, errors } = context
  return {
    operationId: id,
    tags: [operation.tag],
    summary,
    description,
    security: operation.public ? [] : [{ accessToken: [] }],
    parameters: [
      ...parametersOf('path', operation.params),
      ...parametersOf('query', operation.query),
      ...parametersOf('header', operation.headers).map((parameter) => withExampleOf(id, parameter)),
      ...headers,
    ],
    ...(body && {
      requestBody: {
        required: !operation.bodyOptional,
        content: {
          'application/json': {
            schema: components.place(body, { isRequest: true, isClosed: operation.closed === true && !bodyAlsoAs }),
            example: operation.bodyExample,
          },
          ...bodyAlsoAs,
        },
      },
    }),
    responses: {
      ...successResponse(components, operation, operation.response),
      ...(operation.alternative && successResponse(components, operation, operation.alternative)),
      ...errorResponses(operation, errors),
    },
  }
}

/** A key belongs to one request, so each operation shows a different one. */
const withExampleOf = (id: string, parameter: Parameter): Parameter =>
  parameter.name === 'Idempotency-Key' ? { ...parameter, example: `${id}-2026-01-0001` } : parameter

type Responses = DocumentedOperation['responses']

const successResponse = (components: Components, operation: Operation, success: Operation['response']): Responses => {
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
