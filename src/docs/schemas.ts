import type { TSchema } from '@sinclair/typebox'
import type { Schema } from './document.ts'

/** The schemas of the routes in the form that generators of clients read best. */

/** A schema describes a request, whose optional members may be null, or a response. */
interface Direction {
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
  readonly schemas: Record<string, Schema> = {}

  /** A schema as plain JSON, its objects stored here by title and referred to. @throws Error without a title */
  place(schema: TSchema, direction: Direction = RESPONSE): Schema {
    const withoutExamples = JSON.stringify(schema, (name, value) => (name === 'example' ? undefined : value))
    const plain: Schema = JSON.parse(withoutExamples, (_, value: unknown) =>
      isUnion(value) ? inOneWord(value) : value,
    )
    return this.#placed(plain, direction)
  }

  #placed(schema: Schema, direction: Direction): Schema {
    const { items, anyOf, ...rest } = schema
    if (isObjectSchema(schema)) return this.#namedObject(schema, direction)
    return {
      ...withFormat(rest),
      ...(items && { items: this.#placed(items, direction) }),
      ...(anyOf && { anyOf: anyOf.map((choice) => this.#placed(choice, direction)) }),
    }
  }

  #namedObject(
    { title, description, type, properties = {}, required: names = [], patternProperties, ...rest }: Schema,
    direction: Direction,
  ): Schema {
    if (title === undefined) throw new Error(`an object without a title: ${Object.keys(properties)}`)
    const members = Object.entries(properties)
    const valuesOfAnyName = patternProperties?.[ANY_NAME]
    const named: Schema = {
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
      ...(valuesOfAnyName && { additionalProperties: this.#placed(valuesOfAnyName, direction) }),
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

const isObjectSchema = ({ type }: Schema): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object'))

/** Without a format, generators take numbers for 32-bit ones, which do not hold amounts. */
const withFormat = (schema: Schema): Schema => {
  const types = [schema.type].flat()
  if (types.includes('number')) return { format: 'double', ...schema }
  if (!types.includes('integer')) return schema
  return { format: Number(schema.maximum) <= INT32_MAX ? 'int32' : 'int64', ...schema }
}

const NULL: Schema = { type: 'null' }

/** References and enums stand beside null: generators make values of an enum, which null is not. */
const orNull = (schema: Schema): Schema => {
  if (schema.anyOf?.some(({ type }) => type === 'null')) return schema
  if ('$ref' in schema || schema.enum) {
    const { description, default: fallback, ...plain } = schema
    return {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
      anyOf: [plain, NULL],
    }
  }
  const types = [schema.type ?? []].flat()
  // Without a type it takes null as well.
  return types.length === 0 || types.includes('null') ? schema : { ...schema, type: [...types, 'null'] }
}

type Union = Schema & { anyOf: Schema[] }

const isUnion = (value: unknown): value is Union =>
  typeof value === 'object' && value !== null && 'anyOf' in value && Array.isArray(value.anyOf)

/** Writes a choice of literals as an enum, and a nullable schema as {@link orNull} does: tools read these forms best. */
const inOneWord = ({ anyOf, ...rest }: Union): Schema => {
  const choices = anyOf.filter(({ type }) => type !== 'null')
  const [first] = choices
  if (typeof first?.type !== 'string') return { ...rest, anyOf }
  const areLiterals = choices.every((choice) => 'const' in choice)
  if (choices.length > 1 && !areLiterals) return { ...rest, anyOf }
  const combined = areLiterals
    ? { ...rest, type: first.type, enum: choices.map((choice) => choice.const) }
    : { ...first, ...rest }
  return choices.length < anyOf.length ? orNull(combined) : combined
}
