import { type Static, Type } from '@sinclair/typebox'

/** The schema of a catalog file (contract C8). */

const Percent = Type.Number({ minimum: 0, maximum: 100, description: 'Percentage with at most two decimals' })
const Amount = Type.Number({ minimum: 0.01, maximum: 1_000_000_000 })
const Text = Type.String({ minLength: 1 })

const NamedEntry = Type.Object({ name: Text }, { additionalProperties: false })
const EITHER_CASE_MODE = '^(?:[Dd][Ii][Gg][Ii][Tt][Aa][Ll]|[Pp][Hh][Yy][Ss][Ii][Cc][Aa][Ll])$'

export const ProductEntry = Type.Object(
  {
    id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
    name: Text,
    category: Text,
    sub_category: Text,
    country: Type.String({ pattern: '^[A-Z]{3}$', description: 'an ISO 3166-1 alpha-3 code' }),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'an ISO 4217 code' }),
    image_url: Type.Optional(
      Type.String({
        pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
        description: 'an address that begins with http:// or https://; left out, the program draws a card itself',
      }),
    ),
    delivery_mode: Type.String({ pattern: EITHER_CASE_MODE, description: 'digital or physical, in either case' }),
    delivery_time: Type.String({ minLength: 1, description: 'instant, in either case, or for example 24 hours' }),
    validity: Type.String({
      minLength: 1,
      description: 'for example 12 months; No expiry for codes that never expire',
    }),
    terms: Type.String(),
    details: Type.String(),
    how_to_use: Type.String(),
    active: Type.Boolean(),
    stock: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'null is unlimited' }),
    max_quantity: Type.Integer({ minimum: 1 }),
    gst_percent: Percent,
    handling_fee: Type.Object(
      { fixed: Type.Number({ minimum: 0, maximum: 1_000_000_000 }), percent: Percent },
      { additionalProperties: false },
    ),
    denominations: Type.Array(
      Type.Object({ min_value: Amount, max_value: Amount, discount: Percent }, { additionalProperties: false }),
      { minItems: 1 },
    ),
  },
  { additionalProperties: false },
)
export type ProductDocument = Static<typeof ProductEntry>

const OwnNames = Type.Optional(Type.Array(NamedEntry, { description: "Beside the program's own" }))
export const CatalogSchema = Type.Object(
  { categories: OwnNames, subcategories: OwnNames, products: Type.Array(ProductEntry) },
  { $id: 'https://scrip.example/catalog.schema.json', title: 'Scrip catalog', additionalProperties: false },
)

/** A catalog file whose products are checked one by one. */
export const CatalogEnvelope = Type.Object(
  { categories: OwnNames, subcategories: OwnNames, products: Type.Array(Type.Unknown()) },
  { additionalProperties: false },
)
