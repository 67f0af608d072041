import { PRODUCT_NOT_FOUND } from '../catalog/errors.ts'
import { BODY_UNREADABLE, invalidId } from '../http/failures.ts'
import { badRequest, type Failure, violation } from '../kernel/failure.ts'
import { AMOUNT_TOO_LARGE, AMOUNT_TOO_SMALL } from '../kernel/money.ts'

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

export const GET_DISCOUNTS_ERRORS = {
  'discount.invalid_id': invalidId('product'),
  'discount.body_unreadable': BODY_UNREADABLE,
  'discount.validation': violation('denomination', 'min', 'must be at least 0.01'),
  'discount.not_found': PRODUCT_NOT_FOUND,
  'discount.denomination_not_offered': DENOMINATION_NOT_OFFERED,
}

export const CALCULATE_CHARGES_ERRORS = {
  'charges.invalid_id': invalidId('product'),
  'charges.body_unreadable': BODY_UNREADABLE,
  'charges.validation': violation('denomination', 'min', 'must be at least 0.01'),
  'charges.not_found': PRODUCT_NOT_FOUND,
  ...quoteErrors('charges'),
}
