import { Type } from '@sinclair/typebox'
import { BANDS_EXAMPLE, BandSchema, Denomination, ProductPath, Quantity } from '../catalog/schemas.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import type { JsonObject } from '../http/json.ts'
import { operationsOf } from '../http/operation.ts'
import { Id } from '../http/schemas.ts'
import { type Failure, invalid, type Violation } from '../kernel/failure.ts'
import { CALCULATE_CHARGES_ERRORS, GET_DISCOUNTS_ERRORS } from './errors.ts'
import { CHARGE_EXAMPLE, ChargeSchema, nullableNumber } from './schemas.ts'

const operation = operationsOf({ tag: 'Products', errorShape: 'charges' })

const ChargesBody = Type.Object(
  {
    denomination: Denomination,
    quantity: Quantity,
    wallet_id: Type.Optional(Id),
  },
  { title: 'ChargesRequest' },
)
export const DiscountBody = Type.Object(
  { denomination: Type.Optional(Denomination), quantity: Type.Optional(Quantity) },
  { title: 'DiscountRequest' },
)

export const DiscountSchema = Type.Object(
  {
    product_id: Type.Integer(),
    currency_code: Type.String(),
    discounts: Type.Array(BandSchema),
    denomination: nullableNumber('As asked'),
    quantity: nullableNumber('As asked; 1 when left out'),
    discount: nullableNumber('Discount percentage of that denomination'),
    discount_amount: nullableNumber('Discount on denomination multiplied by quantity'),
  },
  { title: 'Discount' },
)
const CACHE_HEADERS = Type.Object({
  'X-Cache': Type.Union([Type.Literal('HIT'), Type.Literal('MISS')], {
    description: 'HIT if the response was cached, else MISS',
  }),
})

const DISCOUNT_EXAMPLE = {
  product_id: 1,
  currency_code: 'INR',
  discounts: BANDS_EXAMPLE,
  denomination: 100,
  quantity: 2,
  discount: 2.5,
  discount_amount: 5,
}

/** A missing member or one that is no number makes the whole body invalid (contract C9). */
const chargesFailure = (violations: readonly Violation[], body: JsonObject): Failure =>
  violations.some(({ field }) => field !== 'wallet_id' && typeof body[field] !== 'number')
    ? BODY_UNREADABLE
    : invalid(violations)

export const getDiscounts = operation({
  id: 'getDiscounts',
  unexpectedError: 'Failed to calculate discount',
  summary: 'Get the discounts of a product',
  description: 'Without a denomination the last four members are null.',
  params: ProductPath,
  body: DiscountBody,
  bodyExample: { denomination: 100, quantity: 2 },
  bodyFailure: chargesFailure,
  success: { status: 200, description: 'The discounts', schema: DiscountSchema, example: DISCOUNT_EXAMPLE },
  errors: GET_DISCOUNTS_ERRORS,
})

export const calculateCharges = operation({
  id: 'calculateCharges',
  unexpectedError: 'Failed to calculate charges',
  summary: 'Calculate what a purchase costs',
  description:
    'Without wallet_id the wallet in the currency of the product pays, else the default one. For five minutes the same request gets the same response, byte for byte.',
  params: ProductPath,
  body: ChargesBody,
  bodyExample: { denomination: 100, quantity: 2 },
  bodyFailure: chargesFailure,
  success: {
    status: 200,
    description: 'The charges',
    schema: ChargeSchema,
    example: CHARGE_EXAMPLE,
    headers: CACHE_HEADERS,
  },
  errors: CALCULATE_CHARGES_ERRORS,
})
