import type { Command } from 'commander'
import { findRates } from '../../charges/queries.ts'
import { type BaseRates, decimalOf, parseRate, parseRates, RatesFault } from '../../charges/rates.ts'
import { mergeRates, replaceRates } from '../../charges/stored-rates.ts'
import { SANDBOX_RATES } from '../../start/seed.ts'
import { dataError } from '../advice.ts'
import { EXIT, ProgramError } from '../exit.ts'
import { listOf } from '../terminal/cells.ts'
import { act } from './acts.ts'
import { administer, dataCommand, otherMode, readInput } from './administration.ts'
import { type ListOptions, limited, listCommand } from './lists.ts'

/** `scrip rates`: what currencies are worth in live mode (contract C9). A change holds for the next charge. */
export const rateCommands = (rates: Command): void => {
  dataCommand(rates, 'set', 'set exchange rates: some, or all of them from a file')
    .argument('[pairs...]', 'for example USD/EUR=0.92: one USD buys 0.92 EUR; all for the same base')
    .option('--file <file>', '{"base":"USD","rates":{"EUR":"0.92"}}, replaces all rates; - reads standard input')
    .action(
      act(async ({ reference, isSandbox, write, record }, pairs: string[], { file }: { file?: string }) => {
        if (isSandbox) throw otherMode('a sandbox has its own rates\nServe it with --rates FILE.')
        if ((file === undefined) === (pairs.length === 0)) {
          throw new ProgramError(
            EXIT.usage,
            'no rates are given, or pairs and a file\nGive pairs such as USD/EUR=0.92, or --file.',
          )
        }
        try {
          const given = file === undefined ? readPairs(pairs) : parseRates(readInput(file))
          return await write((tx) => {
            const before = findRates(tx)
            if (file === undefined) mergeRates(tx, reference, given)
            else replaceRates(tx, reference, given)
            const stored = findRates(tx)
            record(tx, { before: facts(before), after: facts(stored) })
            return listOf(COLUMNS, rows(stored))
          })
        } catch (error) {
          if (!(error instanceof RatesFault)) throw error
          if (file === undefined) throw new ProgramError(EXIT.usage, error.problems.join('\n'))
          throw dataError(error, file)
        }
      }),
    )
  listCommand(rates, 'list', 'list the exchange rates').action(
    administer(({ database, isSandbox }, options: ListOptions) => {
      const stored = isSandbox ? parseRates(SANDBOX_RATES) : findRates(database.query)
      return listOf(COLUMNS, limited(rows(stored), options))
    }),
  )
}

const PAIR = /^([A-Z]{3})\/([A-Z]{3})=(.+)$/

/** @throws ProgramError */
const readPairs = (pairs: readonly string[]): BaseRates => {
  const perBaseE8 = new Map<string, number>()
  let base: string | undefined
  for (const pair of pairs) {
    const [, from, to, text] = PAIR.exec(pair) ?? []
    if (from === undefined || to === undefined || text === undefined || from === to) {
      throw new ProgramError(EXIT.usage, `${pair} is no rate\nWrite it like USD/EUR=0.92.`)
    }
    const rateE8 = parseRate(text)
    if (typeof rateE8 === 'string')
      throw new ProgramError(EXIT.usage, `${pair}: ${text} ${rateE8}\nWrite it like USD/EUR=0.92.`)
    base ??= from
    if (from !== base)
      throw new ProgramError(
        EXIT.usage,
        `${pair} is for ${from}, and the others for ${base}\nGive all rates for the same base.`,
      )
    perBaseE8.set(to, rateE8)
  }
  return { base: base ?? '', perBaseE8 }
}

const COLUMNS = ['base', 'currency', 'rate'] as const

const rows = (rates: BaseRates | undefined) =>
  [...(rates?.perBaseE8 ?? [])]
    .filter(([currency]) => currency !== rates?.base)
    .map(([currency, rateE8]) => ({ base: rates?.base ?? null, currency, rate: decimalOf(rateE8) }))

/** For the audit. */
const facts = (rates: BaseRates | undefined) =>
  rates && { base: rates.base, rates: Object.fromEntries(rows(rates).map(({ currency, rate }) => [currency, rate])) }
