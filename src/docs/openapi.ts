import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { type AnyElysia, Elysia } from 'elysia'
import { type RenderedError, renderFailure } from '../http/errors.ts'
import { errorsOf, type Operation, servedBy, TAGS } from '../http/operation.ts'
import { ownRequests } from '../http/request-timer.ts'
import { documentedRoute } from '../http/target.ts'
import { Components, type Json } from './schemas.ts'

/**
 * The OpenAPI document: collected from the routes by the plugin, then completed from the operation that each route
 * carries, so that what is documented is what is served.
 */

interface CollectedDocument extends Json {
  paths: Record<string, Record<string, Json>>
}

const COLLECTED_PATH = '/openapi/collected'

const REQUEST_ID_HEADER = Type.Object({
  'X-Request-Id': Type.String({ description: 'Identifies the request: the one that was sent, or a new one' }),
})
/** Absent when limits are lifted. */
const RATE_LIMIT_HEADERS = Type.Object({
  'X-RateLimit-Limit': Type.Optional(
    Type.Integer({ minimum: 1, description: 'Requests that the tighter bucket holds' }),
  ),
  'X-RateLimit-Remaining': Type.Optional(Type.Integer({ minimum: 0, description: 'Requests left in it' })),
  'X-RateLimit-Reset': Type.Optional(
    Type.Integer({ minimum: 0, description: 'Unix time in seconds at which it is full again' }),
  ),
})
const CONDITION = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({ description: 'The ETag of an earlier answer: 304 while it is the same' }),
  ),
})
const VALIDATORS = Type.Object({
  ETag: Type.String({ description: 'Stands for what is answered, in every encoding' }),
  'Cache-Control': Type.String({ description: 'Only the client may keep it, and has to ask again' }),
  Vary: Type.String(),
})
const STORED_HEADERS = Type.Object({
  ...VALIDATORS.properties,
  'Content-Encoding': Type.Optional(Type.String({ description: 'zstd or gzip, if Accept-Encoding allows it' })),
})
/** The headers that errors bring along. */
const ERROR_HEADERS: Record<string, TSchema> = {
  'WWW-Authenticate': Type.String({ description: 'The scheme, and what was wrong' }),
  'Retry-After': Type.Integer({ minimum: 1, description: 'Seconds to wait' }),
}

const DESCRIPTION = `Gift cards and payouts for businesses, over HTTP and JSON.

Log in with \`POST /auth/login\`, then send \`Authorization: Bearer <access_token>\`. In the sandbox the username \`sandbox\`
with the password \`sandbox\` always works; any username \`sbx_<name>\` makes a world of its own.

Every request may carry an \`X-Request-Id\`; every answer does. Amounts are numbers in major units, times RFC 3339 in UTC.`

export interface DocumentOptions {
  app: AnyElysia
  version: string
  publicUrl: string
  /** Request headers that an operation takes besides its own. */
  headersOf: (operation: Operation) => TObject | undefined
}

