import type { Server } from '../harness.ts'
import { HUNDRED } from '../records.ts'

/** Every protected route of the specification (spec 4.1 to 4.6, contract C12), with its error format. */

export type Shape = 'structured' | 'flat' | 'charges'

export interface ProtectedRoute {
  method: 'GET' | 'POST' | 'DELETE'
  /** The path, with a well-formed id of no record. */
  path: string
  shape: Shape
  /** The missing thing, in the words of the messages; left out where the operation looks nothing up. */
  resource?: string
  /** A malformed path id is refused as such: beneficiaries and payouts have ids that are plain strings. */
  numericId?: true
  /** A query that is refused. */
  badQuery?: string
  /** A body that passes, on routes that need one. */
  goodBody?: object
  /** Needs the vouchers feature. */
  vouchers?: true
}

const NOBODY = '2147483647'
/** The ids in this table. */
export const ANY_ID = /(?:ben|pyt)_0+|2147483647/
const PURCHASE = { denomination: 100, quantity: 1 }

const one = (collection: string, resource: string): ProtectedRoute => ({
  method: 'GET',
  path: `/api/v1/${collection}/${NOBODY}`,
  shape: 'structured',
  resource,
  numericId: true,
})
const ofProduct = (action: string, shape: Shape): ProtectedRoute => ({
  method: 'POST',
  path: `/api/v1/products/${NOBODY}/${action}`,
  shape,
  resource: 'product',
  numericId: true,
  goodBody: PURCHASE,
})
const ofOrder = (method: 'GET' | 'POST', action: string): ProtectedRoute => ({
  method,
  path: `/api/v1/orders/${NOBODY}${action}`,
  shape: 'structured',
  resource: 'order',
  numericId: true,
  vouchers: true,
})
const ofPayout = (method: 'GET' | 'POST', action: string): ProtectedRoute => ({
  method,
  path: `/api/v1/payouts/pyt_000000000000000000000000${action}`,
  shape: 'flat',
  resource: 'payout',
})
const ofBeneficiary = (method: 'GET' | 'DELETE'): ProtectedRoute => ({
  method,
  path: '/api/v1/beneficiaries/ben_000000000000000000000000',
  shape: 'flat',
  resource: 'beneficiary',
})

export const ROUTES: readonly ProtectedRoute[] = [
  { method: 'GET', path: '/api/v1/beneficiaries', shape: 'flat', badQuery: 'page=0' },
  {
    method: 'POST',
    path: '/api/v1/beneficiaries',
    shape: 'flat',
    goodBody: { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' },
  },
  ofBeneficiary('GET'),
  ofBeneficiary('DELETE'),
  { method: 'GET', path: '/api/v1/products', shape: 'structured', badQuery: 'limit=10001' },
  one('products', 'product'),
  ofProduct('availability', 'structured'),
  ofProduct('charges', 'charges'),
  ofProduct('discount', 'charges'),
  { method: 'GET', path: '/api/v1/categories', shape: 'structured', vouchers: true },
  { ...one('categories', 'category'), vouchers: true },
  { method: 'GET', path: '/api/v1/subcategories', shape: 'structured', vouchers: true },
  { ...one('subcategories', 'subcategory'), vouchers: true },
  { method: 'GET', path: '/api/v1/countries', shape: 'structured' },
  one('countries', 'country'),
  { method: 'GET', path: '/api/v1/currencies', shape: 'structured' },
  one('currencies', 'currency'),
  { method: 'GET', path: '/api/v1/wallets', shape: 'structured', badQuery: 'limit=10001' },
  one('wallets', 'wallet'),
  { method: 'GET', path: '/api/v1/transactions', shape: 'structured', badQuery: 'wallet_id=0' },
  one('transactions', 'transaction'),
  { method: 'GET', path: '/api/v1/orders', shape: 'structured', badQuery: 'limit=101', vouchers: true },
  {
    method: 'POST',
    path: '/api/v1/orders',
    shape: 'structured',
    resource: 'product',
    goodBody: { product_id: Number(NOBODY), ...PURCHASE },
    vouchers: true,
  },
  ofOrder('GET', ''),
  ofOrder('GET', '/vouchers'),
  ofOrder('POST', '/cancel'),
  { method: 'GET', path: '/api/v1/payouts', shape: 'flat', badQuery: 'sort_order=up' },
  {
    method: 'POST',
    path: '/api/v1/payouts',
    shape: 'flat',
    goodBody: { ...HUNDRED, reference_id: 'salary', amount: 10 },
  },
  ofPayout('GET', ''),
  ofPayout('POST', '/cancel'),
  { method: 'POST', path: '/auth/logout', shape: 'structured' },
]

/** A row for test.each: the name of the route, and the route. */
export const named = (route: ProtectedRoute): [string, ProtectedRoute] => [
  `${route.method} ${route.path.replace(ANY_ID, '{id}')}`,
  route,
]

/** An error in the format of its route (spec section 7). */
export const errorIn = (shape: Shape, kind: keyof typeof CODES, message: string): object => {
  if (shape === 'charges') return { error: message }
  const name = `${kind}Error`
  if (shape === 'flat') return { error: kind === 'InternalServer' ? name : kind, message }
  return { error: { name, code: CODES[kind], message } }
}
const CODES = { BadRequest: 'BAD_REQUEST', NotFound: 'NOT_FOUND', InternalServer: 'INTERNAL_SERVER_ERROR' } as const

/** Every protected operation of the published document, at an id that is well formed. */
export const publishedRoutes = async (server: Server): Promise<{ method: string; path: string }[]> => {
  const { paths } = (await (await server.request('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { security: object[] }>>
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security.length > 0)
      .map(([method]) => ({ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, NOBODY) })),
  )
}
