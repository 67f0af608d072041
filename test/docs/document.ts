import type { Server } from '../harness.ts'

/** What the tests read of an OpenAPI document. */

export type Schema = Record<string, unknown>

export interface DocumentedResponse {
  description: string
  headers: Record<string, { required: boolean; schema: Schema }>
  content?: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>
}

export interface DocumentedOperation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: unknown[]
  parameters: { name: string; in: 'path' | 'query' | 'header'; schema: Schema; example?: unknown }[]
  requestBody?: { content: Record<string, { schema: Schema; example: unknown }> }
  responses: Record<string, DocumentedResponse>
}

export interface OpenApi {
  info: { version: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
}

/** An operation with where it is served. */
export interface Served extends DocumentedOperation {
  method: string
  path: string
}

/** The document with every reference put in its place. */
export const readDocument = async (server: Server): Promise<OpenApi> => {
  const document = (await (await server.request('/openapi.json')).json()) as object
  return resolved(document, document) as OpenApi
}

const resolved = (value: unknown, document: object): unknown => {
  if (Array.isArray(value)) return value.map((item) => resolved(item, document))
  if (typeof value !== 'object' || value === null) return value
  if ('$ref' in value) return resolved(targetOf(String(value.$ref), document), document)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolved(member, document)]))
}

const targetOf = (reference: string, document: object): unknown =>
  reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], document)

export const operationsOf = ({ paths }: OpenApi): Served[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )

export const isPublic = ({ security }: DocumentedOperation): boolean => security.length === 0

/** The refusals of an operation by their stable names, each with the status and the body that it leaves with. */
export const refusalsIn = ({ responses }: DocumentedOperation): { name: string; status: number; body: unknown }[] =>
  Object.entries(responses).flatMap(([status, { content }]) =>
    Object.entries(content?.['application/json']?.examples ?? {}).map(([name, { value }]) => ({
      name,
      status: Number(status),
      body: value,
    })),
  )

/** Those that coverage counts and faults bring about: not what a wrong X-Sandbox-Fault gets, or the strictness of probes. */
export const outcomesIn = (operation: DocumentedOperation) =>
  refusalsIn(operation).filter(({ name }) => name !== 'fault_unknown' && name !== 'parameter_unknown')

/** The one response of an operation that is no refusal. */
export const successOf = ({ responses }: DocumentedOperation): { status: number; response: DocumentedResponse } => {
  const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? []
  if (!status || !response) throw new Error('an operation without success')
  return { status: Number(status), response }
}
