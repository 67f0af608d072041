import type { ServedOperation } from '../../../http/operation.ts'
import { freshSeed } from '../../../kernel/ids.ts'
import { memberOf, type Question } from '../http-client.ts'

/** The requests that a host gets: none of them writes (contract C15). */

/** The lists of a host, by path, as far as they are known. */
export type Lists = Map<string, readonly unknown[]>

export interface Case {
  served: ServedOperation
  /** Names what is special about the request; empty if it should succeed. */
  about: string
  /** Undefined if the host has no record to ask about. */
  questionOf: (lists: Lists) => Question | undefined
  /** The values in the texts of its error, which are the host's own. */
  values?: RegExp
}

const PRODUCTS = '/api/v1/products'
const WALLETS = '/api/v1/wallets'
const ITEMS_MAX = 100
const UNKNOWN_ID = '2147483647'

/** The cases of all operations that only read, lists first: the others need records from them. */
export const casesOf = (served: readonly ServedOperation[]): Case[] => {
  const reads = served.filter(({ route, operation }) => route === '/status' || (!operation.isProbe && isRead(route)))
  const gets = reads.filter(({ method }) => method === 'GET')
  const isList = ({ route }: ServedOperation) => !route.includes(':')
  return [
    ...gets.filter(isList).flatMap(listCases),
    ...gets.filter((one) => !isList(one)).flatMap(recordCases),
    ...reads.filter(({ method, route }) => method === 'POST' && route.startsWith(`${PRODUCTS}/`)).flatMap(productCases),
    ...served.filter(({ route }) => route === '/auth/login').flatMap(loginCases),
    ...served.filter(({ route }) => route === '/auth/refresh').flatMap(refreshCases),
  ]
}

const isRead = (route: string): boolean => route.startsWith('/api/v1/')

/** A question that is the same for every host, or one about a record in its lists. */
const caseOf = (
  served: ServedOperation,
  about: string,
  posed: Question | Case['questionOf'],
  values?: RegExp,
): Case => ({ served, about, questionOf: typeof posed === 'function' ? posed : () => posed, ...(values && { values }) })

const listCases = (served: ServedOperation): Case[] => {
  const { operation, route } = served
  const parameters = operation.query?.properties ?? {}
  const isPaged = 'limit' in parameters
  const get = (about: string, query: string) => caseOf(served, about, { method: 'GET', path: route + query })
  return [
    get('', isPaged ? `?limit=${ITEMS_MAX}` : ''),
    ...(isPaged ? [get('a limit and a page that are invalid', '?limit=0&page=x')] : []),
    ...('sort_by' in parameters ? [get('an order that is unknown', '?sort_by=nothing&sort_order=sideways')] : []),
    ...(operation.public ? [] : [withoutToken(served, route)]),
  ]
}

const recordCases = (served: ServedOperation): Case[] => {
  const { operation, route } = served
  const list = route.slice(0, route.indexOf('/:id'))
  const get = (id: string) => ({ method: 'GET', path: route.replace(':id', encodeURIComponent(id)) })
  const refusesIds = Object.keys(operation.refuses).some((name) => name.endsWith('invalid_id'))
  return [
    caseOf(served, '', (lists) => {
      const id = idOf(lists.get(list)?.[0])
      return id === undefined ? undefined : get(id)
    }),
    caseOf(served, 'an unknown id', get(UNKNOWN_ID)),
    ...(refusesIds ? [caseOf(served, 'an invalid id', get('0'))] : []),
    withoutToken(served, get('1').path),
  ]
}

/** A host may send anything: a value that is not an id would lead to another path. */
const idOf = (record: unknown): string | undefined => {
  const id = memberOf(record, 'id')
  const isId = typeof id === 'string' ? /^[\w-]{1,64}$/.test(id) : Number.isInteger(id)
  return isId ? String(id) : undefined
}

const withoutToken = (served: ServedOperation, path: string): Case =>
  caseOf(served, 'no access token', { method: 'GET', path, isPublic: true })

/** Availability, charges and discount of a product write nothing. */
const productCases = (served: ServedOperation): Case[] => {
  const post = (id: string, body: object | string) => ({ method: 'POST', path: served.route.replace(':id', id), body })
  const ofProduct = (about: string, bodyOf: (denomination: unknown) => object | string, values?: RegExp) =>
    caseOf(
      served,
      about,
      (lists) => {
        const product = payableIn(lists)
        return product && post(product.id, bodyOf(product.denomination))
      },
      values,
    )
  const valid = { denomination: 100, quantity: 1 }
  return [
    ofProduct('', (denomination) => ({ denomination, quantity: 1 })),
    ofProduct('a body that is not JSON', () => 'not JSON'),
    ofProduct('an empty object', () => ({})),
    ofProduct('a denomination of zero', () => ({ denomination: 0, quantity: 1 })),
    ofProduct('a denomination that is not offered', () => ({ denomination: 999_999_999.99, quantity: 1 })),
    ofProduct('half a piece', (denomination) => ({ denomination, quantity: 0.5 })),
    ...(served.route.endsWith('/charges')
      ? [ofProduct('a quantity that is too large', (denomination) => ({ denomination, quantity: 1_000_000 }), /\d+/g)]
      : []),
    caseOf(served, 'an unknown id', post(UNKNOWN_ID, valid)),
    caseOf(served, 'an invalid id', post('0', valid)),
  ]
}

/** A product in the currency of a wallet, for which no exchange rate is needed. */
const payableIn = (lists: Lists): { id: string; denomination: unknown } | undefined => {
  const currencies = (lists.get(WALLETS) ?? []).map((wallet) => memberOf(wallet, 'currency_code'))
  const product = lists.get(PRODUCTS)?.find((one) => currencies.includes(memberOf(one, 'currency_code')))
  const bands = memberOf(product, 'available_denominations')
  const denomination = Array.isArray(bands) ? memberOf(bands[0], 'min_value') : undefined
  const id = idOf(product)
  return id === undefined || denomination === undefined ? undefined : { id, denomination }
}

/**
 * A name that nobody has: failed logins with a real name could lock it out of a host. A name that is the same in each
 * run would hit the limit of failed logins.
 */
const nobody = () => ({ username: `nobody-${freshSeed()}`, password: 'nobody' })

const loginCases = (served: ServedOperation): Case[] => [
  publicPost(served, 'an unknown username', nobody()),
  publicPost(served, 'an empty object', {}),
  publicPost(served, 'a body that is not JSON', 'not JSON'),
]

const refreshCases = (served: ServedOperation): Case[] => [
  publicPost(served, 'no token that exists', { refresh_token: 'none' }),
  publicPost(served, 'an empty object', {}),
]

const publicPost = (served: ServedOperation, about: string, body: object | string): Case =>
  caseOf(served, about, { method: 'POST', path: served.route, body, isPublic: true })
