import { type Static, Type } from '@sinclair/typebox'
import { ProductEntry } from '../../catalog/file-schema.ts'
import { RateTable } from '../../charges/rates.ts'
import { nullable, Timestamp } from '../../http/schemas.ts'
import { Removable, Text } from '../../http/validation.ts'

/** Changes that a test makes to a running world (contract C15). */

const { active, stock, max_quantity, gst_percent, handling_fee, denominations } = ProductEntry.properties
const Part = Type.Object(
  { fixed: Type.Optional(handling_fee.properties.fixed), percent: Type.Optional(handling_fee.properties.percent) },
  { title: 'HandlingFeeEdit' },
)
const Band = Type.Object(denominations.items.properties, { title: 'DenominationEdit' })

export const CatalogEntry = Type.Object(
  {
    ...ProductEntry.properties,
    handling_fee: Type.Object(handling_fee.properties, { title: 'HandlingFee' }),
    denominations: Type.Array(Type.Object(denominations.items.properties, { title: 'CatalogDenomination' })),
  },
  { title: 'CatalogProduct' },
)
export const ENTRY_EXAMPLE: Static<typeof CatalogEntry> = {
  id: 1,
  name: 'Kettle & Crumb India',
  category: 'Food & Dining',
  sub_category: 'Cafes & Bakeries',
  country: 'IND',
  currency: 'INR',
  delivery_mode: 'digital',
  delivery_time: 'instant',
  validity: '12 months',
  terms:
    'Not valid for alcohol, tips or private events. Valid for 12 months from the day of purchase; not redeemable for cash.',
  details:
    'A meal at Kettle & Crumb, from a quick bite to a long evening. Any balance left stays on the card for the next visit.',
  how_to_use:
    'The code comes by e-mail. Enter the code at checkout in the Kettle & Crumb app, or read it out at the till.',
  active: false,
  stock: 3,
  max_quantity: 50,
  gst_percent: 18,
  handling_fee: { fixed: 0, percent: 0 },
  denominations: [{ min_value: 100, max_value: 100, discount: 10 }],
}

const Features = Type.Object({ vouchers: Type.Optional(Type.Boolean()) }, { title: 'FeaturesEdit' })
const Discounts = Type.Record(Type.String(), Type.Number(), {
  title: 'AgreedDiscounts',
  example: { '1': 7.5 },
  description: 'Percentages by product identifier; 0 removes one',
})

const clientFields = {
  client_id: Type.Integer({ example: 3 }),
  username: Type.String({ description: 'Logs in', example: 'sbx_checkout.shop' }),
  features: Type.Object({ vouchers: Type.Boolean({ example: true }) }, { title: 'Features' }),
  max_quantity: nullable(Type.Integer({ description: 'The most cards in one purchase', example: 10 })),
  discounts: Discounts,
  rate_limit: nullable(Type.String({ description: 'null if the limits of the server apply', example: '100/h,3/m' })),
  created_at: Timestamp,
}
export const ClientState = Type.Object(clientFields, { title: 'SandboxClient' })
export const NewClient = Type.Object(
  { ...clientFields, password: Type.String({ example: 'k3v0q2m8x1z7c9b4n6l5j0h2y0pe7f1a' }) },
  { title: 'NewSandboxClient' },
)

/** The members of an edit, besides the limits. */
export const ClientMembers = Type.Object({
  password: Type.Optional(Text({ minLength: 1, maxLength: 256 })),
  features: Type.Optional(Features),
  discounts: Type.Optional(Discounts),
})

export const ProductEdit = Type.Object({
  active: Type.Optional(active),
  stock: Removable({ ...stock.anyOf[0], description: 'The stock from now on; null is unlimited' }),
  max_quantity: Type.Optional(max_quantity),
  denominations: Type.Optional(Type.Array(Band, { minItems: 1 })),
  gst_percent: Type.Optional(gst_percent),
  handling_fee: Type.Optional(Part),
})

export const RateMembers = Type.Object({
  base: RateTable.properties.base,
  rates: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
    title: 'RatesByCurrencyRequest',
    description: `${RateTable.properties.rates.description}, as texts or as numbers`,
  }),
})
