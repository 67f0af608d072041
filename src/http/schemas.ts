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

/** The path parameter of a record with a numeric id. */
export const idPath = (resource: string) =>
  Type.Object({ id: Type.Integer({ minimum: 1, description: `The ${resource} identifier` }) })

/** A numeric id in a query or a body. */
export const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

/** The parameters that page a list (contract C7). */
export const pageQuery = ({ limitDefault, limitMax }: { limitDefault: number; limitMax: number }) => ({
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: limitDefault })),
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
  sort_order: Type.Optional(oneOf(['ASC', 'DESC'], { description: 'The direction, in either case' })),
})

/** The parameters that sort a list by a field's name (spec 4.1), the newest first when left out. */
export const orderQuery = (fields: readonly string[]) => ({
  sort_by: Type.Optional(oneOf(fields, { default: 'created_at' })),
  sort_order: Type.Optional(oneOf(['ASC', 'DESC'], { default: 'DESC' })),
})
