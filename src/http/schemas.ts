import { type TSchema, Type } from '@sinclair/typebox'

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
