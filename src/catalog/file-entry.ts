import type { Fault } from '../http/document.ts'
import type { JsonObject } from '../http/json.ts'
import { toBasisPoints, toMinor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { type ProductDocument, ProductEntry } from './file-schema.ts'

/** One product of a catalog file, in the file's shape or in that of the API. */

/** The members that the API names otherwise. */
const API_NAMES: Readonly<Record<string, string>> = {
  country: 'country_code',
  currency: 'currency_code',
  denominations: 'available_denominations',
}

const MEMBERS = Object.keys(ProductEntry.properties)

/** Members that a product in the API's shape can lack, and those that it never has (contract C8). */
const OPTIONAL_IN_API = { terms: '', details: '', how_to_use: '' }
const NOT_IN_API = {
  ...{ active: true, stock: null, max_quantity: 50, gst_percent: 0 },
  handling_fee: { fixed: 0, percent: 0 },
}

/** A product in the API's shape as one of a file, without other members. */
export const fromApi = (sent: unknown): unknown => {
  if (typeof sent !== 'object' || sent === null) return sent
  const entry: JsonObject = { ...OPTIONAL_IN_API }
  for (const name of MEMBERS) {
    const value = (sent as JsonObject)[API_NAMES[name] ?? name]
    if (value !== undefined && value !== null) entry[name] = value
  }
  return Object.assign(entry, NOT_IN_API)
}

/** The path of a member in the API's shape. */
export const apiPath = (path: string): string => {
  const [, name = '', ...rest] = path.split('/')
  return path && ['', API_NAMES[name] ?? name, ...rest].join('/')
}

/** The problems of a product that the schema allows. */
export const problemsOf = (entry: ProductDocument, reference: Reference): Fault[] => {
  const problems: Fault[] = []
  const wrong = (path: string, what: string) => problems.push({ path, what })
  if (entry.image_url !== undefined && !URL.canParse(entry.image_url)) wrong('/image_url', 'is not an address')
  if (!reference.findCountryByAlpha3(entry.country)) wrong('/country', `no country has the code ${entry.country}`)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (!currency) {
    wrong('/currency', `unknown currency ${entry.currency}`)
    return problems
  }
  const amount = (place: string, value: number): void => {
    if (toMinor(value, currency.precision) === undefined) {
      wrong(place, `${entry.currency} has ${currency.precision} decimals, ${value} has more`)
    }
  }
  const percent = (place: string, value: number): void => {
    if (toBasisPoints(value) === undefined) wrong(place, `a percentage has at most two decimals, ${value} has more`)
  }
  percent('/gst_percent', entry.gst_percent)
  percent('/handling_fee/percent', entry.handling_fee.percent)
  amount('/handling_fee/fixed', entry.handling_fee.fixed)
  entry.denominations.forEach((band, index) => {
    const at = `/denominations/${index}`
    amount(`${at}/min_value`, band.min_value)
    amount(`${at}/max_value`, band.max_value)
    percent(`${at}/discount`, band.discount)
    if (band.max_value < band.min_value) wrong(`${at}/max_value`, `${band.max_value} is below min_value`)
  })
  return problems
}
