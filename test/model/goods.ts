import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The seed data that the model knows before the first request: currencies, rates and products. */

const read = <Content>(file: string): Content =>
  JSON.parse(readFileSync(join(import.meta.dir, '../../seed', file), 'utf8')) as Content

export interface Currency {
  id: number
  currency: string
  precision: number
}

export interface Product {
  id: number
  name: string
  category: string
  sub_category: string
  country: string
  currency: string
  delivery_mode: string
  delivery_time: string
  active: boolean
  stock: number | null
  max_quantity: number
  gst_percent: number
  handling_fee: { fixed: number; percent: number }
  denominations: { min_value: number; max_value: number; discount: number }[]
}

const currencies = read<Currency[]>('currencies.json')
const byCode = new Map(currencies.map((currency) => [currency.currency, currency]))

/** Units of each currency for one US dollar, as decimals. */
export type Rates = ReadonlyMap<string, string>
export const seededRates: Rates = new Map([
  ['USD', '1'],
  ...Object.entries(read<{ rates: Record<string, string> }>('rates.json').rates),
])

export const countries = read<{ id: number; alpha_2: string; alpha_3: string }[]>('countries.json')

export const findCurrency = (code: string): Currency | undefined => byCode.get(code)

export const currencyOf = (code: string): Currency => {
  const currency = byCode.get(code)
  if (!currency) throw new Error(`the model knows no currency ${code}`)
  return currency
}

export const seeded = read<{ products: Product[] }>('catalog.json').products

const card = (id: number, currency: string, change: Partial<Product>): Product => ({
  id,
  name: `Card ${id}`,
  category: 'Groceries',
  sub_category: 'Supermarkets',
  country: 'IND',
  currency,
  delivery_mode: 'digital',
  delivery_time: 'instant',
  active: true,
  stock: null,
  max_quantity: 50,
  gst_percent: 0,
  handling_fee: { fixed: 0, percent: 0 },
  denominations: [{ min_value: 1, max_value: 1_000, discount: 0 }],
  ...change,
})

/** A catalog of extremes: amounts that round to zero, cost nothing or are too large; little stock. */
export const edges: Product[] = [
  card(1, 'USD', { gst_percent: 18, handling_fee: { fixed: 0.5, percent: 1.1 } }),
  card(2, 'VND', { max_quantity: 5_000 }),
  card(3, 'JPY', { delivery_time: '24 hours', gst_percent: 10, max_quantity: 20 }),
  card(4, 'KWD', { denominations: [{ min_value: 0.01, max_value: 250, discount: 1.25 }] }),
  card(5, 'EUR', { delivery_mode: 'physical', delivery_time: '3-5 business days', stock: 12 }),
  card(6, 'USD', { denominations: [{ min_value: 1, max_value: 100, discount: 100 }] }),
  card(7, 'USD', {
    denominations: [{ min_value: 1, max_value: 100, discount: 100 }],
    handling_fee: { fixed: 0.01, percent: 0 },
  }),
  card(8, 'INR', {
    max_quantity: 1_000_000_000,
    denominations: [{ min_value: 1, max_value: 1_000_000_000, discount: 0 }],
  }),
  card(9, 'USD', { stock: 3, max_quantity: 10 }),
  card(10, 'KES', {}),
  card(11, 'INR', { active: false }),
]

/** A product in the form of a catalog file. */
export const fileEntry = (product: Product): object => ({
  ...product,
  validity: '12 months',
  terms: '',
  details: '',
  how_to_use: '',
})
