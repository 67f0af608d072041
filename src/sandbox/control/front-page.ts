import { Type } from '@sinclair/typebox'
import type { Catalog } from '../../catalog/catalog.ts'
import { toMajor } from '../../kernel/money.ts'
import { codeBlock, html } from '../../pages/html.ts'
import { drawPage, PAGE_HEADERS, SCRIPT_PATH } from '../../pages/page.ts'
import { CONSOLE_PATH } from '../console/routes.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { openRoutes } from './operation.ts'

/** The links of the front page. */
const PLACES = [
  { href: '/docs', title: 'API reference', about: 'Read about every operation, and try it' },
  { href: '/openapi.json', title: 'OpenAPI document', about: 'The same for machines' },
  { href: CONSOLE_PATH, title: 'Console', about: 'Requests as they come, and why they failed' },
  { href: `${CONSOLE_PATH}#worlds`, title: 'Worlds', about: 'Separate data, clocks and limits' },
  { href: `${CONSOLE_PATH}#faults`, title: 'Errors', about: 'Every error, to inject by name' },
  { href: `${CONSOLE_PATH}#coverage`, title: 'Coverage', about: 'The outcomes that your requests have met' },
]

/** The number of products that are searched for one to buy. */
const LOOKED_THROUGH = 50

interface Purchase {
  productId: number
  denomination: number
  quantity: number
}

/** A purchase that succeeds: the product has unlimited stock and is delivered immediately. */
const purchaseFrom = (catalog: Catalog): Purchase | undefined => {
  const { entries } = catalog.shared.list({}, { field: 'id', direction: 'ASC' }, { page: 1, limit: LOOKED_THROUGH })
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

/** The front page, for a person who opens the address. In the sandbox, an account's password is its name. */
const drawFrontPage = ({ catalog, version, publicUrl: url }: Parts): string =>
  drawPage({
    title: 'Scrip sandbox',
    script: SCRIPT_PATH,
    kind: 'front',
    body: html`<main data-url="${url}">
<h1>Scrip <small class="tag">sandbox ${version}</small></h1>
<p class="lead">A sandbox of a B2B rewards platform: gift cards, wallets, beneficiaries and payouts over HTTP and JSON. It is seeded, and yours to break.</p>
<p class="line"><a class="button primary" href="${CONSOLE_PATH}">Open the console</a> <a class="button" href="/docs">Read the reference</a></p>
<dl class="grid places">
<div class="box"><dt>Base URL</dt><dd><code>${url}</code></dd></div>
<div class="box"><dt>Username</dt><dd><code>${SANDBOX_USERNAME}</code></dd></div>
<div class="box"><dt>Password</dt><dd><code>${SANDBOX_USERNAME}</code></dd></div>
</dl>
<h2>A first session</h2>
<p class="soft">Log in, list products, price one and order it. Log in as <code>sbx_<var>name</var></code> with any password instead to make a world of that name: its data, clock and limits are its own.</p>
${codeBlock(sessionOf(url, purchaseFrom(catalog)).join('\n'), 'A session with curl')}
<h2>From here</h2>
<ul class="grid places" aria-label="Places">${PLACES.map(
      ({ href, title, about }) =>
        html`<li><a class="box" href="${href}"><strong>${title}</strong><span>${about}</span></a></li>`,
    )}</ul>
</main>`,
  })

export const frontRoutes = (parts: Parts) =>
  openRoutes().get('/', () => new Response(drawFrontPage(parts), { headers: PAGE_HEADERS }), {
    id: 'getFrontPage',
    summary: 'See how to begin',
    description: 'A page for people: the address, the credentials and a first session.',
    response: {
      description: 'The first steps',
      contentType: 'text/html',
      schema: Type.String(),
      example: '<!doctype html><title>Scrip sandbox</title>',
    },
  })
