import { createHash } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import type { Catalog } from '../../catalog/catalog.ts'
import { cardPath } from '../../catalog/contract.ts'
import type { Product } from '../../catalog/product.ts'
import { Html, html } from '../../docs/html.ts'
import COLOURS from '../../http/colours.css' with { type: 'text' }
import { toMajor } from '../../kernel/money.ts'
import { CONSOLE_PATH, ICON } from '../console/page.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'

/** The contents of the front page and its JSON. */
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
const LINKS = {
  docs: { path: '/docs', about: 'Read about every operation, and try it', title: 'API reference' },
  openapi: { path: '/openapi.json', about: 'The same for machines', title: 'OpenAPI document' },
  console: { path: CONSOLE_PATH, about: 'Requests as they come, and why they failed', title: 'Console' },
  journal: { path: '/_sandbox/requests', about: 'The last requests and their responses', title: 'Request log' },
  worlds: { path: '/_sandbox/worlds', about: 'Data, clock and limits, each of its own', title: 'Worlds' },
  errors: { path: '/_sandbox/errors', about: 'Every error, to inject by name', title: 'Errors' },
  coverage: {
    path: '/_sandbox/coverage',
    about: 'Which documented outcomes your requests have exercised',
    title: 'Coverage',
  },
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

/** How many products are searched for one that can be shown or bought. */
const LOOKED_THROUGH = 50

const firstOf = (catalog: Catalog): readonly Product[] =>
  catalog.shared
    .list({}, { field: 'id', direction: 'ASC' }, { page: 1, limit: LOOKED_THROUGH })
    .entries.map(({ product }) => product)

interface Purchase {
  productId: number
  denomination: number
  quantity: number
}

/** A purchase that succeeds: the product has unlimited stock and is delivered immediately. */
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

/** The page loads nothing but the pictures that the program draws. */
const STYLE = `
${COLOURS}* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif }
main { max-width: 1040px; margin: 0 auto; padding: clamp(24px, 5vw, 56px) clamp(16px, 4vw, 32px) }
h1 { margin: 0 0 8px; font-size: clamp(30px, 5vw, 42px); line-height: 1.15; letter-spacing: -.02em }
h1 small { margin-left: 8px; padding: 3px 10px; border: 1px solid var(--line); border-radius: 99px; color: var(--soft); font-size: 14px; font-weight: 500; letter-spacing: 0; vertical-align: middle; white-space: nowrap }
h2 { margin: 40px 0 12px; font-size: 20px }
p { margin: 0 0 12px } .soft { color: var(--soft) }
.lead { max-width: 62ch; font-size: 18px; color: var(--soft) }
a { color: var(--accent) }
.go { display: flex; flex-wrap: wrap; gap: 10px; margin-top: 20px }
.go a { padding: 8px 18px; border: 1px solid var(--accent); border-radius: 8px; font-weight: 600; text-decoration: none }
.go a:first-child { background: var(--accent); color: var(--on-accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 6px }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 14px }
.cards { display: grid; grid-template-columns: repeat(4, 1fr); gap: 14px; margin: 28px 0 0; padding: 0; list-style: none }
.cards img { display: block; width: 100%; height: auto; border-radius: 4.4% / 7% }
dl { display: grid; grid-template-columns: repeat(3, 1fr); gap: 14px; margin: 28px 0 0 }
dl div, .steps, nav a { background: var(--panel); border: 1px solid var(--line); border-radius: 12px }
dl div { padding: 12px 16px } dt { color: var(--soft); font-size: 14px } dd { margin: 0; overflow-wrap: anywhere } dd code { font-size: 16px; font-weight: 600 }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 14px; margin: 40px 0 12px } .bar h2 { margin: 0 }
button { padding: 7px 16px; border: 0; border-radius: 8px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer }
button:hover { filter: brightness(1.1) }
pre { margin: 0; padding: 16px; overflow-x: auto; line-height: 1.7 }
nav { display: grid; grid-template-columns: repeat(3, 1fr); gap: 14px }
nav a { padding: 14px 16px; text-decoration: none } nav a:hover { border-color: var(--accent) }
nav strong, nav span { display: block } nav span { color: var(--soft); font-size: 14px }
@media (max-width: 700px) { .cards { grid-template-columns: repeat(2, 1fr); gap: 10px } dl, nav { grid-template-columns: 1fr; gap: 10px } }
`

/** The address is the one that the page was loaded from, whatever the program knows of how it is reached. */
const SCRIPT = `
const session = document.getElementById('session')
const base = document.getElementById('url')
for (const node of [session, base]) node.textContent = node.textContent.replace(base.dataset.url, location.origin)
const button = document.getElementById('copy')
const said = document.getElementById('said')
button.hidden = false
button.addEventListener('click', async () => {
  said.textContent = ''
  try {
    await navigator.clipboard.writeText(session.textContent)
    said.textContent = 'Copied: paste it into a shell.'
  } catch {
    getSelection().selectAllChildren(session)
    said.textContent = 'Selected: copy it with Ctrl+C or \u2318C.'
  }
})
`

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Only what stands in the page, and the pictures of the same program. */
export const FRONT_POLICY = [
  "default-src 'none'",
  "img-src 'self' data:",
  `style-src ${digest(STYLE)}`,
  `script-src ${digest(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const drawFrontPage = (
  { name, version, about, url, credentials, session }: FrontFacts,
  /** Whether a browser, which sends no token, can use the control API. */
  open: boolean,
  products: readonly Product[],
): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name} sandbox</title>
<link rel="icon" href="${ICON}">
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${name} <small>sandbox ${version}</small></h1>
<p class="lead">${about} It is seeded, and yours to break.</p>
<p class="go"><a href="${CONSOLE_PATH}">Open the console</a> <a href="${LINKS.docs.path}">Read the reference</a></p>
${pictures(products)}<dl>
<div><dt>Base URL</dt><dd><code id="url" data-url="${url}">${url}</code></dd></div>
<div><dt>Username</dt><dd><code>${credentials.username}</code></dd></div>
<div><dt>Password</dt><dd><code>${credentials.password}</code></dd></div>
</dl>
<div class="bar"><h2>A first session</h2><button type="button" id="copy" hidden>Copy</button><span id="said" role="status" class="soft"></span></div>
<p class="soft">Log in, list products, price one and order it. Log in as <code>sbx_<var>name</var></code> with any password instead to make a world of that name: its data, clock and limits are its own.</p>
<div class="steps"><pre id="session" tabindex="0" role="region" aria-label="A session with curl">${session.join('\n')}
</pre></div>
<h2>From here</h2>
${!open && CLOSED}<nav aria-label="Places">
${Object.values(LINKS).map(
  ({ path, title, about }) => html`<a href="${path}"><strong>${title}</strong><span>${about}</span></a>\n`,
)}</nav>
</main>
<script>${new Html(SCRIPT)}</script>
</body>
</html>
`.text

const CLOSED = html`<p class="soft">Paths that begin with <code>/_sandbox</code> need the token of this sandbox as <code>X-Sandbox-Token</code>.</p>
`

const pictures = (products: readonly Product[]): Html | undefined =>
  products.length === 0
    ? undefined
    : html`<ul class="cards" aria-label="Gift cards on sale">
${products.map(
  ({ id, name }) => html`<li><img src="${cardPath(id)}" alt="${name}" width="640" height="400"></li>\n`,
)}</ul>
`
