import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { readObject } from '../../http/body.ts'
import type { JsonObject } from '../../http/json.ts'
import { QueryReader } from '../../http/query.ts'
import type { LegacyFailure } from '../../kernel/failure.ts'
import { DomainError, type Failure, type Violation } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD, type Worlds } from '../../worlds/worlds.ts'
import { UNKNOWN_NAMED_MAX } from './strict.ts'

/** What the routes of the control surface have in common (contract C15). */

export const WorldQuery = Type.Object({
  world: Type.Optional(Type.String({ description: 'The world, with or without sbx_; the default one when left out' })),
})

/** The refusals of the gate, under the name of a room. */
export const gateRefusals = (room: string): Record<string, Failure | LegacyFailure> => ({
  [`${room}.token_wrong`]: { code: 'sandbox_token_wrong' },
  [`${room}.foreign`]: { code: 'sandbox_foreign' },
})

/** The refusals of every control route that is about a world. */
export const controlRefusals = (room: string): Record<string, Failure | LegacyFailure> => ({
  [`${room}.world_not_found`]: { code: 'world_not_found', name: 'nowhere' },
  ...gateRefusals(room),
})

/** The refusals of a control route that takes a body. */
export const bodyRefusals = (room: string, violation: Violation): Record<string, Failure | LegacyFailure> => ({
  ...controlRefusals(room),
  [`${room}.body_unreadable`]: { code: 'body_unreadable' },
  [`${room}.validation`]: { code: 'validation', violations: [violation] },
})

export const tooShort = (field: string): Violation => ({
  field,
  rule: 'min',
  problem: 'must be at least 1 character long',
})

/** A world's name without the prefix that its usernames have. A path whose encoding is broken names nothing: null. */
export const plainName = (name: string | null): string => (name ?? '').replace(/^sbx_/, '')

/** The world that a control request is about. @throws DomainError world_not_found */
export const worldOf = (worlds: Worlds, request: Request): World => {
  const query = new QueryReader(request.url)
  const asked = query.text('world')
  query.finish()
  return getWorld(worlds, asked === undefined ? DEFAULT_WORLD : plainName(asked))
}

/** @throws DomainError world_not_found */
export const getWorld = (worlds: Worlds, name: string): World => {
  const world = worlds.find(name)
  if (!world) throw new DomainError({ code: 'world_not_found', name })
  return world
}

/** A control body: unlike the API, the surface refuses members that it does not know (decision 13). */
export const readControl = async <Body>(
  request: Request,
  schema: TObject,
  check: (sent: JsonObject) => Body,
  read: (request: Request) => Promise<JsonObject> = readObject,
): Promise<Body> => {
  const sent = await read(request)
  const violations = unknownMembers(sent, schema).slice(0, UNKNOWN_NAMED_MAX)
  if (violations.length > 0) throw new DomainError({ code: 'validation', violations })
  return check(sent)
}

const unknownMembers = (sent: JsonObject, { properties }: TObject, prefix = ''): Violation[] => {
  const known = Object.keys(properties)
  const problem = `is not known here; known are ${known.join(', ')}`
  return Object.entries(sent).flatMap(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!schema) return [{ field: `${prefix}${name}`, rule: 'enum' as const, problem }]
    if (!isObjectSchema(schema) || !isObject(value)) return []
    return unknownMembers(value, schema, `${prefix}${name}.`)
  })
}

const isObjectSchema = (schema: TSchema): schema is TObject => schema.type === 'object'
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
