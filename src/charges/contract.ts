import { type Static, Type } from '@sinclair/typebox'
import { BANDS_EXAMPLE, BandSchema, Denomination, Quantity } from '../catalog/contract.ts'
import { Id, withExample } from '../http/schemas.ts'
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

/** The errors of a module that quotes a price, by their stable names, in the order of contract C9. */
export const quoteErrors = (module: string): Record<string, Failure> => ({
  [`${module}.denomination_not_offered`]: DENOMINATION_NOT_OFFERED,
  [`${module}.quantity_exceeded`]: quantityExceeded(50),
  [`${module}.wallet_not_found`]: PAYING_WALLET_NOT_FOUND,
  [`${module}.rate_missing`]: rateMissing('USD', 'KES'),
  [`${module}.rate_failed`]: RATE_FAILED,
  [`${module}.amount_too_large`]: AMOUNT_TOO_LARGE,
  [`${module}.amount_too_small`]: AMOUNT_TOO_SMALL,
})

const REQUEST_EXAMPLE = { denomination: 100, quantity: 2 }
export const ChargesBody = withExample(
  Type.Object(
    { denomination: Denomination, quantity: Quantity, wallet_id: Type.Optional(Id) },
    { title: 'ChargesRequest' },
  ),
  REQUEST_EXAMPLE,
)
export const DiscountBody = withExample(
  Type.Object(
    { denomination: Type.Optional(Denomination), quantity: Type.Optional(Quantity) },
    { title: 'DiscountRequest' },
  ),
  REQUEST_EXAMPLE,
)

const nullableNumber = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })
const ChargesDetails = Type.Object(
  {
    source_currency: Type.String({ description: 'Product base currency' }),
    destination_currency: Type.String({ description: 'Wallet currency' }),
    forex_rate: nullableNumber('null when both currencies are the same'),
    conversion_fee: nullableNumber('null when both currencies are the same'),
  },
  { title: 'ChargesDetails' },
)
/** The published example (contract C9). */
export const CHARGE_EXAMPLE = {
  non_discounted_total: 200,
  discount_amount: 5,
  total_amount: 195,
  discount: 2.5,
  gst_amount: 35.1,
  total_payable: 230.1,
  max_quantity: 50,
  net_amount: 195,
  handling_fee_amount: 0,
  charges_details: { source_currency: 'INR', destination_currency: 'INR', forex_rate: null, conversion_fee: null },
}
export const ChargeSchema = withExample(
  Type.Object(
    {
      non_discounted_total: Type.Number({ description: 'denomination multiplied by quantity' }),
      discount_amount: Type.Number(),
      total_amount: Type.Number({ description: 'After discount, before taxes and fees' }),
      discount: Type.Number({ description: 'Discount percentage applied' }),
      gst_amount: Type.Number(),
      total_payable: Type.Number({ description: 'Amount that the wallet pays' }),
      max_quantity: Type.Integer(),
      net_amount: Type.Number({ description: 'total_amount in the currency of the wallet' }),
      handling_fee_amount: Type.Number(),
      charges_details: ChargesDetails,
    },
    { title: 'Charges' },
  ),
  CHARGE_EXAMPLE,
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
      forex_rate: price.rateE8 === undefined ? null : toRate(price.rateE8),
      conversion_fee: price.conversionFeeMinor === undefined ? null : inDestination(price.conversionFeeMinor),
    },
  }
}

export const DiscountSchema = withExample(
  Type.Object(
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
  ),
  {
    product_id: 1,
    currency_code: 'INR',
    discounts: BANDS_EXAMPLE,
    denomination: 100,
    quantity: 2,
    discount: 2.5,
    discount_amount: 5,
  },
)
