import { Type } from '@sinclair/typebox'
import { type ErrorShape, renderFailure, shapeOf } from '../http/errors.ts'
import type { Operation } from '../http/operation.ts'
import type { Failure } from '../kernel/failure.ts'
import type { DocumentedOperation, DocumentedResponse, Schema } from './document.ts'
import { commonHeaders, headerObjects } from './headers.ts'

/** The headers that errors bring along. */
const ERROR_HEADERS = Type.Object({
  'WWW-Authenticate': Type.String({ description: 'The scheme and the error' }),
  'Retry-After': Type.Integer({ minimum: 1, description: 'Seconds to wait' }),
})

export const errorResponses = (
  operation: Operation,
  failures: Record<string, Failure>,
): DocumentedOperation['responses'] => {
  const errors = Object.entries(failures).map(([name, failure]) => ({
    name,
    schema: SCHEMA_NAMES[shapeOf(failure, operation.errorShape)],
    ...renderFailure(failure, operation),
  }))
  const responses = [...Map.groupBy(errors, ({ status }) => status)].map(([status, alike]) => {
    const headers = Object.assign({}, ...alike.map((error) => error.headers))
    const [schema = {}, ...others] = [...new Set(alike.map((error) => error.schema))].map(named)
    const response: DocumentedResponse = {
      description: STATUS_DESCRIPTIONS[status] ?? 'Error',
      headers: {
        ...headerObjects(Type.Pick(ERROR_HEADERS, Object.keys(headers))),
        ...commonHeaders(operation, status),
      },
      content: {
        'application/json': {
          schema: others.length === 0 ? schema : { anyOf: [schema, ...others] },
          examples: Object.fromEntries(alike.map(({ name, body }) => [name, { value: body }])),
        },
      },
    }
    return [status, response]
  })
  return Object.fromEntries(responses)
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
const object = (properties: Record<string, Schema>, required = Object.keys(properties)): Schema => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
})
const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** The shapes of spec section 7, by the names that generated clients will know them by. */
export const ERROR_SCHEMAS = {
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

const SCHEMA_NAMES: Record<ErrorShape, keyof typeof ERROR_SCHEMAS> = {
  structured: 'StructuredError',
  flat: 'FlatError',
  charges: 'ChargesError',
}
