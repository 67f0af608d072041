import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { DRY_RUN_RESPONSE_HEADERS } from '../http/dry-run.ts'
import type { Operation } from '../http/operation.ts'
import type { Header, Parameter } from './document.ts'
import { Components } from './schemas.ts'

/** Parameters, and the headers of responses. */

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
/** The headers of every response; a client that is not let in has no limit. */
export const commonHeaders = (operation: Operation, status: number): Record<string, Header> => {
  const limited = !operation.public && status !== 401
  const dryRun = operation.hasDryRun && status !== 401 && status !== 429
  return {
    ...headerObjects(REQUEST_ID_HEADER),
    ...(limited && headerObjects(RATE_LIMIT_HEADERS)),
    ...(dryRun && headerObjects(DRY_RUN_RESPONSE_HEADERS)),
  }
}

export const headerObjects = (headers: TObject | undefined): Record<string, Header> =>
  Object.fromEntries(
    parametersOf('header', headers).map(({ name, description, required, schema }) => [
      name,
      { description, required, schema },
    ]),
  )

/** The members of a schema as parameters, with examples that a new sandbox accepts. */
export const parametersOf = (place: Parameter['in'], schema: TObject | undefined): Parameter[] =>
  Object.entries(schema?.properties ?? {}).map(([name, { description, example, read: _, failure: __, ...rest }]) => {
    const plain = new Components().place(rest as TSchema)
    return {
      name,
      in: place,
      required: rest.default === undefined && (schema?.required?.includes(name) ?? false),
      description,
      // Every numbered record begins with 1.
      example: example ?? plain.default ?? plain.enum?.[0] ?? (plain.type === 'integer' ? 1 : undefined),
      schema: plain,
    }
  })
