import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { readText } from '../../http/body.ts'
import { type JsonObject, parseObject } from '../../http/json.ts'
import type { Operation } from '../../http/operation.ts'
import type { Violation } from '../../kernel/failure.ts'

/** Refuses what an operation does not document, so that a mistyped name surfaces (decisions 13 and 15). */

const UNKNOWN_NAMED_MAX = 100

const NOTHING = Type.Object({})

/** With `--strict`: the query parameters and the outermost members of the body. @throws DomainError body_unreadable */
export const unknownIn = async ({ query, body }: Operation, request: Request): Promise<Violation[]> => {
  const unknown = unknownAmong(parametersOf(request), 'parameter', query)
  if (body) unknown.push(...unknownAmong(Object.keys(await objectIn(request)), 'member', body))
  return unknown.slice(0, UNKNOWN_NAMED_MAX)
}

/**
 * On the control API: the query parameters and all members of the body, but for long bodies, which have a check of their
 * own. @throws DomainError body_unreadable
 */
export const unknownOnControl = async (
  { query, body, readsBody }: Operation,
  request: Request,
): Promise<Violation[]> => {
  const unknown = unknownAmong(parametersOf(request), 'parameter', query)
  if (!readsBody) unknown.push(...unknownMembers(await objectIn(request), body ?? NOTHING).take(UNKNOWN_NAMED_MAX))
  return unknown.slice(0, UNKNOWN_NAMED_MAX)
}

const namesIn = ({ properties }: TObject): string[] => Object.keys(properties)

/** What is said of an unknown name. */
export const unknownProblem = (what: string, known: TObject = NOTHING): string =>
  `is no known ${what}; known are ${namesIn(known).join(', ') || 'none'}`

/** No more than are named: a body may have thousands of members. */
const unknownAmong = (sent: readonly string[], what: string, known: TObject = NOTHING): Violation[] =>
  sent
    .values()
    .filter((field) => !Object.hasOwn(known.properties, field))
    .take(UNKNOWN_NAMED_MAX)
    .map((field): Violation => ({ field, rule: 'enum', problem: unknownProblem(what, known) }))
    .toArray()

function* unknownMembers(sent: JsonObject, known: TObject, prefix = ''): Generator<Violation> {
  for (const name of Object.keys(sent)) {
    const [field, value] = [`${prefix}${name}`, sent[name]]
    const schema = Object.hasOwn(known.properties, name) ? known.properties[name] : undefined
    if (!schema) yield { field, rule: 'enum', problem: unknownProblem('member', known) }
    else if (isObjectSchema(schema) && isObject(value)) yield* unknownMembers(value, schema, `${field}.`)
  }
}

/** An object with names of its own; a map takes any. */
const isObjectSchema = (schema: TSchema): schema is TObject =>
  schema.properties !== undefined && schema.additionalProperties !== true
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
