import type { TObject, TSchema } from '@sinclair/typebox'
import { readText } from '../../http/body.ts'
import { type JsonObject, parseObject } from '../../http/json.ts'
import type { Operation } from '../../http/operation.ts'
import type { Violation } from '../../kernel/failure.ts'

/** Refuses what an operation does not document, so that a mistyped name surfaces (decisions 13 and 15). */

const UNKNOWN_NAMED_MAX = 100

/** With `--strict`: the query parameters and the outermost members of the body. @throws DomainError body_unreadable */
export const unknownIn = async ({ query, body }: Operation, request: Request): Promise<Violation[]> => {
  const unknown = unknownAmong(parametersOf(request), Object.keys(query?.properties ?? {}), 'parameter')
  if (body) unknown.push(...unknownAmong(Object.keys(await objectIn(request)), Object.keys(body.properties), 'member'))
  return unknown.slice(0, UNKNOWN_NAMED_MAX)
}

/** On the control API: all members of the body. @throws DomainError body_unreadable */
export const unknownMembersIn = async ({ body }: Operation, request: Request): Promise<Violation[]> =>
  body ? unknownMembers(await objectIn(request), body).slice(0, UNKNOWN_NAMED_MAX) : []

const unknownAmong = (sent: readonly string[], known: readonly string[], what: string): Violation[] =>
  sent
    .filter((field) => !known.includes(field))
    .map((field) => ({ field, rule: 'enum', problem: `is no known ${what}; known are ${known.join(', ') || 'none'}` }))

const unknownMembers = (sent: JsonObject, { properties }: TObject, prefix = ''): Violation[] => {
  const known = Object.keys(properties)
  const problem = `is not known here; known are ${known.join(', ')}`
  return Object.entries(sent).flatMap(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!schema) return [{ field: `${prefix}${name}`, rule: 'enum' as const, problem }]
    return isObjectSchema(schema) && isObject(value) ? unknownMembers(value, schema, `${prefix}${name}.`) : []
  })
}

/** An object with names of its own; a map takes any. */
const isObjectSchema = (schema: TSchema): schema is TObject => schema.properties !== undefined
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parametersOf = ({ url }: Request): string[] => {
  const start = url.indexOf('?')
  return start === -1 ? [] : [...new Set(new URLSearchParams(url.slice(start + 1)).keys())]
}

/** A body that is not an object is left to the route. */
const objectIn = async (request: Request): Promise<JsonObject> => {
  const text = await readText(request)
  try {
    return parseObject(text)
  } catch {
    return {}
  }
}
