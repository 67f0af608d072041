import { type Static, Type } from '@sinclair/typebox'
import { BandsSchema, Denomination, Quantity } from '../catalog/contract.ts'
import { Id } from '../http/schemas.ts'
import { badRequest, type Failure } from '../kernel/failure.ts'
import { AMOUNT_TOO_LARGE, AMOUNT_TOO_SMALL, toMajor, toPercent, toRate } from '../kernel/money.ts'
import type { Price } from './price.ts'

/** Charges and discounts of a product in the API (spec 2.6 and 4.2, contract C9). */

export const DENOMINATION_NOT_OFFERED: Failure = {
  code: 'denomination_not_offered',
  kind: 'NOT_FOUND',
  message: 'Denomination not found',
}

export const quantityExceeded = (quantityMax: number) =>
  badRequest('quantity_exceeded', `Quantity exceeds maximum allowed quantity of ${quantityMax}`)

export const PAYING_WALLET_NOT_FOUND = badRequest('paying_wallet_not_found', 'Wallet not found')

export const rateMissing = (from: string, to: string) =>
  badRequest('rate_missing', `No exchange rate found for ${from} to ${to}`)

export const RATE_FAILED: Failure = {
  code: 'rate_failed',
  kind: 'INTERNAL_SERVER_ERROR',
  message: 'Failed to fetch exchange rate',
}

/** The errors of a module that quotes a price, by their names, in the order of contract C9. */
export const QUOTE_ERRORS = {
  denomination_not_offered: DENOMINATION_NOT_OFFERED,
  quantity_exceeded: quantityExceeded(50),
  wallet_not_found: PAYING_WALLET_NOT_FOUND,
  rate_missing: rateMissing('USD', 'KES'),
  rate_failed: RATE_FAILED,
  amount_too_large: AMOUNT_TOO_LARGE,
  amount_too_small: AMOUNT_TOO_SMALL,
}

export const ChargesBody = Type.Object(
  {
    denomination: { ...Denomination, example: 100 },
    quantity: { ...Quantity, example: 2 },
    wallet_id: Type.Optional(Id),
  },
  { title: 'ChargesRequest' },
)
export const DiscountBody = Type.Object(
  {
    denomination: Type.Optional({ ...Denomination, example: 100 }),
    quantity: Type.Optional({ ...Quantity, example: 2 }),
  },
  { title: 'DiscountRequest' },
)

const nullableNumber = (description: string, example?: number) =>
  Type.Union([Type.Number(example === undefined ? {} : { example }), Type.Null()], { description })
/** With the published example (contract C9). */
export const ChargeSchema = Type.Object(
  {
    non_discounted_total: Type.Number({ description: 'denomination multiplied by quantity', example: 200 }),
    discount_amount: Type.Number({ example: 5 }),
    total_amount: Type.Number({ description: 'After discount, before taxes and fees', example: 195 }),
    discount: Type.Number({ description: 'Discount percentage applied', example: 2.5 }),
    gst_amount: Type.Number({ example: 35.1 }),
    total_payable: Type.Number({ description: 'Amount that the wallet pays', example: 230.1 }),
    max_quantity: Type.Integer({ example: 50 }),
    net_amount: Type.Number({ description: 'total_amount in the currency of the wallet', example: 195 }),
    handling_fee_amount: Type.Number({ example: 0 }),
    charges_details: Type.Object(
      {
        source_currency: Type.String({ description: 'Product base currency', example: 'INR' }),
        destination_currency: Type.String({ description: 'Wallet currency', example: 'INR' }),
        forex_rate: nullableNumber('null when both currencies are the same'),
        conversion_fee: nullableNumber('null when both currencies are the same'),
      },
      { title: 'ChargesDetails' },
    ),
  },
  { title: 'Charges' },
)
export type Charge = Static<typeof ChargeSchema>

/** A price as it is on the wire (spec 2.6). */
export const chargeWire = ({ price, quantityMax }: { price: Price; quantityMax: number }): Charge => {
  const inSource = (minor: number) => toMajor(minor, price.source.precision)
  const inDestination = (minor: number) => toMajor(minor, price.destination.precision)
  return {
    non_discounted_total: inSource(price.nonDiscountedTotalMinor),
    discount_amount: inSource(price.discountMinor),
    total_amount: inSource(price.totalMinor),
    discount: toPercent(price.discountBasisPoints),
    gst_amount: inDestination(price.gstMinor),
    total_payable: inDestination(price.totalPayableMinor),
    max_quantity: quantityMax,
    net_amount: inDestination(price.netMinor),
    handling_fee_amount: inDestination(price.handlingFeeMinor),
    charges_details: {
      source_currency: price.source.currency,
      destination_currency: price.destination.currency,
      forex_rate: price.rate === undefined ? null : toRate(price.rate),
      conversion_fee: price.conversionFeeMinor === undefined ? null : inDestination(price.conversionFeeMinor),
    },
  }
}

export const DiscountSchema = Type.Object(
  {
    product_id: Type.Integer({ example: 1 }),
    currency_code: Type.String({ example: 'INR' }),
    discounts: BandsSchema,
    denomination: nullableNumber('As asked', 100),
    quantity: nullableNumber('As asked; 1 when left out', 2),
    discount: nullableNumber('Discount percentage of that denomination', 2.5),
    discount_amount: nullableNumber('Discount on denomination multiplied by quantity', 5),
  },
  { title: 'Discount' },
)
