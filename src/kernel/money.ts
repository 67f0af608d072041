import { DomainError, type Violation } from './failure.ts'

/**
 * Amounts are integers in minor units of a currency; percentages are integers in basis points; exchange rates are
 * integers in units of 1e-8 (contract C5). There is one rounding, half away from zero, and each published amount is
 * rounded once.
 */

/**
 * The largest amount: 15 significant digits, which every decimal keeps through a JSON number and back. Nearer to
 * 2^53 two amounts a cent apart would be written alike.
 */
export const AMOUNT_MINOR_MAX = 999_999_999_999_999

/** One whole, in basis points: 100 %. */
const BASIS_POINTS_ONE = 10_000
/** The rate 1, in units of 1e-8. */
export const RATE_ONE = 100_000_000

const POWERS_OF_TEN = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000] as const

/** Ten to the power of a currency's precision: how many minor units make one major unit. */
export const minorPerMajor = (precision: number): number => {
  const power = POWERS_OF_TEN[precision]
  if (power === undefined) throw new RangeError(`no currency has ${precision} decimals`)
  return power
}

/**
 * The amount in minor units, or undefined when it has more decimals than the currency.
 * A JSON number stands for the decimal that it is the nearest double to, so the comparison is exact.
 *
 * @throws DomainError amount_too_large when not every minor unit is exact at that size
 */
export const toMinor = (amount: number, precision: number): number | undefined => {
  const scale = minorPerMajor(precision)
  const minor = Math.round(amount * scale)
  if (minor / scale !== amount) return undefined
  return exact(minor)
}

/** The largest amount of one payout or funding, in major units. */
const AMOUNT_MAX = 1_000_000_000

/** What is wrong with the size of an amount that was sent, in major units; undefined when it is right. */
export const sizeFault = (amount: number, precision: number): Omit<Violation, 'field'> | undefined => {
  if (amount * minorPerMajor(precision) > AMOUNT_MINOR_MAX) {
    return { rule: 'max', problem: 'too large', message: 'amount too large' }
  }
  if (amount <= 0) return { rule: 'min', problem: `must be at least ${toMajor(1, precision)}` }
  return amount > AMOUNT_MAX ? { rule: 'max', problem: `must be at most ${AMOUNT_MAX}` } : undefined
}

/** The amount as a JSON number in major units. */
export const toMajor = (minor: number, precision: number): number => minor / minorPerMajor(precision)

/** Basis points as the percentage on the wire: 250 is 2.5. */
export const toPercent = (basisPoints: number): number => basisPoints / 100

/** A rate as the number on the wire. */
export const toRate = (rateE8: number): number => rateE8 / RATE_ONE

/** @throws DomainError amount_too_large */
export const times = (minor: number, count: number): number => exact(minor * count)

/** @throws DomainError amount_too_large */
export const plus = (...amountsMinor: readonly number[]): number => {
  let sum = 0
  for (const amount of amountsMinor) sum = exact(sum + amount)
  return sum
}

/** The share of an amount, rounded half away from zero. */
export const percentOf = (minor: number, basisPoints: number): number =>
  divideRounded(minor, basisPoints, BASIS_POINTS_ONE)

/** The part of an amount that belongs to `part` of `whole` pieces, rounded half away from zero. */
export const shareOf = (minor: number, part: number, whole: number): number => divideRounded(minor, part, whole)

/** An amount in another currency at a rate, rounded half away from zero at that currency's precision. */
export const convert = (minor: number, rateE8: number, fromPrecision: number, toPrecision: number): number => {
  const [scale, unscale] = [minorPerMajor(toPrecision), minorPerMajor(fromPrecision)]
  const multiplier = rateE8 * scale
  return Number.isSafeInteger(multiplier)
    ? divideRounded(minor, multiplier, RATE_ONE * unscale)
    : roundQuotient(BigInt(minor) * BigInt(rateE8) * BigInt(scale), BigInt(RATE_ONE) * BigInt(unscale))
}

/**
 * A fixed fee converted at a rate plus a share of an amount, in the target currency, rounded once: the two parts
 * are added as exact fractions first.
 */
export const feeOf = (fee: {
  fixedMinor: number
  fixedPrecision: number
  rateE8: number
  basisPoints: number
  netMinor: number
  netPrecision: number
}): number => {
  // Where one part is none, or whole, the other is all that is rounded.
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

/** The rate from one currency to another, both given per unit of a base; rounded half away from zero at 1e-8. */
export const crossRate = (fromPerBaseE8: number, toPerBaseE8: number): number =>
  divideRounded(toPerBaseE8, RATE_ONE, fromPerBaseE8)

const scaleOf = (precision: number): bigint => BigInt(minorPerMajor(precision))

/** value × multiplier ÷ divisor, rounded half away from zero; in doubles while those are exact. */
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

/** Half away from zero. The denominator is positive. */
const roundQuotient = (numerator: bigint, denominator: bigint): number => {
  const doubled = (numerator < 0n ? -numerator : numerator) * 2n + denominator
  const magnitude = doubled / (denominator * 2n)
  const rounded = numerator < 0n ? -magnitude : magnitude
  return exact(Number(rounded))
}

/** An amount beyond {@link AMOUNT_MINOR_MAX} is refused, not approximated. */
const exact = (minor: number): number => {
  if (Math.abs(minor) > AMOUNT_MINOR_MAX) throw new DomainError({ code: 'amount_too_large' })
  return minor
}
