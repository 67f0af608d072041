import { type Static, Type } from '@sinclair/typebox'
import type { Catalog } from '../../catalog/catalog.ts'
import { INSTANT, type Product } from '../../catalog/product.ts'
import type { RateSource } from '../../charges/rates.ts'
import { controlRoutes } from '../control/operation.ts'
import type { Parts } from '../parts.ts'
import { UnusedWorldQuery } from '../worlds/query.ts'
import { PAYOUT_OUTCOMES, payeeOf } from './payouts.ts'

/** The values that behave specially in the sandbox (contract C15). */

export type TestValues = Static<typeof TestValues>
const TestValues = Type.Object(
  {
    products: Type.Array(
      Type.Object({ case: Type.String(), product_id: Type.Integer(), about: Type.String() }, { title: 'TestProduct' }),
    ),
    payouts: Type.Array(
      Type.Object({ outcome: Type.String(), email: Type.String(), about: Type.String() }, { title: 'TestPayee' }),
    ),
    amounts: Type.Array(
      Type.Object({ case: Type.String(), amount: Type.Number(), about: Type.String() }, { title: 'TestAmount' }),
    ),
  },
  { title: 'TestValues' },
)

const EXAMPLE: TestValues = {
  products: [{ case: 'sold_out', product_id: 8, about: 'Not available; orders: 400 "Insufficient stock"' }],
  payouts: [{ outcome: 'failed', email: 'failed@payouts.example', about: 'Fails after 5 s, and is refunded in full' }],
  amounts: [{ case: 'insufficient_balance', amount: 200_000, about: '400 "Insufficient wallet balance"' }],
}

/** More than a small stock. */
const STOCK_LARGE = 10
/** The currency of the wallet that pays by default. */
const DEFAULT_CURRENCY = 'USD'

interface ProductCase {
  about: string
  holds: (product: Product, rates: RateSource) => boolean
}

const isPlain = ({ stock, deliveryTime }: Product): boolean => stock === null && deliveryTime === INSTANT

const PRODUCT_CASES: Record<string, ProductCase> = {
  instant: { about: 'Delivered in the response to the order', holds: isPlain },
  delayed: { about: 'Delivered 5 s after the order', holds: ({ deliveryTime }) => deliveryTime !== INSTANT },
  small_stock: {
    about: 'Orders of more than the stock: 400 "Insufficient stock"',
    holds: ({ stock }) => stock !== null && stock > 0 && stock < STOCK_LARGE,
  },
  sold_out: { about: 'Not available; orders: 400 "Insufficient stock"', holds: ({ stock }) => stock === 0 },
  no_rate: {
    about: 'Charges to wallet 1: 400 "No exchange rate found"',
    holds: (product, rates) => isPlain(product) && rates(product.currency.currency, DEFAULT_CURRENCY) === undefined,
  },
}
const INACTIVE = { case: 'inactive', about: '404 "Product not found"' }

const PAYOUT_ABOUT: Record<(typeof PAYOUT_OUTCOMES)[number], string> = {
  completed: 'Completes after 5 s, like any other payout',
  failed: 'Fails after 5 s, and is refunded in full',
  action_required: 'Requires action after 5 s, and stays so until it is cancelled or advanced',
  returned: 'Completes after 5 s; after 10 s the amount comes back without the fees',
  expired: 'Is never processed, expires after 7 days, and is refunded in full',
}

/** Of payouts in USD from wallet 1, which holds 100,000.00. */
const AMOUNTS: TestValues['amounts'] = [
  { case: 'smallest', amount: 0.01, about: '201, with the smallest fee, 0.01' },
  { case: 'too_many_decimals', amount: 10.001, about: '400: USD has 2 decimals' },
  { case: 'zero', amount: 0, about: '400: more than 0 is needed' },
  { case: 'insufficient_balance', amount: 200_000, about: '400 "Insufficient wallet balance"' },
]

/** All products of a catalog, at most. */
const PRODUCTS_MAX = 10_000

/** The products come from the catalog that is served. A case without a matching product is left out. */
const testValues = (catalog: Catalog, rates: RateSource): TestValues => {
  const sorted = { field: 'id', direction: 'ASC' } as const
  const { entries } = catalog.shared.list({}, sorted, { page: 1, limit: PRODUCTS_MAX })
  const onSale = Object.entries(PRODUCT_CASES).flatMap(([name, { about, holds }]) => {
    const product = entries.find((each) => holds(each.product, rates))?.product
    return product ? [{ case: name, product_id: product.id, about }] : []
  })
  const inactive = catalog.findInactiveId()
  return {
    products: inactive === undefined ? onSale : [...onSale, { ...INACTIVE, product_id: inactive }],
    payouts: PAYOUT_OUTCOMES.map((outcome) => ({ outcome, email: payeeOf(outcome), about: PAYOUT_ABOUT[outcome] })),
    amounts: AMOUNTS,
  }
}

export const testValueRoutes = ({ worlds, catalog, ordering }: Parts) =>
  controlRoutes('test_values.').get('/test-values', () => testValues(catalog, ordering.pricing.rates(worlds.default)), {
    id: 'getTestValues',
    summary: 'List the test values',
    description: 'Products by behaviour, payees by the outcome of their payouts, and amounts of payouts from wallet 1.',
    query: UnusedWorldQuery,
    response: { description: 'The test values', schema: TestValues, example: EXAMPLE },
  })
