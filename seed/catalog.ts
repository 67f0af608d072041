import brandRows from './brands.json'
import { makeCurrencies } from './currencies.ts'
import { type Dice, diceOf } from './dice.ts'
import marketTable from './markets.json'
import { type Band, bandsOf, type Pricing, type Steps } from './pricing.ts'
import showcaseRows from './showcase.json'
import wording from './wording.json'

type DeliveryMode = 'digital' | 'physical'

type HandlingFee = { fixed: number; percent: number }

type Texts = { terms: string; details: string; how_to_use: string }

/** How a product is delivered. */
type Delivery = { delivery_mode: DeliveryMode; delivery_time: string; validity: string }

/** How a product sells. */
type Offer = {
  active: boolean
  stock: number | null
  max_quantity: number
  gst_percent: number
  handling_fee: HandlingFee
  denominations: Band[]
}

/** One row of a catalog file, without its id. */
export type Product = {
  name: string
  category: string
  sub_category: string
  country: string
  currency: string
} & Delivery &
  Texts &
  Offer

/** Everything about a product that does not follow from its brand and its market. */
type Decisions = { delivery: Delivery; offer: Offer }

type ShowcaseRow = { brand: string; country: string } & Delivery & Offer

type Brand = {
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

/** A country in which brands sell; `in_a_sentence` is there where the label needs an article. */
type Market = { country: string; label: string; in_a_sentence?: string; currency: string; tax_percent: number }

type CurrencyHabits = { currency: string; steps: Steps; shipping: number; small_fee: number }

type CategoryWording = { details: string[]; terms: string[]; use: string[] }

const brands = brandRows as Brand[]
const showcase = showcaseRows as ShowcaseRow[]
const brandOf = indexed(brands, (brand) => brand.name)
const marketOf = indexed(marketTable.markets as Market[], (market) => market.country)
const habitsOf = indexed(marketTable.currencies as CurrencyHabits[], (habits) => habits.currency)
const currencyOf = indexed(makeCurrencies(), (currency) => currency.currency)
const wordingOf: Readonly<Record<string, CategoryWording>> = wording.categories

/** How many are left of a product that is nearly gone: few enough to be sold out by one order in a test. */
const nearlyGoneStock = 3

/** The catalog of the sandbox: the showcase first, because tests and documentation know its ids, then all the others. */
export function makeProducts(): Product[] {
  const shown = showcase.map(showcaseProduct)
  const taken = new Set(shown.map((product) => product.name))
  const others = brandsInTurn().map(([brand, market]) =>
    productOf(brand, market, (dice) => decisionsOf(brand, market, dice)),
  )
  return [...shown, ...others.filter((product) => !taken.has(product.name))]
}

/** A catalog file: one product per line. */
export function catalogText(products: readonly object[]): string {
  return `{"products":[\n${products.map((product) => JSON.stringify(product)).join(',\n')}\n]}\n`
}

/** Every brand's first country, then every brand's second: a page of the catalog shows many brands, not one of them. */
function brandsInTurn(): [Brand, Market][] {
  const rounds = Math.max(...brands.map((brand) => brand.sold_in.length))
  return Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
    brands.flatMap((brand): [Brand, Market][] => {
      const country = brand.sold_in[round]
      return country === undefined ? [] : [[brand, marketOf(country)]]
    }),
  )
}

function showcaseProduct(row: ShowcaseRow): Product {
  const { brand, country, delivery_mode, delivery_time, validity, ...offer } = row
  const delivery = { delivery_mode, delivery_time, validity }
  return productOf(brandOf(brand), marketOf(country), () => ({ delivery, offer }))
}

function productOf(brand: Brand, market: Market, decide: (dice: Dice) => Decisions): Product {
  const name = `${brand.name} ${market.label}`
  const { delivery, offer } = decide(diceOf(name))
  return {
    name,
    category: brand.category,
    sub_category: brand.sub_category,
    country: market.country,
    currency: market.currency,
    ...delivery,
    ...textsOf(brand, market, delivery, diceOf(`${name}: texts`)),
    ...offer,
  }
}

function decisionsOf(brand: Brand, market: Market, dice: Dice): Decisions {
  const habits = habitsOf(market.currency)
  const { precision } = currencyOf(market.currency)
  return {
    delivery: {
      delivery_mode: brand.delivery_mode,
      delivery_time: deliveryTimeOf(brand.delivery_mode, dice),
      validity: dice.pick(['6 months', '12 months', '12 months', '24 months', '36 months', '60 months']),
    },
    offer: {
      active: brand.inactive_in?.includes(market.country) !== true,
      stock: stockOf(brand, market),
      max_quantity: maxQuantityOf(brand.delivery_mode, dice),
      gst_percent: taxOf(market, dice),
      handling_fee: feeOf(brand.delivery_mode, habits, dice),
      denominations: bandsOf(brand.pricing, habits.steps, precision, dice),
    },
  }
}

function deliveryTimeOf(mode: DeliveryMode, dice: Dice): string {
  if (mode === 'physical') {
    return dice.pick(['2-4 business days', '3-5 business days', '5-7 business days', '7-10 business days'])
  }
  return dice.falls(75) ? 'instant' : dice.pick(['2 hours', '4 hours', '24 hours', '48 hours', '1-2 business days'])
}

function stockOf(brand: Brand, market: Market): number | null {
  if (brand.out_of_stock_in?.includes(market.country)) return 0
  if (brand.nearly_gone_in?.includes(market.country)) return nearlyGoneStock
  return null
}

/** Cards that go by post are counted by hand; codes can be bought by the thousand. */
function maxQuantityOf(mode: DeliveryMode, dice: Dice): number {
  if (mode === 'physical') return dice.pick([1, 2, 5, 10, 25])
  return dice.pick([1, 5, 10, 10, 20, 25, 50, 50, 100, 100, 200, 500, 1000, 5000, 10000])
}

/** India taxes every card; elsewhere most cards are multi-purpose vouchers, which are taxed only when they are spent. */
function taxOf(market: Market, dice: Dice): number {
  return market.country === 'IND' || dice.falls(35) ? market.tax_percent : 0
}

function feeOf(mode: DeliveryMode, habits: CurrencyHabits, dice: Dice): HandlingFee {
  if (mode === 'physical') return { fixed: habits.shipping, percent: 0 }
  return {
    fixed: dice.falls(15) ? habits.small_fee : 0,
    percent: dice.falls(15) ? dice.pick([0.5, 0.75, 1, 1.5, 2, 2.25]) : 0,
  }
}

function textsOf(brand: Brand, market: Market, delivery: Delivery, dice: Dice): Texts {
  const words = wordingOf[brand.category]
  if (words === undefined) throw new Error(`No wording for ${brand.category}`)
  const fill = (sentence: string): string =>
    sentence
      .replaceAll('{brand}', brand.name)
      .replaceAll('{country}', market.in_a_sentence ?? market.label)
      .replaceAll('{validity}', delivery.validity)
  const mode = delivery.delivery_mode
  return {
    terms: fill(`${dice.pick(words.terms)} ${wording.validity[mode]}`),
    details: fill(dice.pick(words.details)),
    how_to_use: fill(`${wording.arrival[mode]} ${dice.pick(words.use)}`),
  }
}

/** A look-up that refuses what is not there, so that a slip in an ingredient stops the making. */
function indexed<Row>(rows: readonly Row[], keyOf: (row: Row) => string): (key: string) => Row {
  const rowOf = new Map(rows.map((row) => [keyOf(row), row]))
  return (key) => {
    const row = rowOf.get(key)
    if (row === undefined) throw new Error(`${key} is not among the ingredients`)
    return row
  }
}
