import type { TSchema } from '@sinclair/typebox'

/** The schemas of the routes in the form that generators of clients read best. */

export type Json = Record<string, unknown>

/** Whether a schema describes a request, where an optional member may be null, or a response. */
export interface Direction {
  isRequest: boolean
  /** The control API refuses members that it does not know; the others ignore them. */
  isClosed?: boolean
}
const RESPONSE: Direction = { isRequest: false }

const INT32_MAX = 2_147_483_647
/** The pattern in TypeBox's records with any names. */
const ANY_NAME = '^(.*)$'

/** The named schemas of a document. Every object has a name; otherwise generators invent one. */
export class Components {
  readonly schemas: Record<string, Json> = {}

  /** A schema as plain JSON, its objects stored here by title and referred to. @throws Error without a title */
  place(schema: TSchema, direction: Direction = RESPONSE): Json {
    const plain = JSON.parse(JSON.stringify(schema), (_, value: unknown) => (isUnion(value) ? inOneWord(value) : value))
    return this.#placed(plain as Json, direction)
  }

  #placed(schema: Json, direction: Direction): Json {
    const { items, anyOf, ...rest } = schema
    if (isObjectSchema(schema)) return this.#namedObject(schema, direction)
    return {
      ...withFormat(rest),
      ...(isJson(items) && { items: this.#placed(items, direction) }),
      ...(Array.isArray(anyOf) && { anyOf: anyOf.map((choice: Json) => this.#placed(choice, direction)) }),
    }
  }

  #namedObject(
    { title, description, type, properties, required, patternProperties, ...rest }: Json,
    direction: Direction,
  ) {
    if (typeof title !== 'string') throw new Error(`an object without a title: ${Object.keys(properties ?? {})}`)
    const members = Object.entries((properties ?? {}) as Record<string, Json>)
    const names = (required ?? []) as string[]
    const valuesOfAnyName = (patternProperties as Json | undefined)?.[ANY_NAME]
    const named = {
      type: 'object',
      ...(names.length > 0 && { required: names }),
      ...(members.length > 0 && {
        properties: Object.fromEntries(
          members.map(([name, member]) => {
            const placed = this.#placed(member, direction)
            return [name, direction.isRequest && !names.includes(name) ? orNull(placed) : placed]
          }),
        ),
      }),
      ...(isJson(valuesOfAnyName) && { additionalProperties: this.#placed(valuesOfAnyName, direction) }),
      ...(direction.isClosed && members.length > 0 && { additionalProperties: false }),
      ...rest,
    }
    const known = this.schemas[title]
    if (known && !Bun.deepEquals(known, named)) throw new Error(`two objects are titled ${title}`)
    this.schemas[title] = named
    const reference = { $ref: `#/components/schemas/${title}`, ...(description !== undefined && { description }) }
    return Array.isArray(type) ? orNull(reference) : reference
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isObjectSchema = ({ type }: Json): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object'))

/** Without a format, generators take numbers for 32-bit ones, which do not hold amounts. */
const withFormat = (schema: Json): Json => {
  const types = [schema.type].flat()
  if (types.includes('number')) return { format: 'double', ...schema }
  if (!types.includes('integer')) return schema
  return { format: Number(schema.maximum) <= INT32_MAX ? 'int32' : 'int64', ...schema }
}

const orNull = (schema: Json): Json => {
  if ('$ref' in schema) {
    const { description, ...reference } = schema
    return { anyOf: [reference, { type: 'null' }], ...(description !== undefined && { description }) }
  }
  const types = [schema.type].flat()
  if (types.includes('null')) return schema
  return { ...schema, type: [...types, 'null'], ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) }
}

const isUnion = (value: unknown): value is Json & { anyOf: Json[] } => isJson(value) && Array.isArray(value.anyOf)

/** A choice of literals as an enum, and what may be null as a type with null: the forms that tools read best. */
const inOneWord = ({ anyOf, ...rest }: Json & { anyOf: Json[] }): Json => {
  const choices = anyOf.filter(({ type }) => type !== 'null')
  const mayBeNull = choices.length < anyOf.length
  const [first] = choices
  if (first === undefined) return { ...rest, anyOf }
  const type = mayBeNull ? [first.type, 'null'] : first.type
  if (choices.every((choice) => 'const' in choice)) {
    const values = choices.map((choice) => choice.const)
    return { ...rest, type, enum: mayBeNull ? [...values, null] : values }
  }
  if (choices.length > 1 || typeof first.type !== 'string') return { ...rest, anyOf }
  return { ...first, ...rest, type, ...(Array.isArray(first.enum) && { enum: [...first.enum, null] }) }
}
