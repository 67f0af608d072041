import { unusualDecimals } from './decimals.ts' with { type: 'macro' }

/** Amounts for people: on the pages, and in words. */

const DECIMALS_USUAL = 2
const DECIMALS: Readonly<Record<string, number>> = unusualDecimals()

const decimalsOf = (currency: string): number => DECIMALS[currency] ?? DECIMALS_USUAL

/** With as many decimals as the currency has. */
export const amount = (value: number, currency: string): string => {
  const count = decimalsOf(currency)
  return `${value.toLocaleString('en', { minimumFractionDigits: count, maximumFractionDigits: count })} ${currency}`
}

/** Adds in minor units, so that nothing is lost to binary fractions. */
export const sumOf = (lines: readonly { amount: number }[], currency: string): number => {
  const scale = 10 ** decimalsOf(currency)
  return lines.reduce((minor, line) => minor + Math.round(line.amount * scale), 0) / scale
}
