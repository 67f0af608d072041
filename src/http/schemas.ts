import { type TLiteral, type TSchema, Type } from '@sinclair/typebox'

/** What the documentation of many routes has in common: pieces of bodies and of queries. */

export const Timestamp = Type.String({ format: 'date-time' })

/** A member that may not apply. */
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** One of some words. */
export const oneOf = <Choice extends string>(
  choices: readonly Choice[],
  options: { default?: Choice; description?: string } = {},
) =>
  Type.Union(
    choices.map((choice): TLiteral<Choice> => Type.Literal(choice)),
    options,
  )

/** One of some words, which may be sent in upper or in lower case. */
export const eitherCase = (choices: readonly string[], options: { default?: string; description?: string } = {}) =>
  oneOf([...new Set(choices.flatMap((choice) => [choice.toUpperCase(), choice.toLowerCase()]))], options)

/** The path parameter of a record with a numeric id. */
export const idPath = (resource: string) =>
  Type.Object({ id: Type.Integer({ minimum: 1, description: `The ${resource} identifier` }) })

/** A numeric id in a body. */
export const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

/** A numeric id that a list is filtered by. */
export const idFilter = (resource: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: `Only of this ${resource}` }))

/** The same where the specification has it as text (spec 4.2). */
export const idTextFilter = (resource: string) =>
  Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,9}$', description: `Only of the ${resource} with this id` }))

/** The parameters that page a list (contract C7). */
export const pageQuery = ({ limitDefault, limitMax }: { limitDefault: number; limitMax: number }) => ({
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Which page, from 1' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limitMax, default: limitDefault, description: 'Items per page' }),
  ),
})

/** The parameters that sort a list: a JSON object (spec 4.2), or a field's name and a direction (contract C7). */
export const sortQuery = (fields: readonly string[]) => ({
  sort: Type.Optional(
    Type.String({
      description: `A JSON object with field (${fields.join(', ')}) and direction (ASC or DESC), URL-encoded; not together with sort_by or sort_order`,
      default: '{"field":"id","direction":"DESC"}',
    }),
  ),
  sort_by: Type.Optional(oneOf(fields, { description: 'The field that the list is sorted by' })),
  sort_order: Type.Optional(eitherCase(['ASC', 'DESC'], { description: 'The direction, in either case' })),
})

/** The parameters that sort a list by a field's name (spec 4.1), the newest first when left out. */
export const orderQuery = (fields: readonly string[]) => ({
  sort_by: Type.Optional(oneOf(fields, { default: 'created_at', description: 'The field that the list is sorted by' })),
  sort_order: Type.Optional(
    eitherCase(['ASC', 'DESC'], { default: 'DESC', description: 'The direction, in either case' }),
  ),
})
