import { type Static, Type } from '@sinclair/typebox'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Product } from '../../catalog/product.ts'
import { toMajor } from '../../kernel/money.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'

/** What the front page and its JSON say. */
export type FrontFacts = Static<typeof FrontFacts>
export const FrontFacts = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    about: Type.String(),
    url: Type.String({ description: 'The base URL' }),
    credentials: Type.Object({ username: Type.String(), password: Type.String() }, { title: 'Credentials' }),
    session: Type.Array(Type.String(), { description: 'Lines for a shell: log in, list, price, order' }),
    links: Type.Record(Type.String(), Type.String(), { title: 'Links' }),
  },
  { title: 'FrontPage' },
)

/** Where to go from the front page, in order: the address, and what is there. */
export const LINKS = {
  docs: { path: '/docs', about: 'Every operation, to read and to try', title: 'API reference' },
  openapi: { path: '/openapi.json', about: 'The same for machines', title: 'OpenAPI document' },
  journal: { path: '/_sandbox/requests', about: 'The last requests and their answers', title: 'Request log' },
  worlds: { path: '/_sandbox/worlds', about: 'Data, clock and limits, each of its own', title: 'Worlds' },
  errors: { path: '/_sandbox/errors', about: 'Every refusal, to ask for by name', title: 'Errors' },
  coverage: { path: '/_sandbox/coverage', about: 'What your requests have met so far', title: 'Coverage' },
} as const

export const frontFacts = (version: string, url: string, purchase: Purchase | undefined): FrontFacts => ({
  name: 'Scrip',
  version,
  about: 'A sandbox of a B2B rewards platform: gift cards, wallets, beneficiaries and payouts over HTTP and JSON.',
  url,
  // In the sandbox, an account's password is its name.
  credentials: { username: SANDBOX_USERNAME, password: SANDBOX_USERNAME },
  session: sessionOf(url, purchase),
  links: Object.fromEntries(Object.entries(LINKS).map(([name, { path }]) => [name, url + path])),
})

/** How many products are looked through for one that can be shown or bought. */
const LOOKED_THROUGH = 50

/** The first products on sale. */
const firstOf = (catalog: Catalog): readonly Product[] =>
  catalog.list({}, { field: 'id', direction: 'ASC' }, { page: 1, limit: LOOKED_THROUGH }).products

/** What a session buys. */
interface Purchase {
  productId: number
  denomination: number
  quantity: number
}

/** A purchase that goes through: of a product that there is no end of, and that comes at once. */
export const purchaseFrom = (catalog: Catalog): Purchase | undefined => {
  const product = firstOf(catalog).find(({ stock, deliveryTime }) => stock === null && deliveryTime === 'instant')
  const [band] = product?.bands ?? []
  if (!product || !band) return undefined
  const denomination = toMajor(band.minMinor, product.currency.precision)
  return { productId: product.id, denomination, quantity: Math.min(2, product.quantityMax) }
}

/** The lines of a session with a shell: log in, list, and where there is something to buy, price and order it. */
const sessionOf = (url: string, purchase: Purchase | undefined): string[] => {
  const account = JSON.stringify({ username: SANDBOX_USERNAME, password: SANDBOX_USERNAME })
  const lines = [
    `api=${url}`,
    `token=$(curl -s $api/auth/login -d '${account}' |`,
    `  sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')`,
    `auth="Authorization: Bearer $token"`,
    `curl -s -w '\\n' -H "$auth" "$api/api/v1/products?limit=2"`,
  ]
  if (!purchase) return lines
  const { productId, ...cards } = purchase
  return [
    ...lines,
    `curl -s -w '\\n' -H "$auth" $api/api/v1/products/${productId}/charges -d '${JSON.stringify(cards)}'`,
    `curl -s -w '\\n' -H "$auth" $api/api/v1/orders -d '${JSON.stringify({ product_id: productId, ...cards })}'`,
  ]
}

/** Some products whose pictures are drawn by the program, of as many categories. */
export const shownOf = (catalog: Catalog, count: number): Product[] => {
  const byCategory = new Map<string, Product>()
  for (const product of firstOf(catalog)) {
    if (product.imageUrl === null && !byCategory.has(product.category)) byCategory.set(product.category, product)
  }
  return [...byCategory.values()].slice(0, count)
}
