import { type Static, Type } from '@sinclair/typebox'
import type { ProductIndex } from '../../catalog/product-index.ts'
import { JSON_TYPE } from '../../http/json.ts'
import { PublicFile } from '../../http/public-file.ts'
import { toMajor } from '../../kernel/money.ts'
import { codeBlock, html } from '../../pages/html.ts'
import { drawPage, PAGE_HEADERS, SCRIPT_PATH } from '../../pages/page.ts'
import { CONSOLE_PATH } from '../console/routes.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { openRoutes } from './operation.ts'

/** The contents of the front page and its JSON. */
type FrontFacts = Static<typeof FrontFacts>
const FrontFacts = Type.Object(
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

/** Links from the front page for programs. */
const LINKS = {
  docs: '/docs',
  openapi: '/openapi.json',
  console: CONSOLE_PATH,
  journal: '/_sandbox/requests',
  worlds: '/_sandbox/worlds',
  errors: '/_sandbox/errors',
  coverage: '/_sandbox/coverage',
}

/** Links for people. */
const PLACES = [
  { href: '/docs', title: 'API reference', about: 'Read about every operation, and try it' },
  { href: '/openapi.json', title: 'OpenAPI document', about: 'The API as one JSON document' },
  { href: CONSOLE_PATH, title: 'Console', about: 'Requests as they arrive, and why they failed' },
  { href: `${CONSOLE_PATH}#worlds`, title: 'Worlds', about: 'Separate data, clocks and limits' },
  { href: `${CONSOLE_PATH}#faults`, title: 'Errors', about: 'Every error, to inject by name' },
  {
    href: `${CONSOLE_PATH}#coverage`,
    title: 'Coverage',
    about: 'Which documented responses your requests have covered',
  },
]

const frontFacts = (version: string, url: string, purchase: Purchase | undefined): FrontFacts => ({
  name: 'Scrip',
  version,
  about: 'A sandbox of a B2B rewards platform: gift cards, wallets, beneficiaries and payouts over HTTP and JSON.',
  url,
  // In the sandbox, an account's password is its name.
  credentials: { username: SANDBOX_USERNAME, password: SANDBOX_USERNAME },
  session: sessionOf(url, purchase),
  links: Object.fromEntries(Object.entries(LINKS).map(([name, path]) => [name, url + path])),
})

/** The number of products that are searched for one to buy. */
const LOOKED_THROUGH = 50

interface Purchase {
  productId: number
  denomination: number
  quantity: number
}

/** A purchase that succeeds: the product has unlimited stock and is delivered immediately. */
const purchaseFrom = (products: ProductIndex): Purchase | undefined => {
  const { entries } = products.list({}, { field: 'id', direction: 'ASC' }, { page: 1, limit: LOOKED_THROUGH })
  const found = entries.find(({ product }) => product.stock === null && product.deliveryTime === 'instant')
  const [band] = found?.product.bands ?? []
  if (!found || !band) return undefined
  const { product } = found
  const denomination = toMajor(band.minMinor, product.currency.precision)
  return { productId: product.id, denomination, quantity: Math.min(2, product.quantityMax) }
}

/** The lines of a session with a shell: log in, list, then price and order a product if there is one to buy. */
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

const drawFrontPage = ({ name, version, about, url, credentials, session }: FrontFacts): string =>
  drawPage({
    title: `${name} sandbox`,
    script: SCRIPT_PATH,
    kind: 'front',
    body: html`<main data-url="${url}">
<h1>${name} <small class="tag">sandbox ${version}</small></h1>
<p class="lead">${about} It comes with sample data. Break what you like: Reset brings it back.</p>
<p class="line"><a class="button primary" href="${CONSOLE_PATH}">Open the console</a> <a class="button" href="/docs">Read the reference</a></p>
<dl class="grid places">
<div class="box"><dt>Base URL</dt><dd><code>${url}</code></dd></div>
<div class="box"><dt>Username</dt><dd><code>${credentials.username}</code></dd></div>
<div class="box"><dt>Password</dt><dd><code>${credentials.password}</code></dd></div>
</dl>
<h2>A first session</h2>
<p class="soft">Log in, list products, price one and order it. Log in as <code>sbx_<var>name</var></code> with any password instead to make a world of that name: its data, clock and limits are its own.</p>
${codeBlock(session.join('\n'), 'A session with curl')}
<h2>From here</h2>
<ul class="grid places" aria-label="Places">${PLACES.map(
      ({ href, title, about }) =>
        html`<li><a class="box" href="${href}"><strong>${title}</strong><span>${about}</span></a></li>`,
    )}</ul>
</main>`,
  })

/** The front page of a catalog: HTML for people who open the address, JSON for programs. */
export const frontRoutes = ({ catalog, version, publicUrl }: Parts) => {
  const made = new WeakMap<ProductIndex, { page: PublicFile; json: PublicFile }>()
  const filesOf = (products: ProductIndex) => {
    const facts = frontFacts(version, publicUrl, purchaseFrom(products))
    // Indented, because a request without a browser may well come from a person.
    const json = new PublicFile(`${JSON.stringify(facts, null, 2)}\n`, { 'content-type': JSON_TYPE })
    return { page: new PublicFile(drawFrontPage(facts), PAGE_HEADERS), json }
  }
  return openRoutes().get(
    '/',
    ({ request, set }) => {
      set.headers.vary = 'Accept'
      const files = made.get(catalog.shared) ?? filesOf(catalog.shared)
      made.set(catalog.shared, files)
      return prefersHtml(request.headers.get('accept')) ? files.page : files.json
    },
    {
      id: 'getFrontPage',
      summary: 'See how to begin',
      description: 'The address, the credentials and a first session: a page for browsers, JSON for others.',
      response: {
        description: 'The first steps',
        schema: FrontFacts,
        example: frontFacts('0.1.0', 'http://127.0.0.1:4747', { productId: 1, denomination: 100, quantity: 2 }),
        alsoAs: { 'text/html': { schema: Type.String(), example: '<!doctype html><title>Scrip sandbox</title>' } },
      },
    },
  )
}

/** True if HTML comes first in the Accept header. Browsers put it there, and other programs do not. */
const prefersHtml = (accept: string | null): boolean => /^text\/html(?! *; *q=0)/i.test(accept ?? '')
