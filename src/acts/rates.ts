import { findRates } from '../charges/queries.ts'
import { type BaseRates, decimalOf, parseRate, parseRates } from '../charges/rates.ts'
import { mergeRates, replaceRates } from '../charges/stored-rates.ts'
import type { Query, Tx } from '../db/database.ts'
import { misused } from '../kernel/exit.ts'
import { invalid } from '../kernel/failure.ts'
import { RATE_ONE } from '../kernel/money.ts'
import { FileFault } from '../kernel/problems.ts'
import type { Acting, StepContext } from './act.ts'
import { type List, listOf } from './cells.ts'
import { field, type Input } from './fields.ts'
import { listing, making, members, type Noun } from './kind.ts'

/** `scrip rates`: exchange rates in live mode (contract C9). A change applies to the next charge. */

type Rate = { base: string; currency: string; rate: ReturnType<typeof decimalOf> }

const RATE_COLUMNS = members<Rate>('base', 'currency', 'rate')

const SET = {
  pairs: field<'[pairs...]', readonly string[]>(
    '[pairs...]',
    'for example USD/EUR=0.92: one USD buys 0.92 EUR; all for the same base',
    { label: 'Rates' },
  ),
  file: field('--file <file>', '{"base":"USD","rates":{"EUR":"0.92"}}, replaces all rates', {
    isFile: true,
  }),
}

/** @throws FileFault */
const store = (
  tx: Tx,
  { rates, isAll }: { rates: BaseRates; isAll: boolean },
  { reference }: StepContext,
): BaseRates | undefined => {
  const write = isAll ? replaceRates : mergeRates
  write(tx, reference, rates)
  return findRates(tx)
}

const set = async (data: Acting, { pairs = [], file }: Input<typeof SET>): Promise<List> => {
  const isAll = file !== undefined
  if (isAll === pairs.length > 0) {
    throw misused(
      'rates are needed, as pairs or in a file, and not both\nGive either pairs such as USD/EUR=0.92, or --file.',
    )
  }
  const rates = isAll ? parseRates(data.input) : readPairs(pairs)
  try {
    return await data.write((tx) => {
      const before = findRates(tx)
      const stored = store(tx, { rates, isAll }, data)
      data.record(tx, { before: before && ratesFile(before), after: ratesFile(stored) })
      return listOf(RATE_COLUMNS, rows(stored), data)
    })
  } catch (error) {
    throw error instanceof FileFault && !isAll ? misused(error.problems.join('\n')) : error
  }
}

const PAIR = /^([A-Z]{3})\/([A-Z]{3})=(.+)$/i

/** @throws ProgramError */
const readPairs = (pairs: readonly string[]): BaseRates => {
  const perBaseE8 = new Map<string, number>()
  let base: string | undefined
  for (const pair of pairs) {
    const [, from, to, text] = PAIR.exec(pair) ?? []
    if (from === undefined || to === undefined || text === undefined) {
      throw misused(`${pair} is not a rate\nWrite it like USD/EUR=0.92.`)
    }
    const rateE8 = parseRate(text)
    if (typeof rateE8 === 'string') throw misused(`${pair}: ${text} ${rateE8}\nWrite it like USD/EUR=0.92.`)
    base ??= from
    if (from !== base)
      throw misused(`${pair} is for ${from}, and the others for ${base}\nGive all rates for the same base.`)
    if (to === base && rateE8 !== RATE_ONE) throw misused(`${pair}: the base itself is 1, not ${text}\nLeave it out.`)
    if (perBaseE8.has(to)) throw misused(`${pair} is the second rate of ${to}\nGive each currency once.`)
    perBaseE8.set(to, rateE8)
  }
  return { base: base ?? '', perBaseE8 }
}

const rows = (rates: BaseRates | undefined): Rate[] =>
  [...(rates?.perBaseE8 ?? [])].flatMap(([currency, rateE8]) =>
    rates && currency !== rates.base ? [{ base: rates.base, currency, rate: decimalOf(rateE8) }] : [],
  )

const ratesIn = (query: Query) => rows(findRates(query))

/** Rates in the form of a file, in the order of their currencies. */
export const ratesFile = (rates: BaseRates | undefined) => ({
  base: rates?.base ?? '',
  rates: Object.fromEntries(
    rows(rates)
      .map(({ currency, rate }) => [currency, rate] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ),
})

export const rateActs = {
  set: making(
    'Set rates',
    'Set exchange rates: some, or all of them from a file',
    SET,
    store,
    set,
    {
      route: 'PUT /rates',
      id: 'setRates',
      names: 'rates.',
      summary: 'Set all exchange rates of a world',
      description: 'Currencies that are left out no longer have a rate. Held prices of the world are dropped.',
      title: 'ExchangeRatesRequest',
      bodyExample: { base: 'USD', rates: { EUR: '0.92' } },
      wrong: invalid([
        {
          field: 'rates.EUR',
          rule: 'format',
          problem: 'is wrong',
          message: 'rates.EUR: much is not a positive decimal with at most 8 decimals',
        },
      ]),
    },
    { isMoney: true },
  ),
  list: listing('List the exchange rates', RATE_COLUMNS, ratesIn, { inSandbox: 'GET /rates' }),
} satisfies Noun