/** The document of an app. */
export const openApiDocument = async ({ app, version, publicUrl, headersOf }: DocumentOptions): Promise<Json> => {
  // Loaded when the document is asked for: it would take a fifth of the time that the program takes to start.
  const { swagger } = await import('@elysiajs/swagger')
  // The plugin serves what it collects: it does so around the app, where no client can ask for it.
  const collector = new Elysia().use(app).use(swagger({ specPath: COLLECTED_PATH, excludeStaticFile: false }))
  const request = new Request(`http://localhost${COLLECTED_PATH}`)
  ownRequests.add(request)
  const response = await collector.handle(request)
  const collected = (await response.json()) as CollectedDocument
  const operations = new Map(servedBy(app).map(({ method, route, operation }) => [`${method} ${route}`, operation]))
  const components = new Components()
  const paths: Json = {}
  const sharedHeaders: Json = {}
  const tags = new Set<string>()
  for (const [path, methods] of Object.entries(collected.paths)) {
    const route = documentedRoute(path)
    const pattern = route.replace(/\{(\w+)\}/g, ':$1')
    const documented = Object.keys(methods).flatMap((method) => {
      const operation = operations.get(`${method.toUpperCase()} ${pattern}`)
      if (!operation) return []
      tags.add(operation.tag)
      return [
        [method, operationObject({ components, headers: sharedIn(sharedHeaders, headersOf(operation)) }, operation)],
      ]
    })
    if (documented.length > 0) paths[route] = Object.fromEntries(documented)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Scrip',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    // Live mode serves nothing of the sandbox, and so tells nothing of it.
    tags: Object.entries(TAGS).flatMap(([name, description]) => (tags.has(name) ? [{ name, description }] : [])),
    paths,
    components: {
      schemas: { ...ERROR_SCHEMAS, ...components.schemas },
      ...(Object.keys(sharedHeaders).length > 0 && { parameters: sharedHeaders }),
      headers: { ...headerObjects(REQUEST_ID_HEADER), ...headerObjects(RATE_LIMIT_HEADERS) },
      securitySchemes: { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  }
}

/** What the parts of a document have in common. */
interface Context {
  components: Components
  /** References to headers that operations share. */
  headers: Json[]
}

const operationObject = (context: Context, operation: Operation): Json => {
  const { id, tag, summary, description, body } = operation
  const { components, headers } = context
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: operation.public ? [] : [{ accessToken: [] }],
    parameters: [
      ...parameters('path', operation.params),
      ...parameters('query', operation.query),
      ...parameters('header', operation.headers).map((parameter) => withExampleOf(id, parameter)),
      ...(operation.stored ? parameters('header', CONDITION) : []),
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
      ...answer(components, operation, operation.success),
      ...(operation.stored && unchanged(operation)),
      ...(operation.alternative && answer(components, operation, operation.alternative)),
      ...errorResponses(operation),
    },
  }
}

const parameters = (place: 'path' | 'query' | 'header', schema: TObject | undefined): Json[] =>
  Object.entries(schema?.properties ?? {}).map(([name, { description, example, read: _, ...rest }]) => ({
    name,
    in: place,
    required: rest.default === undefined && (schema?.required?.includes(name) ?? false),
    description,
    // Every numbered record begins with 1: what the reference page asks for unless told otherwise.
    ...(place === 'path' && { example: rest.type === 'integer' ? 1 : example }),
    schema: schemaOf(rest as TSchema),
  }))

/** A key is for one request: each operation shows one of its own. */
const withExampleOf = (id: string, parameter: Json): Json =>
  parameter.name === 'Idempotency-Key' ? { ...parameter, example: `${id}-2026-01-0001` } : parameter

/** Adds headers to those that operations share, and refers to them: `X-Sandbox-Fault` becomes `SandboxFault`. */
const sharedIn = (shared: Json, headers: TObject | undefined): Json[] =>
  parameters('header', headers).map((header) => {
    const name = String(header.name).replace(/^X-|-/g, '')
    shared[name] = header
    return { $ref: `#/components/parameters/${name}` }
  })

/** The schema of a parameter or a header, which is no object. */
const schemaOf = (schema: TSchema): Json => new Components().place(schema)

const answer = (components: Components, operation: Operation, success: NonNullable<Operation['alternative']>): Json => {
  const { status, description, schema, example, headers, contentType = 'application/json', alsoAs = {} } = success
  return {
    [status]: {
      description,
      headers: {
        ...headerObjects(headers),
        ...(operation.stored && headerObjects(STORED_HEADERS)),
        ...commonHeaders(operation, status),
      },
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

const unchanged = (operation: Operation): Json => ({
  304: {
    description: 'What the entity tag stands for has not changed',
    headers: { ...headerObjects(VALIDATORS), ...commonHeaders(operation, 304) },
  },
})

const errorResponses = (operation: Operation): Json => {
  const byStatus = new Map<
    number,
    { headers: Record<string, TSchema>; examples: Json; bodies: RenderedError['body'][] }
  >()
  for (const [name, failure] of Object.entries(errorsOf(operation))) {
    const { status, headers, body } = renderFailure(failure, operation)
    const known = byStatus.get(status) ?? { headers: {}, examples: {}, bodies: [] }
    for (const name of Object.keys(headers)) {
      const schema = ERROR_HEADERS[name]
      if (schema) known.headers[name] = schema
    }
    known.examples[name] = { value: body }
    known.bodies.push(body)
    byStatus.set(status, known)
  }
  return Object.fromEntries(
    [...byStatus].map(([status, { headers, examples, bodies }]) => [
      status,
      {
        description: STATUS_DESCRIPTIONS[status] ?? 'Error',
        headers: { ...headerObjects(Type.Object(headers)), ...commonHeaders(operation, status) },
        content: { 'application/json': { schema: errorSchema(bodies), examples } },
      },
    ]),
  )
}

const STATUS_DESCRIPTIONS: Record<number, string> = {
  400: 'Invalid request',
  401: 'Missing or invalid authentication',
  403: 'Insufficient permissions',
  404: 'Not found',
  429: 'Rate limit exceeded',
  500: 'Server error',
  503: 'Try again later',
}

const Text = { type: 'string' }
const object = (properties: Record<string, Json>, required = Object.keys(properties)): Json => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
})
const named = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** The shapes of spec section 7, by the names that generated clients will know them by. */
const ERROR_SCHEMAS = {
  StructuredError: object({ error: named('StructuredErrorDetail') }),
  StructuredErrorDetail: object({ name: Text, code: Text, message: Text, messages: named('Violations') }, [
    'name',
    'code',
    'message',
  ]),
  Violations: { type: 'object', additionalProperties: { type: 'array', items: named('Violation') } },
  Violation: object({ rule: Text, field: Text, message: Text }),
  FlatError: object({ error: Text, message: Text }),
  ChargesError: object({ error: { anyOf: [Text, named('ChargesErrorDetail')] } }),
  ChargesErrorDetail: object({ message: Text, details: Text }),
}

/** The schema of the shapes that really occur among these bodies. */
const errorSchema = (bodies: readonly RenderedError['body'][]): Json => {
  const names = new Set<'FlatError' | 'StructuredError' | 'ChargesError'>()
  for (const body of bodies) {
    names.add('message' in body ? 'FlatError' : isStructured(body.error) ? 'StructuredError' : 'ChargesError')
  }
  const [first, ...others] = [...names].map(named)
  return others.length === 0 ? { ...first } : { anyOf: [first, ...others] }
}

const isStructured = (error: unknown): boolean => typeof error === 'object' && error !== null && 'code' in error

/** What every answer of an operation carries; who was not let in has no limit. */
const commonHeaders = (operation: Operation, status: number): Json => {
  const limited = !operation.public && status !== 401
  const names = Object.keys({ ...REQUEST_ID_HEADER.properties, ...(limited && RATE_LIMIT_HEADERS.properties) })
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const headerObjects = (headers: TObject | undefined): Json =>
  Object.fromEntries(
    Object.entries(headers?.properties ?? {}).map(([name, { description, ...rest }]) => [
      name,
      {
        ...(description && { description }),
        required: headers?.required?.includes(name) ?? false,
        schema: schemaOf(rest as TSchema),
      },
    ]),
  )
