import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { readText } from '../../http/body.ts'
import type { Incoming } from '../../http/incoming.ts'
import { isObject, type JsonObject, parseObject } from '../../http/json.ts'
import type { Operation } from '../../http/operation.ts'
import type { Violation } from '../../kernel/failure.ts'

/** Refuses undocumented names, so that a mistyped name surfaces (decisions 13 and 47). */

const UNKNOWN_NAMED_MAX = 100

const NOTHING = Type.Object({})

/**
 * The unknown query parameters and members of the body, except of long bodies, which have their own check. An operation without a
 * body refuses all members in the control API and ignores them in the API. @throws DomainError body_unreadable
 */
export const unknownIn = async (
  { query = NOTHING, body, closed, bodyAlsoAs, bodyValuesMax }: Operation,
  incoming: Incoming,
): Promise<Violation[]> => {
  const unknown = [...unknownParameters(incoming.request, query)]
  const known = body ?? (closed ? NOTHING : undefined)
  // A body may have thousands of members.
  if (known && !bodyAlsoAs)
    unknown.push(...unknownMembers(await objectIn(incoming, bodyValuesMax), known).take(UNKNOWN_NAMED_MAX))
  return unknown.slice(0, UNKNOWN_NAMED_MAX)
}

/** The message about an unknown name. */
export const unknownProblem = (what: string, { properties }: TObject = NOTHING): string =>
  `is not a known ${what}; known are ${Object.keys(properties).join(', ') || 'none'}`

const violationOf = (field: string, what: string, known: TObject): Violation => ({
  field,
  rule: 'enum',
  problem: unknownProblem(what, known),
})

const unknownParameters = ({ url }: Request, known: TObject): Violation[] => {
  const start = url.indexOf('?')
  const names = start === -1 ? [] : [...new Set(new URLSearchParams(url.slice(start + 1)).keys())]
  const unknown = names.filter((name) => !Object.hasOwn(known.properties, name))
  return unknown.slice(0, UNKNOWN_NAMED_MAX).map((name) => violationOf(name, 'parameter', known))
}

function* unknownMembers(sent: JsonObject, known: TObject, prefix = ''): Generator<Violation> {
  for (const [name, value] of Object.entries(sent)) {
    const field = `${prefix}${name}`
    const schema = Object.hasOwn(known.properties, name) ? known.properties[name] : undefined
    if (!schema) yield violationOf(field, 'member', known)
    else if (isObjectSchema(schema) && isObject(value)) yield* unknownMembers(value, schema, `${field}.`)
  }
}

/** True for an object with fixed names; a map takes any. */
const isObjectSchema = (schema: TSchema): schema is TObject =>
  schema.properties !== undefined && schema.additionalProperties !== true

/** A body that is not an object is left to the route. */
const objectIn = async (incoming: Incoming, valuesMax: number | undefined): Promise<JsonObject> => {
  const text = await readText(incoming)
  try {
    return parseObject(text, valuesMax)
  } catch {
    return {}
  }
}
