import brandRows from './brands.json'
import { makeCurrencies } from './currencies.ts'
import marketTable from './markets.json'
import { type Band, bandsOf, type Pricing, type Steps } from './pricing.ts'
import { type Random, randomOf } from './random.ts'
import showcaseRows from './showcase.json'
import wording from './wording.json'

type DeliveryMode = 'digital' | 'physical'

interface HandlingFee {
  fixed: number
  percent: number
}

interface Texts {
  terms: string
  details: string
  how_to_use: string
}

interface Delivery {
  delivery_mode: DeliveryMode
  delivery_time: string
  validity: string
}

interface Offer {
  active: boolean
  stock: number | null
  max_quantity: number
  gst_percent: number
  handling_fee: HandlingFee
  denominations: Band[]
}

/** One row of a catalog file, without its id. */
export interface Product extends Delivery, Texts, Offer {
  name: string
  category: string
  sub_category: string
  country: string
  currency: string
}

/** The members that do not follow from brand and market. */
interface Decisions {
  delivery: Delivery
  offer: Offer
}

interface ShowcaseRow extends Delivery, Offer {
  brand: string
  country: string
}

interface Brand {
  name: string
  category: string
  sub_category: string
  delivery_mode: DeliveryMode
  pricing: Pricing
  sold_in: string[]
  inactive_in?: string[]
  out_of_stock_in?: string[]
  nearly_gone_in?: string[]
}

/** `in_a_sentence` is set if the label needs an article. */
interface Market {
  country: string
  label: string
  in_a_sentence?: string
  currency: string
  tax_percent: number
}

interface CurrencyHabits {
  currency: string
  steps: Steps
  shipping: number
  small_fee: number
}

interface CategoryWording {
  details: string[]
  terms: string[]
  use: string[]
}

/** Throws for a name that does not exist, so that a slip in the sources stops the generation. */
const indexed = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): ((key: string) => Row) => {
  const rowOf = new Map(rows.map((row) => [keyOf(row), row]))
  return (key) => {
    const row = rowOf.get(key)
    if (row === undefined) throw new Error(`${key} is not among the ingredients`)
    return row
  }
}

const brands = brandRows as Brand[]
const showcase = showcaseRows as ShowcaseRow[]
const brandOf = indexed(brands, (brand) => brand.name)
const marketOf = indexed(marketTable.markets as Market[], (market) => market.country)
const habitsOf = indexed(marketTable.currencies as CurrencyHabits[], (habits) => habits.currency)
const currencyOf = indexed(makeCurrencies(), (currency) => currency.currency)
const wordingOf: Readonly<Record<string, CategoryWording>> = wording.categories

/** Few enough to be sold out by one order in a test. */
const NEARLY_GONE_STOCK = 3

/** The showcase comes first, because tests and documentation know its ids. */
export const makeProducts = (): Product[] => {
  const shown = showcase.map(showcaseProduct)
  const taken = new Set(shown.map((product) => product.name))
  const others = brandsInTurn().map(([brand, market]) =>
    productOf(brand, market, (random) => decisionsOf(brand, market, random)),
  )
  return [...shown, ...others.filter((product) => !taken.has(product.name))]
}

/** One product per line. */
export const catalogText = (products: readonly object[]): string =>
  `{"products":[\n${products.map((product) => JSON.stringify(product)).join(',\n')}\n]}\n`

/** The first country of each brand, then the second: a page of the catalog shows many brands. */
const brandsInTurn = (): [Brand, Market][] => {
  const rounds = Math.max(...brands.map((brand) => brand.sold_in.length))
  return Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
    brands.flatMap((brand): [Brand, Market][] => {
      const country = brand.sold_in[round]
      return country === undefined ? [] : [[brand, marketOf(country)]]
    }),
  )
}

const showcaseProduct = (row: ShowcaseRow): Product => {
  const { brand, country, delivery_mode, delivery_time, validity, ...offer } = row
  const delivery = { delivery_mode, delivery_time, validity }
  return productOf(brandOf(brand), marketOf(country), () => ({ delivery, offer }))
}

const productOf = (brand: Brand, market: Market, decide: (random: Random) => Decisions): Product => {
  const name = `${brand.name} ${market.label}`
  const { delivery, offer } = decide(randomOf(name))
  return {
    name,
    category: brand.category,
    sub_category: brand.sub_category,
    country: market.country,
    currency: market.currency,
    ...delivery,
    ...textsOf(brand, market, delivery, randomOf(`${name}: texts`)),
    ...offer,
  }
}

const decisionsOf = (brand: Brand, market: Market, random: Random): Decisions => {
  const habits = habitsOf(market.currency)
  const { precision } = currencyOf(market.currency)
  return {
    delivery: {
      delivery_mode: brand.delivery_mode,
      delivery_time: deliveryTimeOf(brand.delivery_mode, random),
      validity: random.pick(['6 months', '12 months', '12 months', '24 months', '36 months', '60 months']),
    },
    offer: {
      active: brand.inactive_in?.includes(market.country) !== true,
      stock: stockOf(brand, market),
      max_quantity: maxQuantityOf(brand.delivery_mode, random),
      gst_percent: taxOf(market, random),
      handling_fee: feeOf(brand.delivery_mode, habits, random),
      denominations: bandsOf(brand.pricing, habits.steps, precision, random),
    },
  }
}

const deliveryTimeOf = (mode: DeliveryMode, random: Random): string => {
  if (mode === 'physical') {
    return random.pick(['2-4 business days', '3-5 business days', '5-7 business days', '7-10 business days'])
  }
  return random.chance(75)
    ? 'instant'
    : random.pick(['2 hours', '4 hours', '24 hours', '48 hours', '1-2 business days'])
}

const stockOf = (brand: Brand, market: Market): number | null => {
  if (brand.out_of_stock_in?.includes(market.country)) return 0
  if (brand.nearly_gone_in?.includes(market.country)) return NEARLY_GONE_STOCK
  return null
}

const maxQuantityOf = (mode: DeliveryMode, random: Random): number => {
  if (mode === 'physical') return random.pick([1, 2, 5, 10, 25])
  return random.pick([1, 5, 10, 10, 20, 25, 50, 50, 100, 100, 200, 500, 1000, 5000, 10000])
}

/** India taxes every card. Elsewhere most cards are multi-purpose vouchers, taxed when they are spent. */
const taxOf = (market: Market, random: Random): number =>
  market.country === 'IND' || random.chance(35) ? market.tax_percent : 0

const feeOf = (mode: DeliveryMode, habits: CurrencyHabits, random: Random): HandlingFee => {
  if (mode === 'physical') return { fixed: habits.shipping, percent: 0 }
  return {
    fixed: random.chance(15) ? habits.small_fee : 0,
    percent: random.chance(15) ? random.pick([0.5, 0.75, 1, 1.5, 2, 2.25]) : 0,
  }
}

const textsOf = (brand: Brand, market: Market, delivery: Delivery, random: Random): Texts => {
  const words = wordingOf[brand.category]
  if (words === undefined) throw new Error(`No wording for ${brand.category}`)
  const fill = (sentence: string): string =>
    sentence
      .replaceAll('{brand}', brand.name)
      .replaceAll('{country}', market.in_a_sentence ?? market.label)
      .replaceAll('{validity}', delivery.validity)
  const mode = delivery.delivery_mode
  return {
    terms: fill(`${random.pick(words.terms)} ${wording.validity[mode]}`),
    details: fill(random.pick(words.details)),
    how_to_use: fill(`${wording.arrival[mode]} ${random.pick(words.use)}`),
  }
}
