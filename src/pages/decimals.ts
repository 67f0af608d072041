import currencies from '../../seed/currencies.json' with { type: 'text' }

/**
 * The decimals of each currency that does not have two (contract C8). A browser has its own, and shows 16 of the circulating
 * currencies without any. A macro, so that a page carries only these few.
 */
export const unusualDecimals = (): Record<string, number> => {
  const all = JSON.parse(currencies) as { currency: string; precision: number }[]
  return Object.fromEntries(
    all.filter(({ precision }) => precision !== 2).map(({ currency, precision }) => [currency, precision]),
  )
}
