import { TypeCompiler } from '@sinclair/typebox/compiler'
import { toBasisPoints, toMinor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { ApiProduct, type ProductDocument, ProductEntry } from './file-schema.ts'
import { type Fault, schemaFaults, unwritable } from './json-file.ts'

/** Reads and checks one product of a catalog file, in the file's shape or in that of the API. */

/** The maximum quantity of a product in the API's shape, which has no such member (contract C8). */
const API_MAX_QUANTITY = 50

type ReadEntry = (entry: unknown) => { product?: ProductDocument; faults: Fault[] }

export const fileReader = (): ReadEntry => {
  const check = TypeCompiler.Compile(ProductEntry)
  return (entry) => (check.Check(entry) ? { product: entry, faults: [] } : { faults: schemaFaults(check, entry) })
}

/** Reads products in the API's shape, and adds what they lack. */
export const apiReader = (): ReadEntry => {
  const check = TypeCompiler.Compile(ApiProduct)
  return (entry) => {
    if (!check.Check(entry)) return { faults: schemaFaults(check, entry) }
    const { country_code: country, currency_code: currency, available_denominations: denominations } = entry
    const { id, name, category, sub_category, image_url, delivery_mode, delivery_time, validity } = entry
    return {
      product: {
        ...{ id, name, category, sub_category, country, currency },
        ...(image_url && { image_url }),
        ...{ delivery_mode, delivery_time, validity },
        ...{ terms: entry.terms ?? '', details: entry.details ?? '', how_to_use: entry.how_to_use ?? '' },
        ...{ active: true, stock: null, max_quantity: API_MAX_QUANTITY, gst_percent: 0 },
        handling_fee: { fixed: 0, percent: 0 },
        denominations,
      },
      faults: [],
    }
  }
}

const API_NAMES = [
  ['/country_code', '/country'],
  ['/currency_code', '/currency'],
  ['/available_denominations', '/denominations'],
] as const

/** The path of a member in the API's shape. */
export const apiPath = (path: string): string => {
  const renamed = API_NAMES.find(([, file]) => path === file || path.startsWith(`${file}/`))
  return renamed ? path.replace(renamed[1], renamed[0]) : path
}

/** The problems of a product that matches the schema. */
export const problemsOf = (entry: ProductDocument, reference: Reference): Fault[] => {
  const problems = unwritable(entry)
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
