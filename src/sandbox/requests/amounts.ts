/** Amounts and counts for people: on the page of the console, and in words. */

const digits = new Map<string, number>()

/** As many decimals as the currency has. */
const digitsOf = (currency: string): number => {
  const known = digits.get(currency)
  if (known !== undefined) return known
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  digits.set(currency, maximumFractionDigits)
  return maximumFractionDigits
}

export const amount = (value: number, currency: string): string => {
  const count = digitsOf(currency)
  return `${value.toLocaleString('en', { minimumFractionDigits: count, maximumFractionDigits: count })} ${currency}`
}

/** `1 row`, `1,200 rows`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`

/** In whole units of the smallest precision, so that nothing is lost to binary fractions. */
const UNITS = 10_000

export const sumOf = (lines: readonly { amount: number }[]): number =>
  lines.reduce((units, line) => units + Math.round(line.amount * UNITS), 0) / UNITS
