import { DomainError } from '../kernel/failure.ts'
import { AMOUNT_TOO_SMALL, convert, feeOf, PAR, percentOf, plus, type Rate, times } from '../kernel/money.ts'
import type { Currency } from '../reference/reference.ts'

/** The inputs of a price (contract C9). Amounts are in minor units of the product's currency. */
interface PriceInputs {
  denominationMinor: number
  quantity: number
  discountBasisPoints: number
  gstBasisPoints: number
  feeFixedMinor: number
  feeBasisPoints: number
  source: Currency
  destination: Currency
  /** Undefined if both currencies are the same. */
  rate: Rate | undefined
  conversionBasisPoints: number
}

/** The parts of a price, each rounded once: in the product's currency down to `totalMinor`, then in the wallet's. */
export type Price = ReturnType<typeof priceOf>

/**
 * Prices a purchase in the eight steps of contract C9.
 * @throws DomainError amount_too_large, or amount_too_small if it would cost nothing (contract C5)
 */
export const priceOf = (inputs: PriceInputs) => {
  const { source, destination, quantity, discountBasisPoints, rate } = inputs
  const nonDiscountedTotalMinor = times(inputs.denominationMinor, quantity)
  const discountMinor = percentOf(nonDiscountedTotalMinor, discountBasisPoints)
  const totalMinor = nonDiscountedTotalMinor - discountMinor // derived, so that the three always add up
  const netMinor = rate === undefined ? totalMinor : convert(totalMinor, rate, source.precision, destination.precision)
  const gstMinor = percentOf(netMinor, inputs.gstBasisPoints)
  const handlingFeeMinor = feeOf({
    fixedMinor: inputs.feeFixedMinor,
    fixedPrecision: source.precision,
    rate: rate ?? PAR,
    basisPoints: inputs.feeBasisPoints,
    netMinor,
    netPrecision: destination.precision,
  })
  const conversionFeeMinor = rate === undefined ? undefined : percentOf(netMinor, inputs.conversionBasisPoints)
  const totalPayableMinor = plus(netMinor, gstMinor, handlingFeeMinor, conversionFeeMinor ?? 0)
  if (totalPayableMinor === 0) throw new DomainError(AMOUNT_TOO_SMALL)
  return {
    source,
    destination,
    quantity,
    nonDiscountedTotalMinor,
    discountBasisPoints,
    discountMinor,
    totalMinor,
    netMinor,
    gstMinor,
    handlingFeeMinor,
    rate,
    conversionFeeMinor,
    totalPayableMinor,
  }
}
