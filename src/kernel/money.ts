import { aboveMax, belowMin, DomainError, type Failure, type Problem } from './failure.ts'

const sizeFailure = (rule: 'min' | 'max', size: 'small' | 'large'): Failure => ({
  code: `amount_too_${size}`,
  kind: 'VALIDATION_FAILURE',
  message: 'Input validation failed.',
  violations: [{ field: 'amount', rule, problem: `too ${size}`, message: `amount too ${size}` }],
})

/** Contract C5. */
export const AMOUNT_TOO_LARGE = sizeFailure('max', 'large')
export const AMOUNT_TOO_SMALL = sizeFailure('min', 'small')

/** Amounts, percentages and rates are integers: minor units, basis points, units of 1e-8 (contract C5). */

/** The largest amount: decimals of 15 significant digits survive a double; not all of 16 digits do (decision 6). */
export const AMOUNT_MINOR_MAX = 999_999_999_999_999

/** 100 % in basis points. */
const BASIS_POINTS_ONE = 10_000
/** The rate 1, in units of 1e-8. */
export const RATE_ONE = 100_000_000

/**
 * The rate between two currencies: the quotient of the two that were given (contract C5), which are the units of each for one
 * unit of the base, in 1e-8. Rounding it would make an amount wrong by more than the last digit.
 */
export interface Rate {
  sourceRateE8: number
  destinationRateE8: number
}

/** The rate of a currency to itself. */
export const PAR: Rate = { sourceRateE8: RATE_ONE, destinationRateE8: RATE_ONE }

/** The rate that a record keeps; undefined if nothing was converted. */
export const keptRate = ({
  sourceRateE8,
  destinationRateE8,
}: { [Side in keyof Rate]: number | null }): Rate | undefined =>
  sourceRateE8 === null || destinationRateE8 === null ? undefined : { sourceRateE8, destinationRateE8 }

const POWERS_OF_TEN = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000] as const

export const minorPerMajor = (precision: number): number => {
  const power = POWERS_OF_TEN[precision]
  if (power === undefined) throw new RangeError(`no currency has ${precision} decimals`)
  return power
}

/** Undefined if the amount has too many decimals. A double names one decimal. @throws DomainError amount_too_large */
export const toMinor = (amount: number, precision: number): number | undefined => {
  const scale = minorPerMajor(precision)
  const minor = Math.round(amount * scale)
  if (minor / scale !== amount) return undefined
  return exact(minor)
}

/** In major units. */
const AMOUNT_MAX = 1_000_000_000

/** The problem of an amount in major units; undefined if there is none. */
export const sizeFault = (amount: number, precision: number): Problem | undefined => {
  if (amount * minorPerMajor(precision) > AMOUNT_MINOR_MAX) {
    return { rule: 'max', problem: 'too large', message: 'amount too large' }
  }
  if (amount <= 0) return belowMin(toMajor(1, precision))
  return amount > AMOUNT_MAX ? aboveMax(AMOUNT_MAX) : undefined
}

export const toMajor = (minor: number, precision: number): number => minor / minorPerMajor(precision)

/** The percentage in the API: 250 is 2.5. */
export const toPercent = (basisPoints: number): number => basisPoints / 100

/** Undefined if there are more than two decimals. */
export const toBasisPoints = (percent: number): number | undefined => toMinor(percent, 2)

const RATE_DIGITS = 12

/** The rate in the API: the quotient with twelve significant digits. */
export const toRate = ({ sourceRateE8, destinationRateE8 }: Rate): number => {
  const decimals = RATE_DIGITS - 1 - Math.floor(Math.log10(destinationRateE8 / sourceRateE8))
  const [over, under] = [BigInt(destinationRateE8), BigInt(sourceRateE8)]
  const digits =
    decimals < 0 ? quotient(over, under * 10n ** BigInt(-decimals)) : quotient(over * 10n ** BigInt(decimals), under)
  return Number(`${digits}e${-decimals}`)
}

/** @throws DomainError amount_too_large */
export const times = (minor: number, count: number): number => exact(minor * count)

/** @throws DomainError amount_too_large */
export const plus = (...amountsMinor: readonly number[]): number => {
  let sum = 0
  for (const amount of amountsMinor) sum = exact(sum + amount)
  return sum
}

export const percentOf = (minor: number, basisPoints: number): number => shareOf(minor, basisPoints, BASIS_POINTS_ONE)

export const shareOf = (minor: number, part: number, whole: number): number =>
  roundQuotient(BigInt(minor) * BigInt(part), BigInt(whole))

export const convert = (
  minor: number,
  { sourceRateE8, destinationRateE8 }: Rate,
  fromPrecision: number,
  toPrecision: number,
): number =>
  roundQuotient(
    BigInt(minor) * BigInt(destinationRateE8) * scaleOf(toPrecision),
    BigInt(sourceRateE8) * scaleOf(fromPrecision),
  )

/** A converted fixed fee plus a percentage of an amount, added as exact fractions and rounded once. */
export const feeOf = (fee: {
  fixedMinor: number
  fixedPrecision: number
  rate: Rate
  basisPoints: number
  netMinor: number
  netPrecision: number
}): number => {
  const [sourceE8, destinationE8] = [BigInt(fee.rate.sourceRateE8), BigInt(fee.rate.destinationRateE8)]
  const denominator = sourceE8 * scaleOf(fee.fixedPrecision) * BigInt(BASIS_POINTS_ONE)
  const fixed = BigInt(fee.fixedMinor) * destinationE8 * scaleOf(fee.netPrecision) * BigInt(BASIS_POINTS_ONE)
  const share = BigInt(fee.netMinor) * BigInt(fee.basisPoints) * sourceE8 * scaleOf(fee.fixedPrecision)
  return roundQuotient(fixed + share, denominator)
}

const scaleOf = (precision: number): bigint => BigInt(minorPerMajor(precision))

/** @throws DomainError amount_too_large */
const roundQuotient = (numerator: bigint, denominator: bigint): number =>
  exact(Number(quotient(numerator, denominator)))

/** Rounds half away from zero. The denominator is positive. */
const quotient = (numerator: bigint, denominator: bigint): bigint => {
  const doubled = (numerator < 0n ? -numerator : numerator) * 2n + denominator
  const magnitude = doubled / (denominator * 2n)
  return numerator < 0n ? -magnitude : magnitude
}

const exact = (minor: number): number => {
  if (Math.abs(minor) > AMOUNT_MINOR_MAX) throw new DomainError(AMOUNT_TOO_LARGE)
  return minor
}
