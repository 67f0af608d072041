import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { DomainError, type Failure } from '../kernel/failure.ts'
import { Json } from './json.ts'

/** Rehearsals (contract C19): a request with `X-Dry-Run: true` gets its response, and leaves nothing behind. */

const NAME = 'X-Dry-Run'

/** An operation, as far as rehearsals differ: whether it takes an Idempotency-Key. */
interface Rehearsable {
  once?: true | undefined
}

export const REHEARSAL_HEADERS = Type.Object({
  [NAME]: Type.Optional(
    Type.Boolean({
      description: 'Rehearses the request if true: the response is what it would be, and nothing is written',
      default: false,
    }),
  ),
})
export const REHEARSED_HEADERS = Type.Object({
  [NAME]: Type.Optional(Type.Literal('true', { description: 'Set if this is the response of a rehearsal' })),
})

const rehearsalRefusal = (code: Failure['code'], message: string): Failure => ({
  code,
  kind: 'VALIDATION_FAILURE',
  message,
})

const MALFORMED = rehearsalRefusal('dry_run_malformed', 'X-Dry-Run must be true or false.')
/** A replayed rehearsal would not say what happens now, and a stored one would stay. */
const WITH_KEY = rehearsalRefusal('dry_run_with_key', 'X-Dry-Run cannot be combined with Idempotency-Key.')

/** An invalid header: such a request is not a rehearsal. */
export const isOfHeader = ({ code }: Failure): boolean => code === MALFORMED.code || code === WITH_KEY.code

/** The errors of an operation that can be rehearsed. */
export const rehearsalErrors = ({ once }: Rehearsable): Record<string, Failure> => ({
  dry_run_malformed: MALFORMED,
  ...(once && { dry_run_with_key: WITH_KEY }),
})

/** Whether a method and a path belong to an operation that can be rehearsed. Reads write nothing anyway. */
export const canRehearse = (method: string, path: string): boolean => method !== 'GET' && path.startsWith('/api/v1/')

/**
 * Reads the header and marks the response. An invalid header is refused later, in its turn: after the features of the
 * client (contract C4).
 */
export const readRehearsal = (
  { headers: sent }: Request,
  { once }: Rehearsable,
  headers: Record<string, string | number>,
): { isRehearsal: boolean; refusal?: DomainError } => {
  const value = sent.get(NAME)
  if (value === null || value === 'false') return { isRehearsal: false }
  headers[NAME] = 'true'
  if (value !== 'true') return { isRehearsal: true, refusal: new DomainError(MALFORMED) }
  if (once && sent.has('idempotency-key')) return { isRehearsal: true, refusal: new DomainError(WITH_KEY) }
  return { isRehearsal: true }
}

/** Whether these are the headers of a response to a rehearsal. */
export const isRehearsed = (headers: Headers | Readonly<Record<string, unknown>>): boolean =>
  (headers instanceof Headers ? headers.get(NAME) : headers[NAME]) === 'true'

const REHEARSED = Symbol('rehearsed')

/** A member that holds a secret: rehearsals show another value in its place, and null where there is none. */
export const secretMember = <Schema extends TSchema>(schema: Schema, rehearsed: string | null): Schema => ({
  ...schema,
  [REHEARSED]: rehearsed,
})

/** The response of a rehearsal, without secrets. The record that a 201 would name does not exist. */
export const rehearsed = (result: unknown, schema: TSchema | undefined, headers: Record<string, unknown>): unknown => {
  delete headers.Location
  if (!schema || result === undefined) return result
  if (!(result instanceof Json)) return withoutSecrets(schema, result)
  return new Json(JSON.stringify(withoutSecrets(schema, JSON.parse(result.text))), result.status)
}

const withoutSecrets = (schema: TSchema, value: unknown): unknown => {
  if (REHEARSED in schema) return value === null ? null : schema[REHEARSED]
  if (Array.isArray(value)) return schema.items ? value.map((item) => withoutSecrets(schema.items, item)) : value
  if (typeof value !== 'object' || value === null || !schema.properties) return value
  const { properties } = schema as TObject
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const own = properties[name]
      return [name, own ? withoutSecrets(own, member) : member]
    }),
  )
}
