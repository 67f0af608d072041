import { Type } from '@sinclair/typebox'
import { BODY_UNREADABLE, invalidId } from '../http/failures.ts'
import { LONG_PAGE_HEADERS, operationsOf, pageOf } from '../http/operation.ts'
import { idTextFilter, pageQuery, sortQuery, textFilter } from '../http/parameters.ts'
import { violation } from '../kernel/failure.ts'
import { PNG_TYPE } from './card-png.ts'
import { SVG_TYPE } from './card-svg.ts'
import { PRODUCT_NOT_FOUND } from './errors.ts'
import { SORT_FIELDS } from './product-index.ts'
import { BANDS_EXAMPLE, BandSchema, Denomination, ProductPath, Quantity } from './schemas.ts'

const operation = operationsOf({
  tag: 'Products',
  tagDescription: 'Gift cards on sale, with availability and prices.',
  errorShape: 'structured',
})

const PAGE = { limitDefault: 50, limitMax: 10_000 }

const AvailabilityBody = Type.Object(
  { denomination: Denomination, quantity: Quantity },
  { title: 'AvailabilityRequest' },
)

const listedFields = {
  id: Type.Integer(),
  name: Type.String(),
  category: Type.String(),
  sub_category: Type.String(),
  country_code: Type.String({ description: 'ISO 3166-1 alpha-3' }),
  currency_code: Type.String({ description: 'ISO 4217' }),
  image_url: Type.String(),
  delivery_mode: Type.String({ description: 'digital or physical' }),
  delivery_time: Type.String(),
  validity: Type.String(),
}
const detailFields = {
  terms: Type.String({ description: 'Terms and conditions' }),
  details: Type.String({ description: 'Product description' }),
  how_to_use: Type.String({ description: 'Usage instructions' }),
}
const bandsField = { available_denominations: Type.Array(BandSchema) }
const ProductSchema = Type.Object({ ...listedFields, ...bandsField }, { title: 'Product' })
const ProductDetailSchema = Type.Object({ ...listedFields, ...detailFields, ...bandsField }, { title: 'ProductDetail' })

const PRODUCT_EXAMPLE = {
  id: 1,
  name: 'Kettle & Crumb India',
  category: 'Food & Dining',
  sub_category: 'Cafes & Bakeries',
  country_code: 'IND',
  currency_code: 'INR',
  image_url: 'http://127.0.0.1:4747/cards/1',
  delivery_mode: 'digital',
  delivery_time: 'instant',
  validity: '12 months',
  available_denominations: BANDS_EXAMPLE,
}
const DETAIL_EXAMPLE = {
  ...PRODUCT_EXAMPLE,
  terms:
    'Not valid for alcohol, tips or private events. Valid for 12 months from the day of purchase; not redeemable for cash.',
  details:
    'A meal at Kettle & Crumb, from a quick bite to a long evening. Any balance left stays on the card for the next visit.',
  how_to_use:
    'The code comes by e-mail. Enter the code at checkout in the Kettle & Crumb app, or read it out at the till.',
}

const ListQuery = Type.Object({
  ...pageQuery(PAGE),
  category: textFilter('The name of a category, in either case', 'Food & Dining'),
  country_id: idTextFilter('country'),
  currency_id: idTextFilter('currency'),
  search: textFilter('A part of the name, in either case', 'coffee'),
  ...sortQuery(SORT_FIELDS),
})

export const listProducts = operation({
  id: 'listProducts',
  stored: true,
  unexpectedError: 'Failed to retrieve products',
  summary: 'List products',
  description: 'Products on sale, with the discounts of this client.',
  query: ListQuery,
  success: pageOf('A page of products', ProductSchema, PRODUCT_EXAMPLE, LONG_PAGE_HEADERS),
  errors: { 'products.list_validation': violation('limit', 'max', 'must be at most 10000') },
})

export const getProduct = operation({
  id: 'getProduct',
  stored: true,
  unexpectedError: 'Failed to retrieve product',
  summary: 'Get a product',
  description: 'Includes its terms, description and usage instructions.',
  params: ProductPath,
  success: { status: 200, description: 'The product', schema: ProductDetailSchema, example: DETAIL_EXAMPLE },
  errors: { 'products.invalid_id': invalidId('product'), 'products.not_found': PRODUCT_NOT_FOUND },
})

export const checkAvailability = operation({
  id: 'checkAvailability',
  unexpectedError: 'Failed to check availability',
  summary: 'Check whether a denomination is available in a quantity',
  description:
    'Checks denomination, quantity and stock. A denomination that is not offered is not available; that is no error.',
  params: ProductPath,
  body: AvailabilityBody,
  bodyExample: { denomination: 100, quantity: 2 },
  success: {
    status: 200,
    description: 'Whether the purchase could be made now',
    schema: Type.Object({ is_available: Type.Boolean() }, { title: 'Availability' }),
    example: { is_available: true },
  },
  errors: {
    'availability.invalid_id': invalidId('product'),
    'availability.body_unreadable': BODY_UNREADABLE,
    'availability.validation': violation('quantity', 'required', 'is required'),
    'availability.not_found': PRODUCT_NOT_FOUND,
  },
})

export const getCardPicture = operation({
  id: 'getCardPicture',
  stored: true,
  summary: 'Get the picture of a product',
  description:
    'An SVG without external resources, which can be cached: image_url leads here. With `/card.png` behind it, image_url leads to a PNG.',
  public: true,
  params: ProductPath,
  success: {
    status: 200,
    description: 'A drawn gift card',
    schema: Type.String(),
    contentType: SVG_TYPE,
    example: '<svg xmlns="http://www.w3.org/2000/svg"/>',
  },
  errors: { 'cards.invalid_id': invalidId('product'), 'cards.not_found': PRODUCT_NOT_FOUND },
})

export const getCardPng = operation({
  id: 'getCardPng',
  stored: true,
  summary: 'Get the picture of a product as a PNG',
  description:
    'The same picture for mail programs and apps that draw no SVG, 640 by 400 pixels. Letters other than Latin, Greek and Cyrillic are left out.',
  public: true,
  params: ProductPath,
  success: {
    status: 200,
    description: 'A drawn gift card',
    schema: Type.String({ format: 'binary' }),
    contentType: PNG_TYPE,
    example: '',
  },
  errors: { 'card_pngs.invalid_id': invalidId('product'), 'card_pngs.not_found': PRODUCT_NOT_FOUND },
})
