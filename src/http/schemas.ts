import { type Static, type TSchema, Type } from '@sinclair/typebox'

export const Timestamp = Type.String({ format: 'date-time' })
const TIME_EXAMPLE = '2026-01-01T00:00:00.000Z'

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  options: { default?: Choice; description?: string; example?: Choice } = {},
) =>
  Type.Unsafe<Choice>(
    Type.Union(
      choices.map((choice) => Type.Literal(choice)),
      options,
    ),
  )

/** A choice of words, in upper or lower case. */
export const eitherCase = (choices: readonly string[], options: { default?: string; description?: string } = {}) =>
  oneOf([...new Set(choices.flatMap((choice) => [choice.toUpperCase(), choice.toLowerCase()]))], options)

export const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

/**
 * The example that documents a schema. It has the examples of its required members, and of optional ones that have one.
 * Otherwise a nullable value is null, a choice is its first word, and a time is the first of 2026.
 */
export const exampleOf = <Schema extends TSchema>(schema: Schema): Static<Schema> | undefined => made(schema)

/** @throws Error if a member has none */
export const getExample = <Schema extends TSchema>(schema: Schema): Static<Schema> => {
  const example = exampleOf(schema)
  if (example === undefined) throw new Error(`a member of ${schema.title} has no example`)
  return example
}

const made = ({ example, const: only, anyOf, type, format, properties, required = [], items }: TSchema): unknown => {
  if (example !== undefined || only !== undefined) return example ?? only
  if (anyOf) return anyOf.at(-1).type === 'null' ? (anyOf[0].example ?? null) : made(anyOf[0])
  if (format === 'date-time') return TIME_EXAMPLE
  if (type === 'array') {
    const item = made(items)
    return item === undefined ? undefined : [item]
  }
  if (type !== 'object') return undefined
  const members = Object.entries<TSchema>(properties ?? {})
    .filter(([name, member]) => required.includes(name) || member.example !== undefined)
    .map(([name, member]) => [name, made(member)] as const)
  return members.every(([, value]) => value !== undefined) ? Object.fromEntries(members) : undefined
}
