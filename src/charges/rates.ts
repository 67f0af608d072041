import { Type } from '@sinclair/typebox'
import {
  DocumentFault,
  type Fault,
  type Member,
  membersOf,
  parseDocument,
  withoutByteOrderMark,
} from '../http/document.ts'
import { decimalIn } from '../http/json.ts'
import { RATE_ONE, type Rate } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { World } from '../work/world.ts'

/** The rate between two currencies; undefined without one. Throws if the source fails. */
export type RateSource = (from: string, to: string) => Rate | undefined

/** The rates of each world, which can differ. */
export type WorldRates = (world: World) => RateSource

/** The rates of a file (contract C1), which takes numbers too. */
export const RateTable = Type.Object(
  {
    base: Type.String({ description: 'ISO 4217' }),
    rates: Type.Record(Type.String(), Type.String(), {
      title: 'RatesByCurrency',
      description: 'The units of each currency that one unit of the base buys, as decimals with at most eight places',
    }),
  },
  { title: 'ExchangeRates' },
)

const RATE = /^(0|[1-9]\d*)(?:\.(\d{1,8}))?$/
/** Above it, the eighth decimal is not exact. */
const RATE_E8_MAX = Number.MAX_SAFE_INTEGER
const RATE_MAX = '90071992.54740991'

/** Units of each currency, in 1e-8, for one unit of the base, which is among them as 1. */
export interface BaseRates {
  base: string
  perBaseE8: ReadonlyMap<string, number>
}

/** Rates calculated from the rates against one base. */
export const ratesFrom =
  (perBaseE8: (currency: string) => number | undefined): RateSource =>
  (from, to) => {
    const sourceRateE8 = perBaseE8(from)
    const destinationRateE8 = perBaseE8(to)
    return sourceRateE8 === undefined || destinationRateE8 === undefined
      ? undefined
      : { sourceRateE8, destinationRateE8 }
  }

/** @throws FileFault with every bad row */
export const readRates = (text: string, reference: Reference): BaseRates => {
  const rates = parseRates(text)
  refuseStrangers(rates, reference)
  return rates
}

/** Refuses unknown currency codes, whose rates would never be found. @throws FileFault */
export const refuseStrangers = ({ base, perBaseE8 }: BaseRates, reference: Reference): void => {
  const strange = [...new Set([base, ...perBaseE8.keys()])].filter((code) => !reference.findCurrencyByCode(code))
  if (strange.length === 0) return
  throw new DocumentFault(
    'rates',
    strange.map((code) => ({ path: code === base ? '/base' : `/rates/${code}`, what: `unknown currency ${code}` })),
  )
}

/** @throws FileFault with every bad row */
export const parseRates = (text: string): BaseRates => {
  const document = withoutByteOrderMark(text)
  parseDocument('rates', document)
  const members = membersOf(document)
  if (!members)
    throw new DocumentFault('rates', [
      { path: '/', what: 'must be an object, such as {"base":"USD","rates":{"EUR":"0.92"}}' },
    ])
  const faults: Fault[] = []
  const wrong = (path: string, what: string) => faults.push({ path, what })
  for (const name of repeated(members.filter(({ name }) => name in RateTable.properties)))
    wrong(`/${name}`, 'appears twice')
  const base = members.find(({ name }) => name === 'base')?.value
  if (base === undefined) wrong('/base', 'is missing')
  else if (typeof base !== 'string') wrong('/base', 'must be a currency code, such as "USD"')
  const rates = membersOf(document, 'rates')
  if (!members.some(({ name }) => name === 'rates')) wrong('/rates', 'is missing')
  else if (!rates) wrong('/rates', 'must be an object, such as {"EUR":"0.92"}')
  const perBaseE8 = new Map<string, number>([[String(base), RATE_ONE]])
  for (const name of repeated(rates ?? [])) wrong(`/rates/${name}`, 'appears twice')
  for (const { name, value, source } of rates ?? []) {
    const rate = typeof value === 'number' ? decimalIn(source) : value
    const rateE8 = typeof rate === 'string' ? parseRate(rate) : 'is not a decimal, as a text or a number'
    if (typeof rateE8 === 'string') wrong(`/rates/${name}`, `${typeof rate === 'string' ? rate : source} ${rateE8}`)
    else if (name === base && rateE8 !== RATE_ONE) wrong(`/rates/${name}`, `the base itself is 1, not ${rate}`)
    else perBaseE8.set(name, rateE8)
  }
  if (faults.length > 0) throw new DocumentFault('rates', faults)
  return { base: String(base), perBaseE8 }
}

/** The names that stand more than once. */
const repeated = (members: readonly Member[]): string[] => {
  const once = new Set<string>()
  const again = members.filter(({ name }) => once.size === once.add(name).size)
  return [...new Set(again.map(({ name }) => name))]
}

/** A rate in units of 1e-8, or the problem with it. */
export const parseRate = (text: string): number | string => {
  const [, whole, decimals = ''] = RATE.exec(text) ?? []
  const rateE8 = BigInt(whole === undefined ? 0 : `${whole}${decimals.padEnd(8, '0')}`)
  if (rateE8 === 0n) return 'is not a positive decimal with at most 8 decimals'
  return rateE8 > RATE_E8_MAX ? `is more than ${RATE_MAX}, the largest rate` : Number(rateE8)
}

/** The exact decimal of a rate, as in a file. */
export const decimalOf = (rateE8: number): string => {
  const fraction = String(rateE8 % RATE_ONE)
    .padStart(8, '0')
    .replace(/0+$/, '')
  return `${Math.floor(rateE8 / RATE_ONE)}${fraction === '' ? '' : `.${fraction}`}`
}
