/** Amounts and counts for people: on the page of the console, and in words. */

/** With as many decimals as the currency has. */
export const amount = (value: number, currency: string): string => {
  const { maximumFractionDigits: count } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions()
  return `${value.toLocaleString('en', { minimumFractionDigits: count, maximumFractionDigits: count })} ${currency}`
}

/** `1 row`, `1,200 rows`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`

/** In whole units of the smallest precision, so that nothing is lost to binary fractions. */
const UNITS = 10_000

export const sumOf = (lines: readonly { amount: number }[]): number =>
  lines.reduce((units, line) => units + Math.round(line.amount * UNITS), 0) / UNITS
