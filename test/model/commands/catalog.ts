import fc from 'fast-check'
import { amountTrouble, badRequest, invalid, isPathId, memberFaults, notFound, unreadable } from '../expect.ts'
import { countries, currencyOf, findCurrency, type Product } from '../goods.ts'
import { termsOf } from '../model.ts'
import { discountOf, minorOf, offerOf } from '../money.ts'
import type { At, Expected } from '../play.ts'
import { command, pathIds, whoever } from './command.ts'
import { listing, request } from './request.ts'
import { ask } from './sessions.ts'

/** Products: the list, one of them, its availability, discounts and card (spec 4.2, contract C8, C9). */

const LIST = { limitDefault: 50, limitMax: 10_000, six: true } as const

type Buyer = Pick<At, 'world' | 'client'>
export const agreedOf = ({ world, client }: Buyer, product: Product): number =>
  termsOf(world, client).discounts.get(product.id) ?? 0
export const quantityMaxOf = ({ world, client }: Buyer, product: Product): number =>
  Math.min(product.max_quantity, termsOf(world, client).quantityMax ?? Number.POSITIVE_INFINITY)
/** True if the feature vouchers is on. */
export const buysVouchers = ({ world, client }: Buyer): boolean => termsOf(world, client).vouchers

/** Denominations and quantities: on and off every edge that the contract names. */
export const denominations: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(1, 10, 25, 50, 100, 1_000) },
  { weight: 1, arbitrary: fc.constantFrom(0.01, 0.005, 2.5, 1_000_000_000, 1_000.01, 99.99, 1e-7) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(0, -1, 0.001, 1e21, null, '100', true, [], {}) },
)
export const quantities: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(50, 51, 1_000_000, 1_000_000_000) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(0, -1, 1.5, null, '1', true, [], {}) },
)
export const isDenomination = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0.01 && value <= 1_000_000_000
export const isQuantity = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1
export const isId = (value: unknown): value is number => isPathId(String(value)) && typeof value === 'number'
export const isLeftOut = (value: unknown): value is null | undefined => value === null || value === undefined
/** Products of the catalog, more often those that are seeded for a purpose. */
export const productIds = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 14 }).map(String) },
  { weight: 1, arbitrary: pathIds(471) },
)

const sorted = (products: readonly Product[], sort: string | undefined): Product[] => {
  const { field = 'id', direction = 'DESC' } =
    sort === undefined ? {} : (JSON.parse(sort) as { field?: string; direction?: string })
  const sign = direction.toUpperCase() === 'ASC' ? 1 : -1
  const key = (product: Product): string | number =>
    field === 'id' ? product.id : String({ name: product.name, currency_code: product.currency }[field]).toLowerCase()
  return [...products].sort((a, b) => sign * (compared(key(a), key(b)) || a.id - b.id))
}
const compared = <Value extends string | number>(a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0)

const SORTS = ['{"field":"name"}', '{"direction":"asc"}', '{"field":"currency_code","direction":"ASC"}', '{}']
const BAD_SORTS = ['', 'id', '[]', '{"field":"price"}', '{"direction":"up"}', '{"field":1}', '{"field":"__proto__"}']

const listProducts = listing('list the products', 'listProducts', {
  shape: 'structured',
  page: LIST,
  filters: {
    category: [['groceries', 'Gaming', 'No such category'], []],
    country_id: [
      ['105', '2147483647'],
      ['0', 'IN'],
    ],
    currency_id: [[String(currencyOf('USD').id), '2147483647'], ['-1']],
    search: [['card', 'LUMEN', '%'], ['\u0000']],
    sort: [SORTS, BAD_SORTS],
  },
  ids: ({ model, world }, { category, country_id, currency_id, search, sort }) => {
    const alpha3 = countries.find(({ id }) => String(id) === country_id)?.alpha_3
    const found = model
      .productsIn(world)
      .filter(
        (product) =>
          product.active &&
          (category === undefined || product.category.toLowerCase() === category.toLowerCase()) &&
          (country_id === undefined || product.country === alpha3) &&
          (currency_id === undefined || String(findCurrency(product.currency)?.id) === currency_id) &&
          (search === undefined || product.name.toLowerCase().includes(search.toLowerCase())),
      )
    return sorted(found, sort).map(({ id }) => id)
  },
})

