import { crossRate, RATE_ONE } from '../kernel/money.ts'

/**
 * Where exchange rates come from. Answers how many units of `to` one unit of `from` buys, in units of 1e-8, or
 * undefined when the pair has no rate. Throws when it cannot be asked.
 */
export type RateSource = (from: string, to: string) => number | undefined

/** Units of each currency for one unit of the base, as decimal strings with at most eight decimals (contract C1). */
export interface RateTable {
  base: string
  rates: Record<string, string>
}

/** What is wrong with a file of rates, each with its place. */
export class RatesFault extends Error {
  override readonly name = 'RatesFault'

  constructor(readonly problems: readonly string[]) {
    super(
      `The exchange rates have ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.join('\n')}`,
    )
  }
}

const RATE = /^(0|[1-9]\d{0,11})(?:\.(\d{1,8}))?$/

/**
 * A source that answers from a table.
 *
 * @throws RatesFault with every bad row
 */
export const tableRates = (table: RateTable): RateSource => {
  const perBaseE8 = new Map<string, number>([[table.base, RATE_ONE]])
  const problems: string[] = []
  for (const [currency, text] of Object.entries(table.rates)) {
    const rateE8 = parseRate(text)
    if (rateE8 === undefined)
      problems.push(`/rates/${currency}: ${text} is not a positive decimal with at most 8 decimals`)
    else if (currency === table.base && rateE8 !== RATE_ONE)
      problems.push(`/rates/${currency}: the base itself is 1, not ${text}`)
    else perBaseE8.set(currency, rateE8)
  }
  if (problems.length > 0) throw new RatesFault(problems)
  return (from, to) => {
    const fromE8 = perBaseE8.get(from)
    const toE8 = perBaseE8.get(to)
    if (fromE8 === undefined || toE8 === undefined) return undefined
    // A rate too small for eight decimals is no rate.
    return crossRate(fromE8, toE8) || undefined
  }
}

/** @throws RatesFault when the text is not a table of rates */
export const readRates = (text: string): RateSource => {
  let table: unknown
  try {
    table = JSON.parse(text)
  } catch (error) {
    throw new RatesFault([`not JSON: ${error instanceof Error ? error.message : String(error)}`])
  }
  if (!isRateTable(table)) throw new RatesFault(['/: expected {"base":"USD","rates":{"EUR":"0.92"}}'])
  return tableRates(table)
}

const isRateTable = (value: unknown): value is RateTable =>
  typeof value === 'object' &&
  value !== null &&
  'base' in value &&
  typeof value.base === 'string' &&
  'rates' in value &&
  typeof value.rates === 'object' &&
  value.rates !== null &&
  Object.values(value.rates).every((rate) => typeof rate === 'string')

const parseRate = (text: string): number | undefined => {
  const match = RATE.exec(text)
  if (!match) return undefined
  const rateE8 = Number(`${match[1]}${(match[2] ?? '').padEnd(8, '0')}`)
  return rateE8 > 0 && Number.isSafeInteger(rateE8) ? rateE8 : undefined
}
