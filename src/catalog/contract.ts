import { type Static, Type } from '@sinclair/typebox'
import { idPath, idTextFilter, pageQuery, sortQuery, textFilter } from '../http/parameters.ts'
import { notFound } from '../kernel/failure.ts'
import { toMajor, toPercent } from '../kernel/money.ts'
import type { Product, ProductTexts } from './product.ts'

/** Products and categories in the API (spec 2.2, 2.3, 4.2 and 4.3). */

export const PRODUCT_NOT_FOUND = notFound('Product')
export const CATEGORY_NOT_FOUND = notFound('Category')
export const SUBCATEGORY_NOT_FOUND = notFound('Subcategory')

/** The bounds of a purchase before the product is known (spec section 8). */
export const Denomination = Type.Number({
  minimum: 0.01,
  maximum: 1_000_000_000,
  description: 'Amount of one card, in the currency of the product',
})
export const Quantity = Type.Integer({ minimum: 1, description: 'The number of cards' })
export const ProductPath = idPath('product')

/** Denominations with their discounts. */
export const BandsSchema = Type.Array(
  Type.Object(
    {
      min_value: Type.Number({ description: 'Lowest purchasable amount' }),
      max_value: Type.Number({ description: 'Highest purchasable amount' }),
      discount: Type.Number({ description: 'Discount percentage' }),
    },
    { title: 'Denomination' },
  ),
  { example: [100, 250, 500, 1000].map((value) => ({ min_value: value, max_value: value, discount: 2.5 })) },
)

export const AvailabilityBody = Type.Object(
  { denomination: { ...Denomination, example: 100 }, quantity: { ...Quantity, example: 2 } },
  { title: 'AvailabilityRequest' },
)
export const AvailabilitySchema = Type.Object(
  { is_available: Type.Boolean({ example: true }) },
  { title: 'Availability' },
)

/** The fields that a list of products can be sorted by (contract C7). */
export const SORT_FIELDS = ['id', 'name', 'category', 'sub_category', 'country_code', 'currency_code'] as const

export const ProductListQuery = Type.Object({
  ...pageQuery({ limitDefault: 50, limitMax: 10_000 }),
  category: textFilter('The name of a category, in either case', 'Food & Dining'),
  country_id: idTextFilter('country'),
  currency_id: idTextFilter('currency'),
  search: textFilter('Part of the name; case does not matter', 'coffee'),
  ...sortQuery(SORT_FIELDS),
})

const listedFields = {
  id: Type.Integer({ example: 1 }),
  name: Type.String({ example: 'Kettle & Crumb India' }),
  category: Type.String({ example: 'Food & Dining' }),
  sub_category: Type.String({ example: 'Cafes & Bakeries' }),
  country_code: Type.String({ description: 'ISO 3166-1 alpha-3', example: 'IND' }),
  currency_code: Type.String({ description: 'ISO 4217', example: 'INR' }),
  image_url: Type.String({ example: 'http://127.0.0.1:4747/cards/1' }),
  delivery_mode: Type.String({ description: 'digital or physical', example: 'digital' }),
  delivery_time: Type.String({ example: 'instant' }),
  validity: Type.String({ example: '12 months' }),
}
const detailFields = {
  terms: Type.String({
    description: 'Terms and conditions',
    example:
      'Not valid for alcohol, tips or private events. Valid for 12 months from the day of purchase; not redeemable for cash.',
  }),
  details: Type.String({
    description: 'Product description',
    example:
      'A meal at Kettle & Crumb, from a quick bite to a long evening. Any balance left stays on the card for the next visit.',
  }),
  how_to_use: Type.String({
    description: 'Usage instructions',
    example:
      'The code comes by e-mail. Enter the code at checkout in the Kettle & Crumb app, or read it out at the till.',
  }),
}
const bandsField = { available_denominations: BandsSchema }
export const ProductSchema = Type.Object({ ...listedFields, ...bandsField }, { title: 'Product' })
export const ProductDetailSchema = Type.Object(
  { ...listedFields, ...detailFields, ...bandsField },
  { title: 'ProductDetail' },
)

/** The bands, each with the higher of its discount and the agreed one (contract C8). */
export const bandsWire = ({ bands, currency }: Product, agreedBasisPoints: number) =>
  bands.map((band) => ({
    min_value: toMajor(band.minMinor, currency.precision),
    max_value: toMajor(band.maxMinor, currency.precision),
    discount: toPercent(Math.max(band.discountBasisPoints, agreedBasisPoints)),
  }))

/** A product in a list (spec 2.2). */
export const productWire = (
  product: Product,
  agreedBasisPoints: number,
  publicUrl: string,
): Static<typeof ProductSchema> => ({
  id: product.id,
  name: product.name,
  category: product.category,
  sub_category: product.subCategory,
  country_code: product.country.alpha_3,
  currency_code: product.currency.currency,
  image_url: product.imageUrl ?? `${publicUrl}${cardPath(product.id)}`,
  delivery_mode: product.deliveryMode,
  delivery_time: product.deliveryTime,
  validity: product.validity,
  available_denominations: bandsWire(product, agreedBasisPoints),
})

/** A product by itself: with the three long texts (spec 4.2). */
export const productDetailWire = (
  product: Product,
  { terms, details, howToUse }: ProductTexts,
  agreedBasisPoints: number,
  publicUrl: string,
): Static<typeof ProductDetailSchema> => {
  const { available_denominations, ...listed } = productWire(product, agreedBasisPoints, publicUrl)
  return { ...listed, terms, details, how_to_use: howToUse, available_denominations }
}

const cardPath = (productId: number): string => `/cards/${productId}`

const named = (title: string, id: number, name: string) =>
  Type.Object({ id: Type.Integer({ example: id }), name: Type.String({ example: name }) }, { title })
export const CategorySchema = named('Category', 1, 'Food & Dining')
export const SubcategorySchema = named('Subcategory', 2, 'Restaurants')
