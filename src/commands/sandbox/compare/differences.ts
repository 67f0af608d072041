import type { TSchema } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { visible } from '../../../kernel/visible.ts'
import type { Reply } from '../http-client.ts'

/** The differences between two responses to one request. Values do not count (contract C15). */
export interface Difference {
  /** `status`, `header X-Page`, or a member of the body: `[].available_denominations[].discount`. */
  field: string
  /** The value in the response of Scrip. */
  expected: string
  found: string
}

/** Headers of a connection, which are not compared. */
const OF_CONNECTION = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'content-encoding',
  'transfer-encoding',
])

const MISSING = 'missing'

/** Only the shape of a value is checked: a whole number, true or false, or text. */
export const headerDifferences = (expected: Headers, found: Headers): Difference[] =>
  [...expected].flatMap(([name, value]) => {
    if (OF_CONNECTION.has(name)) return []
    const [scrips, hosts] = [shapeOf(name, value), shapeOf(name, found.get(name))]
    return scrips === hosts ? [] : [{ field: `header ${name}`, expected: scrips, found: hosts }]
  })

const shapeOf = (name: string, value: string | null): string => {
  if (value === null) return MISSING
  if (name === 'content-type') return visible(value.split(';')[0]?.trim().toLowerCase() ?? '')
  if (/^\d+$/.test(value)) return 'whole number'
  return value === 'true' || value === 'false' ? 'true or false' : 'text'
}

/** The places where a body breaks a schema. Unknown members are differences, too. */
export const schemaDifferences = (schema: TSchema, { body }: Reply): Difference[] =>
  distinct([...Value.Errors(closed(schema), body)].map(differenceIn))

/** If a field breaks several rules, the first one matters most. */
const distinct = (differences: readonly Difference[]): Difference[] =>
  [...new Map(differences.toReversed().map((difference) => [difference.field, difference])).values()].toReversed()

const closed = (schema: TSchema): TSchema => ({
  ...schema,
  ...(schema.items && { items: closed(schema.items) }),
  ...(schema.anyOf && { anyOf: schema.anyOf.map(closed) }),
  ...(schema.properties && {
    additionalProperties: schema.additionalProperties ?? false,
    properties: Object.fromEntries(
      Object.entries<TSchema>(schema.properties).map(([name, member]) => [name, closed(member)]),
    ),
  }),
})

const differenceIn = ({ type, path, schema, value }: ValueError): Difference =>
  type === ValueErrorType.ObjectAdditionalProperties
    ? { field: fieldOf(path), expected: MISSING, found: typeOf(value) }
    : { field: fieldOf(path), expected: wordsOf(schema), found: isChoice(schema) ? shown(value) : typeOf(value) }

/** `/0/discount` is `[].discount`: every item of a list has the same schema. */
const fieldOf = (path: string): string =>
  path
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? '[]' : `.${step.replaceAll('~1', '/').replaceAll('~0', '~')}`))
    .join('')
    .replace(/^\./, '') || 'body'

const wordsOf = ({ anyOf, const: only, format, type }: TSchema): string => {
  if (anyOf) return anyOf.map(wordsOf).join(' or ')
  if (only !== undefined) return shown(only)
  return format === undefined ? String(type) : `${type} (${format})`
}

/** The only values that are shown: others may be secrets. */
const isChoice = ({ anyOf, const: only }: TSchema): boolean => only !== undefined || anyOf?.some(isChoice) === true

const shown = (value: unknown): string => (value === undefined ? MISSING : visible(JSON.stringify(value)))

const typeOf = (value: unknown): string => {
  if (value === undefined) return MISSING
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The differences between two error bodies: their texts are part of the API, except for the values in them. */
export const errorDifferences = (expected: unknown, found: unknown, values?: RegExp): Difference[] =>
  partsOf(expected, found, '').filter(
    (part) => !values || part.expected.replace(values, '#') !== part.found.replace(values, '#'),
  )

const partsOf = (expected: unknown, found: unknown, field: string): Difference[] => {
  if (isNested(expected) && isNested(found) && Array.isArray(expected) === Array.isArray(found)) {
    return [...new Set([...Object.keys(expected), ...Object.keys(found)])].flatMap((name) =>
      partsOf(expected[name], found[name], field === '' ? name : `${field}.${name}`),
    )
  }
  if (expected === found) return []
  return [{ field: field || 'body', expected: textOf(expected), found: textOf(found) }]
}

const isNested = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const textOf = (value: unknown): string => (typeof value === 'string' ? visible(JSON.stringify(value)) : typeOf(value))
