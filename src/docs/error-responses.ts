import { type TSchema, Type } from '@sinclair/typebox'
import { type RenderedError, renderFailure } from '../http/errors.ts'
import { errorsOf, type Operation } from '../http/operation.ts'
import { commonHeaders, headerObjects } from './headers.ts'
import type { Json } from './schemas.ts'

/** The headers that errors bring along. */
const ERROR_HEADERS: Record<string, TSchema> = {
  'WWW-Authenticate': Type.String({ description: 'The scheme, and what was wrong' }),
  'Retry-After': Type.Integer({ minimum: 1, description: 'Seconds to wait' }),
}

export const errorResponses = (operation: Operation): Json => {
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
