/** The parts of an OpenAPI document that the reference shows. */

export interface Schema {
  $ref?: string
  title?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  pattern?: string
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string | undefined
  example?: unknown
  schema: Schema
}

export interface Content {
  schema: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

export type Header = Pick<Parameter, 'description' | 'required' | 'schema'>

export interface DocumentedResponse {
  description: string
  headers?: Record<string, Header>
  content?: Record<string, Content>
}

export interface DocumentedOperation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: object[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Content> }
  responses: Record<string, DocumentedResponse>
}

export interface ApiDocument {
  openapi: string
  info: { title: string; version: string; description: string; contact: object; license: object }
  servers: [{ url: string }]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  webhooks: Record<string, { post: DocumentedOperation }>
  components: {
    schemas: Record<string, Schema>
    securitySchemes: object
  }
}

/** An operation where it is served. */
export interface Entry {
  method: string
  path: string
  operation: DocumentedOperation
}

export const entriesOf = ({ paths }: ApiDocument): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

const lastPart = (reference: string): string => reference.split('/').at(-1) ?? ''

/** The schema that a reference names. The description beside a reference belongs to the member, and comes first. */
export const resolved = ({ components }: ApiDocument, { $ref, ...beside }: Schema): Schema =>
  $ref === undefined ? beside : { ...components.schemas[lastPart($ref)], ...beside }

export const schemaName = ({ $ref }: Schema): string | undefined => ($ref === undefined ? undefined : lastPart($ref))

export const successOf = ({
  responses,
}: DocumentedOperation): [status: string, response: DocumentedResponse] | undefined =>
  Object.entries(responses).find(([status]) => /^[123]/.test(status))

export interface DocumentedError {
  name: string
  status: string
  body: unknown
}

export const errorsIn = ({ responses }: DocumentedOperation): DocumentedError[] =>
  Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.values(content).flatMap(({ examples = {} }) =>
      Object.entries(examples).map(([name, { value }]) => ({ name, status, body: value })),
    ),
  )

/** The values of parameters with which a request can be sent: the examples of those that it needs. */
export const exampleValues = ({ operation: { parameters } }: Entry): Record<string, string> =>
  Object.fromEntries(
    parameters
      .filter(({ in: place, required }) => required && place !== 'header')
      .map(({ name, example }) => [name, String(example ?? '')]),
  )

/** The path and the query of a request with the values of its parameters, of which empty ones are left out of the query. */
export const targetOf = ({ path, operation: { parameters } }: Entry, values: Record<string, string>): string => {
  const query = new URLSearchParams()
  for (const { name, in: place } of parameters) if (place === 'query' && values[name]) query.set(name, values[name])
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  return filled + (query.size > 0 ? `?${query}` : '')
}

/** The example of a request's body; undefined without a body. */
export const bodyExampleOf = ({ requestBody }: DocumentedOperation): unknown =>
  requestBody?.content['application/json']?.example
