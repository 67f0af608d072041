import { type Static, Type } from '@sinclair/typebox'

/** The schema of a catalog file (contract C8), and of products in the API. */

const Percent = Type.Number({ minimum: 0, maximum: 100, description: 'Percentage with at most two decimals' })
const Text = Type.String({ minLength: 1 })

const NamedEntry = Type.Object({ name: Text }, { additionalProperties: false })
const EITHER_CASE_MODE = '^(?:[Dd][Ii][Gg][Ii][Tt][Aa][Ll]|[Pp][Hh][Yy][Ss][Ii][Cc][Aa][Ll])$'

const deliveryFields = {
  image_url: Type.Optional(
    Type.String({
      pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
      description: 'an address that begins with http:// or https://; left out, the program draws a card itself',
    }),
  ),
  delivery_mode: Type.String({ pattern: EITHER_CASE_MODE, description: 'digital or physical, in either case' }),
  delivery_time: Type.String({ minLength: 1, description: 'instant, in either case, or for example 24 hours' }),
  validity: Type.String({ minLength: 1, description: 'for example 12 months; No expiry for codes that never expire' }),
}
const Bands = Type.Array(
  Type.Object(
    {
      min_value: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
      max_value: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
      discount: Percent,
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
)
const ProductId = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const CountryCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'an ISO 3166-1 alpha-3 code' })
const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'an ISO 4217 code' })

export const ProductEntry = Type.Object(
  {
    id: ProductId,
    name: Text,
    category: Text,
    sub_category: Text,
    country: CountryCode,
    currency: CurrencyCode,
    ...deliveryFields,
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
    denominations: Bands,
  },
  { additionalProperties: false },
)

/** A product in the API (spec 2.2). Other members are ignored. */
export const ApiProduct = Type.Object({
  id: ProductId,
  name: Text,
  category: Text,
  sub_category: Text,
  country_code: CountryCode,
  currency_code: CurrencyCode,
  ...deliveryFields,
  image_url: Type.Optional(Type.Union([deliveryFields.image_url, Type.Null()])),
  terms: Type.Optional(Type.String()),
  details: Type.Optional(Type.String()),
  how_to_use: Type.Optional(Type.String()),
  available_denominations: Bands,
})

export const CatalogSchema = Type.Object(
  {
    categories: Type.Optional(Type.Array(NamedEntry, { description: "Beside the program's own" })),
    subcategories: Type.Optional(Type.Array(NamedEntry, { description: "Beside the program's own" })),
    products: Type.Array(ProductEntry),
  },
  { $id: 'https://scrip.example/catalog.schema.json', title: 'Scrip catalog', additionalProperties: false },
)

/** A catalog file whose products are checked one by one. */
export const CatalogEnvelope = Type.Object(
  {
    categories: CatalogSchema.properties.categories,
    subcategories: CatalogSchema.properties.subcategories,
    products: Type.Array(Type.Unknown()),
  },
  { additionalProperties: false },
)

export type ProductDocument = Static<typeof ProductEntry>