const getProduct = request(
  'get a product',
  'getProduct',
  1,
  { id: productIds },
  ({ id }) => ({ id }),
  ({ model, world }, { id }) => {
    if (!isPathId(id)) return badRequest('structured', 'Invalid product ID')
    const product = model.product(world, Number(id))
    if (!product) return notFound('structured', 'Product not found')
    const { name, category, sub_category, delivery_mode, delivery_time } = product
    const said = { id: product.id, name, category, sub_category, delivery_mode, delivery_time }
    return {
      status: 200,
      fault: ({ json }) =>
        memberFaults(json, { ...said, country_code: product.country, currency_code: product.currency }),
    }
  },
)

const checkAvailability = command('check the availability of a product', ['checkAvailability'], 3, {
  args: fc.record({ who: whoever, id: productIds, denomination: denominations, quantity: quantities }),
  run: async (play, { who, id, denomination, quantity }) => {
    const call = { operation: 'checkAvailability', id, body: { denomination, quantity } }
    await ask(play, who, call, (at): Expected => {
      if (!isPathId(id)) return badRequest('structured', 'Invalid product ID')
      const bad = [
        ...(isDenomination(denomination) ? [] : ['denomination']),
        ...(isQuantity(quantity) ? [] : ['quantity']),
      ]
      if (!isDenomination(denomination) || !isQuantity(quantity)) return invalid('structured', bad)
      const product = at.model.product(at.world, Number(id))
      if (!product) return notFound('structured', 'Product not found')
      const isOffered = offerOf(product, denomination, 0) !== undefined
      const isAvailable =
        isOffered && quantity <= quantityMaxOf(at, product) && quantity <= at.model.stockLeft(at.world, product)
      return { status: 200, body: { is_available: isAvailable } }
    })
  },
})

const getDiscounts = command('ask for the discounts of a product', ['getDiscounts'], 2, {
  args: fc.record({
    who: whoever,
    id: productIds,
    body: fc.record({ denomination: denominations, quantity: quantities }, { requiredKeys: [] }),
    blank: fc.constantFrom(undefined, undefined, undefined, undefined, '', ' ', '[]', 'null'),
  }),
  run: async (play, { who, id, body, blank }) => {
    const call = { operation: 'getDiscounts', id, body, ...(blank !== undefined && { text: blank }) }
    await ask(play, who, call, (at): Expected => {
      if (!isPathId(id)) return { status: 400, body: { error: 'Invalid product ID' } }
      const { denomination, quantity } = body
      const isNumber = (value: unknown) => isLeftOut(value) || typeof value === 'number'
      if (blank !== undefined || !isNumber(denomination) || !isNumber(quantity)) return unreadable('charges')
      const bad = [
        ...(isLeftOut(denomination) || isDenomination(denomination) ? [] : ['denomination']),
        ...(isLeftOut(quantity) || isQuantity(quantity) ? [] : ['quantity']),
      ]
      if (bad.length > 0) return invalid('charges', bad)
      const product = at.model.product(at.world, Number(id))
      if (!product) return { status: 404, body: { error: 'Product not found' } }
      return discountOfProduct(
        at,
        product,
        isDenomination(denomination) ? denomination : undefined,
        isQuantity(quantity) ? quantity : 1,
      )
    })
  },
})

const discountOfProduct = (at: At, product: Product, denomination: number | undefined, quantity: number): Expected => {
  const agreed = agreedOf(at, product)
  const all = {
    product_id: product.id,
    currency_code: product.currency,
    discounts: product.denominations.map(({ discount, ...band }) => ({
      ...band,
      discount: Math.max(discount, agreed),
    })),
  }
  if (denomination === undefined) {
    return { status: 200, body: { ...all, denomination: null, quantity: null, discount: null, discount_amount: null } }
  }
  const offer = offerOf(product, denomination, agreed)
  if (offer === undefined) return { status: 404, body: { error: 'Denomination not found' } }
  const list = (minorOf(denomination, product.currency) ?? 0n) * BigInt(quantity)
  if (list > 999_999_999_999_999n) return amountTrouble('charges', 'too large')
  const amount = discountOf(product, denomination, quantity, offer)
  return {
    status: 200,
    body: { ...all, denomination, quantity, discount: Number(offer) / 100, discount_amount: amount },
  }
}

export const catalogCommands = [listProducts, getProduct, checkAvailability, getDiscounts]
