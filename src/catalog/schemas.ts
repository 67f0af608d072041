import { Type } from '@sinclair/typebox'
import { idPath } from '../http/parameters.ts'

/** Schemas that the catalog shares with modules that sell from it (spec 2.2, 4.2). */

/** What a purchase may ask for before the product is known (spec section 8). */
export const Denomination = Type.Number({
  minimum: 0.01,
  maximum: 1_000_000_000,
  description: 'Amount of one card, in the currency of the product',
})
export const Quantity = Type.Integer({ minimum: 1, description: 'How many cards' })
export const ProductPath = idPath('product')

export const BandSchema = Type.Object(
  {
    min_value: Type.Number({ description: 'Lowest purchasable amount' }),
    max_value: Type.Number({ description: 'Highest purchasable amount' }),
    discount: Type.Number({ description: 'Discount percentage' }),
  },
  { title: 'Denomination' },
)
export const BANDS_EXAMPLE = [
  { min_value: 100, max_value: 100, discount: 2.5 },
  { min_value: 250, max_value: 250, discount: 2.5 },
  { min_value: 500, max_value: 500, discount: 2.5 },
  { min_value: 1000, max_value: 1000, discount: 2.5 },
]
