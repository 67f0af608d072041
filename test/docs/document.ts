import {
  type ApiDocument,
  type DocumentedOperation,
  type DocumentedResponse,
  entriesOf,
  errorsIn,
} from '../../src/docs/document.ts'
import type { Server } from '../harness.ts'

/** An operation with its method and path. */
export interface Served extends DocumentedOperation {
  method: string
  path: string
}

/** The document with every reference resolved. */
export const readDocument = async (server: Server): Promise<ApiDocument> => {
  const document = (await (await server.request('/openapi.json')).json()) as object
  return resolved(document, document) as ApiDocument
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

export const operationsOf = (document: ApiDocument): Served[] =>
  entriesOf(document).map(({ operation, ...where }) => ({ ...operation, ...where }))

export const isPublic = ({ security }: DocumentedOperation): boolean => security.length === 0

/** The refusals of an operation by their stable names, each with its status and its body. */
export const refusalsIn = (operation: DocumentedOperation): { name: string; status: number; body: unknown }[] =>
  errorsIn(operation).map((error) => ({ ...error, status: Number(error.status) }))

/** The errors that coverage counts and faults inject, without the responses to a wrong X-Sandbox-Fault and to strict probes. */
export const outcomesIn = (operation: DocumentedOperation) =>
  refusalsIn(operation).filter(({ name }) => name !== 'fault_unknown' && name !== 'parameter_unknown')

/** The response of an operation that is not a refusal. */
export const successOf = ({ responses }: DocumentedOperation): { status: number; response: DocumentedResponse } => {
  const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? []
  if (!status || !response) throw new Error('an operation without success')
  return { status: Number(status), response }
}
