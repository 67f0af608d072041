import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { DomainError, type Failure } from '../kernel/failure.ts'
import { Json } from './json.ts'

/** Dry runs (contract C19): a request with `X-Dry-Run: true` gets its response and changes nothing. */

const NAME = 'X-Dry-Run'

/** The part of an operation that matters to dry runs. */
interface DryRunnable {
  once?: true | undefined
}

export const DRY_RUN_HEADERS = Type.Object({
  [NAME]: Type.Optional(
    Type.Boolean({
      description: 'Makes a dry run of the request if true: it gets the same response, and nothing is written',
      default: false,
    }),
  ),
})
export const DRY_RUN_RESPONSE_HEADERS = Type.Object({
  [NAME]: Type.Optional(Type.Literal('true', { description: 'Set if this is the response of a dry run' })),
})

const dryRunRefusal = (code: Failure['code'], message: string): Failure => ({
  code,
  kind: 'VALIDATION_FAILURE',
  message,
})

const MALFORMED = dryRunRefusal('dry_run_malformed', 'X-Dry-Run must be true or false.')
/** A key is refused: a replayed dry run would not show the present result, and a stored one would leave something behind. */
const WITH_KEY = dryRunRefusal('dry_run_with_key', 'X-Dry-Run cannot be combined with Idempotency-Key.')

/** An invalid header: such a request is not a dry run. */
export const isOfHeader = ({ code }: Failure): boolean => code === MALFORMED.code || code === WITH_KEY.code

export const dryRunErrors = ({ once }: DryRunnable): Record<string, Failure> => ({
  dry_run_malformed: MALFORMED,
  ...(once && { dry_run_with_key: WITH_KEY }),
})

/** True if a method and a path belong to an operation that has a dry run. Reads write nothing anyway. */
export const hasDryRun = (method: string, path: string): boolean => method !== 'GET' && path.startsWith('/api/v1/')

export interface DryRun {
  isDryRun: boolean
  refusal?: DomainError
}

export const NO_DRY_RUN: DryRun = { isDryRun: false }

/**
 * Reads the header and marks the response. An invalid header is refused later, in its turn: after the features of the
 * client (contract C4).
 */
export const readDryRun = (
  { headers: sent }: Request,
  { once }: DryRunnable,
  headers: Record<string, string>,
): DryRun => {
  const value = sent.get(NAME)
  if (value === null || value === 'false') return NO_DRY_RUN
  headers[NAME] = 'true'
  if (value !== 'true') return { isDryRun: true, refusal: new DomainError(MALFORMED) }
  if (once && sent.has('idempotency-key')) return { isDryRun: true, refusal: new DomainError(WITH_KEY) }
  return { isDryRun: true }
}

export const isOfDryRun = (headers: Headers | Readonly<Record<string, unknown>>): boolean =>
  (headers instanceof Headers ? headers.get(NAME) : headers[NAME]) === 'true'

const IN_DRY_RUN = Symbol('dry run')

/** A member with a secret. A dry run shows another value instead, or null without one. */
export const secretMember = <Schema extends TSchema>(schema: Schema, dryRun: string | null): Schema => ({
  ...schema,
  [IN_DRY_RUN]: dryRun,
})

/** The response of a dry run, without secrets, and without the Location of a 201: that record does not exist. */
export const dryRunResponse = (
  result: unknown,
  schema: TSchema | undefined,
  headers: Record<string, unknown>,
): unknown => {
  delete headers.Location
  if (!schema || result === undefined) return result
  if (!(result instanceof Json)) return withoutSecrets(schema, result)
  return new Json(JSON.stringify(withoutSecrets(schema, JSON.parse(result.text))), result.status)
}

const withoutSecrets = (schema: TSchema, value: unknown): unknown => {
  if (IN_DRY_RUN in schema) return value === null ? null : schema[IN_DRY_RUN]
  if (Array.isArray(value)) return schema.items ? value.map((item) => withoutSecrets(schema.items, item)) : value
  if (typeof value !== 'object' || value === null || !schema.properties) return value
  const { properties } = schema as TObject
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const memberSchema = properties[name]
      return [name, memberSchema ? withoutSecrets(memberSchema, member) : member]
    }),
  )
}
