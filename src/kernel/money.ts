import { DomainError, type Failure, type Violation } from './failure.ts'

const sizeFailure = (rule: 'min' | 'max', problem: string): Failure => ({
  code: `amount_${problem.replace(' ', '_')}`,
  kind: 'VALIDATION_FAILURE',
  message: 'Input validation failed.',
  violations: [{ field: 'amount', rule, problem, message: `amount ${problem}` }],
})

/** An amount that is larger, or smaller, than any that can be paid (contract C5). */
export const AMOUNT_TOO_LARGE = sizeFailure('max', 'too large')
export const AMOUNT_TOO_SMALL = sizeFailure('min', 'too small')

/**
 * Amounts are integers in minor units of a currency, percentages integers in basis points, and exchange rates integers in
 * units of 1e-8 (contract C5). Each published amount is rounded once, half away from zero.
 */

/** The largest amount: decimals of 15 significant digits survive a double; not all of 16 digits do (decision 6). */
export const AMOUNT_MINOR_MAX = 999_999_999_999_999

/** 100 % in basis points. */
const BASIS_POINTS_ONE = 10_000
/** The rate 1, in units of 1e-8. */
export const RATE_ONE = 100_000_000

const POWERS_OF_TEN = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000] as const

/** The number of minor units in a major unit. */
export const minorPerMajor = (precision: number): number => {
  const power = POWERS_OF_TEN[precision]
  if (power === undefined) throw new RangeError(`no currency has ${precision} decimals`)
  return power
}

/**
 * The amount in minor units, or undefined if it has more decimals than the currency. The comparison is exact, because a
 * JSON number means the decimal whose nearest double it is.
 *
 * @throws DomainError amount_too_large
 */
export const toMinor = (amount: number, precision: number): number | undefined => {
  const scale = minorPerMajor(precision)
  const minor = Math.round(amount * scale)
  if (minor / scale !== amount) return undefined
  return exact(minor)
}

/** The largest amount of one payout or funding, in major units. */
const AMOUNT_MAX = 1_000_000_000

/** The violation of an amount in major units that is too small or too large, or undefined. */
export const sizeFault = (amount: number, precision: number): Omit<Violation, 'field'> | undefined => {
  if (amount * minorPerMajor(precision) > AMOUNT_MINOR_MAX) {
    return { rule: 'max', problem: 'too large', message: 'amount too large' }
  }
  if (amount <= 0) return { rule: 'min', problem: `must be at least ${toMajor(1, precision)}` }
  return amount > AMOUNT_MAX ? { rule: 'max', problem: `must be at most ${AMOUNT_MAX}` } : undefined
}

export const toMajor = (minor: number, precision: number): number => minor / minorPerMajor(precision)

/** The percentage in the API: 250 is 2.5. */
export const toPercent = (basisPoints: number): number => basisPoints / 100

/** A percentage in basis points, or undefined when it has more than two decimals. */
export const toBasisPoints = (percent: number): number | undefined => toMinor(percent, 2)

/** The exchange rate in the API. */
export const toRate = (rateE8: number): number => rateE8 / RATE_ONE

/** @throws DomainError amount_too_large */
export const times = (minor: number, count: number): number => exact(minor * count)

/** @throws DomainError amount_too_large */
export const plus = (...amountsMinor: readonly number[]): number => {
  let sum = 0
  for (const amount of amountsMinor) sum = exact(sum + amount)
  return sum
}

export const percentOf = (minor: number, basisPoints: number): number =>
  divideRounded(minor, basisPoints, BASIS_POINTS_ONE)

/** The share of `part` of `whole` pieces in an amount. */
export const shareOf = (minor: number, part: number, whole: number): number => divideRounded(minor, part, whole)

/** An amount in another currency, rounded to that currency's precision. */
export const convert = (minor: number, rateE8: number, fromPrecision: number, toPrecision: number): number => {
  const [scale, unscale] = [minorPerMajor(toPrecision), minorPerMajor(fromPrecision)]
  const multiplier = rateE8 * scale
  return Number.isSafeInteger(multiplier)
    ? divideRounded(minor, multiplier, RATE_ONE * unscale)
    : roundQuotient(BigInt(minor) * BigInt(rateE8) * BigInt(scale), BigInt(RATE_ONE) * BigInt(unscale))
}

/** A fixed fee, converted, plus a percentage of an amount. Both are added as exact fractions and rounded once. */
export const feeOf = (fee: {
  fixedMinor: number
  fixedPrecision: number
  rateE8: number
  basisPoints: number
  netMinor: number
  netPrecision: number
}): number => {
  // If one part is zero or an integer, only the other part is rounded.
  if (fee.fixedMinor === 0) return percentOf(fee.netMinor, fee.basisPoints)
  if (fee.basisPoints === 0) return convert(fee.fixedMinor, fee.rateE8, fee.fixedPrecision, fee.netPrecision)
  if (fee.rateE8 === RATE_ONE && fee.fixedPrecision === fee.netPrecision) {
    return plus(fee.fixedMinor, percentOf(fee.netMinor, fee.basisPoints))
  }
  const denominator = BigInt(RATE_ONE) * scaleOf(fee.fixedPrecision) * BigInt(BASIS_POINTS_ONE)
  const fixed = BigInt(fee.fixedMinor) * BigInt(fee.rateE8) * scaleOf(fee.netPrecision) * BigInt(BASIS_POINTS_ONE)
  const share = BigInt(fee.netMinor) * BigInt(fee.basisPoints) * BigInt(RATE_ONE) * scaleOf(fee.fixedPrecision)
  return roundQuotient(fixed + share, denominator)
}

/** The rate between two currencies whose rates are given per unit of a base currency. */
export const crossRate = (fromPerBaseE8: number, toPerBaseE8: number): number =>
  divideRounded(toPerBaseE8, RATE_ONE, fromPerBaseE8)

const scaleOf = (precision: number): bigint => BigInt(minorPerMajor(precision))

/** value × multiplier ÷ divisor, rounded; in doubles if they are exact, otherwise in BigInt. */
const divideRounded = (value: number, multiplier: number, divisor: number): number => {
  const product = value * multiplier
  // Twice the product must be exact too: the half is found by comparing 2 × remainder with the divisor.
  if (value >= 0 && product <= Number.MAX_SAFE_INTEGER) {
    const remainder = product % divisor
    const quotient = (product - remainder) / divisor
    return exact(remainder * 2 >= divisor ? quotient + 1 : quotient)
  }
  return roundQuotient(BigInt(value) * BigInt(multiplier), BigInt(divisor))
}

/** Rounds half away from zero. The denominator is positive. */
const roundQuotient = (numerator: bigint, denominator: bigint): number => {
  const doubled = (numerator < 0n ? -numerator : numerator) * 2n + denominator
  const magnitude = doubled / (denominator * 2n)
  const rounded = numerator < 0n ? -magnitude : magnitude
  return exact(Number(rounded))
}

const exact = (minor: number): number => {
  if (Math.abs(minor) > AMOUNT_MINOR_MAX) throw new DomainError(AMOUNT_TOO_LARGE)
  return minor
}
