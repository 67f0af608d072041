/**
 * Exact arithmetic to compare ours with: fractions of whole numbers of any size, and one rounding, half away from zero.
 * It knows nothing of minor units, basis points or the range of doubles.
 */
export interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/** The value of a decimal, as JSON writes numbers. */
export const fraction = (decimal: string | number): Fraction => {
  const match = DECIMAL.exec(String(decimal))
  if (!match) throw new Error(`${decimal} is not a decimal`)
  const [, sign = '', whole = '', decimals = '', exponent = '0'] = match
  const shift = Number(exponent) - decimals.length
  const digits = BigInt(`${sign}${whole}${decimals}`)
  return shift >= 0
    ? { over: digits * 10n ** BigInt(shift), under: 1n }
    : { over: digits, under: 10n ** BigInt(-shift) }
}

export const plus = (a: Fraction, b: Fraction): Fraction => ({
  over: a.over * b.under + b.over * a.under,
  under: a.under * b.under,
})
export const times = (a: Fraction, b: Fraction): Fraction => ({ over: a.over * b.over, under: a.under * b.under })
/** The number of units of the last decimal, rounded half away from zero. */
export const unitsOf = (a: Fraction, decimals: number): bigint => {
  const scaled = a.over * 10n ** BigInt(decimals)
  const magnitude = scaled < 0n ? -scaled : scaled
  const down = magnitude / a.under
  const units = (magnitude - down * a.under) * 2n >= a.under ? down + 1n : down
  return scaled < 0n ? -units : units
}
