import { Type } from '@sinclair/typebox'

/** A price in the API (spec 2.6): the response of charges, and a part of every order. */

export const nullableNumber = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })
const ChargesDetails = Type.Object(
  {
    source_currency: Type.String({ description: 'Product base currency' }),
    destination_currency: Type.String({ description: 'Wallet currency' }),
    forex_rate: nullableNumber('null when both currencies are the same'),
    conversion_fee: nullableNumber('null when both currencies are the same'),
  },
  { title: 'ChargesDetails' },
)
export const ChargeSchema = Type.Object(
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
