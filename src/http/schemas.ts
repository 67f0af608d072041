import { type Static, type TSchema, Type } from '@sinclair/typebox'

export const Timestamp = Type.String({ format: 'date-time' })

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  options: { default?: Choice; description?: string } = {},
) =>
  Type.Unsafe<Choice>(
    Type.Union(
      choices.map((choice) => Type.Literal(choice)),
      options,
    ),
  )

/** One of some words, which may be sent in upper or in lower case. */
export const eitherCase = (choices: readonly string[], options: { default?: string; description?: string } = {}) =>
  oneOf([...new Set(choices.flatMap((choice) => [choice.toUpperCase(), choice.toLowerCase()]))], options)

export const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

const examples = new WeakMap<TSchema, unknown>()

/** Gives a schema the example that documents it. The compiler holds one against the other. */
export const withExample = <Schema extends TSchema>(schema: Schema, example: Static<Schema>): Schema => {
  examples.set(schema, example)
  return schema
}

export const exampleOf = <Schema extends TSchema>(schema: Schema): Static<Schema> | undefined => examples.get(schema)
