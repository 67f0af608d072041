// Runs in process alone: it proves logic, which is the same behind a socket.

import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { findOperations } from '../../src/commands/sandbox/mcp/operations.ts'
import { type ApiDocument, entriesOf, errorsIn } from '../../src/docs/document.ts'
import { search, termsIn } from '../../src/pages/search.ts'
import { forFile, startServer } from '../harness.ts'

const server = forFile(await startServer())

interface Found {
  title: string
  kind: string
  href: string
  words: string
  text: string
}

const textOf = async (path: string): Promise<string> => (await server.request(path)).text()
const index = async (): Promise<Found[]> => (await (await server.request('/docs/search.json')).json()) as Found[]

const document = (await (await server.request('/openapi.json')).json()) as ApiDocument
const operations = entriesOf(document)

/** No external content, and nothing inline. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

test.each([
  ['getPayout', ['created', 'action_required', 'expired']],
  ['cancelOrder', ['PENDING', 'PARTIALLY_DELIVERED', 'CANCELLED']],
  ['advancePayout', ['created', 'action_required', 'expired']],
  ['listDeliveries', ['attempt 1', '30 s', '2 min 30 s', '7 h 12 min 30 s', 'failed', 'delivered']],
  ['listWorlds', ['world a', 'client sbx_a, with wallets of', 'client sbx_b.limited, with wallets of', 'snapshots']],
])('/docs/operations/%s shows a picture of what it is about', async (operation, words) => {
  const [, picture = ''] = (await textOf(`/docs/operations/${operation}`)).split('<h2 id="picture">')
  expect(words.filter((word) => !picture.includes(`>${word}</text>`))).toEqual([])
})

test.each([
  ['webhooks', 'webhooks.svg', 'attempt 6'],
  ['testing-with-scrip', 'worlds.svg', 'world b'],
])('/docs/guides/%s shows %s among its words, and serves it as a file', async (guide, file, word) => {
  const drawn = await server.request(`/docs/guides/${file}`)
  expect([drawn.status, drawn.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8'])
  const svg = await drawn.text()
  expect(svg).toContain(`>${word}</text>`)
  expect(await textOf(`/docs/guides/${guide}`)).toContain(svg)
})

test('/docs/guides/desk shows pictures of its pages, which the program serves', async () => {
  const shown = [...(await textOf('/docs/guides/desk')).matchAll(/<img src="([^"]*)" alt="[^"]+"/g)]
  expect(shown.length).toBeGreaterThan(3)
  for (const [, path = ''] of shown) {
    const picture = await server.request(path)
    expect([path, picture.status, picture.headers.get('content-type')]).toEqual([path, 200, 'image/webp'])
    expect(Buffer.from(await picture.arrayBuffer()).toString('latin1', 8, 12)).toBe('WEBP')
  }
})

describe('GET /docs', () => {
  test.each([
    ['/', '/docs/page.js'],
    ['/docs', '/docs/page.js'],
    ['/docs/operations/createPayout', '/docs/page.js'],
    ['/docs/events/order.created', '/docs/page.js'],
    ['/docs/guides/webhooks', '/docs/page.js'],
    ['/_sandbox/console', '/_sandbox/console/page.js'],
  ])('%s is an HTML page that loads nothing external and runs nothing inline', async (path, script) => {
    const response = await server.request(path, { headers: { accept: 'text/html' } })
    const { status, headers } = response
    const page = await response.text()
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toBe(POLICY)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(page).toStartWith('<!doctype html>')
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?! type="module" src=)/)
    const loaded = [...page.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(([, address]) => address)
    expect(loaded.filter((address) => !address?.startsWith('data:'))).toEqual(['/docs/style.css', script])
  })

  test.each([
    ['/docs/style.css', 'text/css; charset=utf-8', 'light-dark('],
    ['/docs/page.js', 'text/javascript; charset=utf-8', 'clipboard'],
    ['/_sandbox/console/page.js', 'text/javascript; charset=utf-8', 'sandbox-token'],
  ])('%s comes from the program', async (path, type, content) => {
    const response = await server.request(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await response.text()).toContain(content)
  })

  test('has a page for each operation, with an example, all of its errors and what to do about each', async () => {
    for (const { operation } of operations) {
      const id = operation.operationId
      const response = await server.request(`/docs/operations/${id}`)
      const page = await response.text()
      expect({ id, status: response.status }).toEqual({ id, status: 200 })
      expect(page).toContain('aria-label="Request with curl"')
      const missing = errorsIn(operation).filter(({ name }) => !page.includes(`<li id="${name}">`))
      expect({ id, missing }).toEqual({ id, missing: [] })
      const without = [
        ...page.matchAll(/<li id="([^"]*)"><details><summary>(?:(?!<\/summary>).)*<\/summary>(?!<p class="advice">)/gs),
      ]
      expect({ id, withoutAdvice: without.map(([, name]) => name) }).toEqual({ id, withoutAdvice: [] })
    }
  })

  test('gives the advice of docs/use/errors.md below an error, and lists case-insensitive values once', async () => {
    expect(await textOf('/docs/operations/createPayout')).toContain(
      '<p class="advice">What to do: fund the wallet, or use another wallet.</p>',
    )
    expect(await textOf('/docs/operations/createPayout')).toContain('<a href="#errors">Errors</a>')
    const guide = await textOf('/docs/guides/errors')
    const kinds = operations.flatMap(({ operation }) => errorsIn(operation).map(({ name }) => name.split('.').at(-1)))
    expect(kinds).toContain('duplicate_reference')
    expect(kinds.filter((kind) => !guide.includes(`<code id="${kind}">`))).toEqual([])
    expect(guide).toContain('<a href="#status-codes">Status codes</a>')
    const orders = await textOf('/docs/operations/listOrders')
    expect(orders).toContain('One of <code>PENDING</code>, <code>PROCESSING</code>, <code>DELIVERED</code>')
    expect(orders).not.toContain('<code>pending</code>')
  })

  test('says limits in words', async () => {
    const order = await textOf('/docs/operations/placeOrder')
    expect(order).toContain('<code>8</code> to <code>256</code> characters')
    expect(order).toContain('At least <code>1</code>')
  })

  test('finds everything that has a page, and headings of guides', async () => {
    const found = await index()
    expect(found.map(({ href }) => href)).toEqual(
      expect.arrayContaining(operations.map(({ operation }) => `/docs/operations/${operation.operationId}`)),
    )
    expect(found).toContainEqual({
      title: 'Create a webhook',
      kind: 'Webhooks',
      href: '/docs/guides/webhooks#create-a-webhook',
      words: 'Webhooks',
      text: expect.stringContaining('secret'),
    })
    const statuses = found.find(({ href }) => href === '/docs/guides/errors#status-codes')
    expect(statuses?.text).toStartWith('status meaning retry? 400 the request is invalid no; correct the request 401')
    expect(search(found, termsIn('payouts.duplicate_reference'))[0]).toMatchObject({
      href: '/docs/operations/createPayout#payouts.duplicate_reference',
    })
  })

  test.each([
    ['lose', 'Testing with Scrip'],
    ['refund', 'POST /_sandbox'],
    ['retry', 'Idempot'],
    ['chargeback', 'refund'],
    ['gift card', 'voucher'],
  ])('finds by everyday words: %s', async (said, expected) => {
    const found = search(await index(), termsIn(said)).slice(0, 30)
    expect(JSON.stringify(found).toLowerCase()).toContain(expected.toLowerCase())
  })

  test.each([
    ['create an order', 'placeOrder'],
    ['how much money is in my wallet', 'getWallet'],
    ['buy a gift card', 'placeOrder'],
    ['send money to a person', 'createPayout'],
    ['check whether something is in stock', 'checkAvailability'],
    ['add a beneficiary', 'createBeneficiary'],
    ['POST /api/v1/orders', 'placeOrder'],
  ])('finds for an agent that asks how to %s', (said, operation) => {
    expect(findOperations(document, said)[0]?.operation).toBe(operation)
  })

  test.each(['/docs/operations/no', '/docs/events/constructor', '/docs/guides/__proto__'])(
    '%s is a page that leads home: 404',
    async (path) => {
      const response = await server.request(path)
      expect(response.status).toBe(404)
      expect(await response.text()).toContain('href="/docs"')
    },
  )
})

test.each(['..%2f', 'nothing.md', '__proto__.md', '..%2fREADME.md', 'architecture.md', 'fixtures/none.py'])(
  'a program that requests the guide %s gets the 404 of every unknown route',
  async (name) => {
    const response = await server.request(`/docs/guides/${name}`)
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: { name: 'NotFoundError', code: 'NOT_FOUND', message: 'Route not found' } },
    ])
  },
)

describe('GET /docs/guides', () => {
  test('links between guides lead to places that exist', async () => {
    const guides = (await index()).filter(({ kind }) => kind === 'Guide').map(({ href }) => href)
    const pages = new Map<string, string>()
    for (const path of guides) pages.set(path, await textOf(path))
    expect(guides.length).toBeGreaterThan(8)
    for (const [path, page] of pages) {
      for (const [, href = ''] of (page.split('<main')[1] ?? '').matchAll(/<a href="([^"]*)"/g)) {
        if (/^https?:/.test(href)) continue
        const { pathname, hash } = new URL(href, `http://x${path}`)
        const { status } = await server.request(pathname)
        const isThere = status === 200 && (hash === '' || pages.get(pathname)?.includes(`id="${hash.slice(1)}"`))
        expect({ path, href, isThere }).toEqual({ path, href, isThere: true })
      }
    }
  })
})

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }

test.each(['createPayout', 'listProducts', 'login', 'deleteBeneficiary', 'setRates'])(
  'the example of %s is the documented request, for a shell',
  async (id) => {
    const operation = operations.find((each) => each.operation.operationId === id)
    const markup = (await textOf(`/docs/operations/${id}`)).split('<code>curl')[1]?.split('</code>')[0] ?? ''
    const code = `curl${markup.replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')}`
    const shell = Bun.spawnSync(['sh', '-c', `curl() { printf '%s\\n' "$@"; }\n${code}`], { env: { TOKEN: 't' } })
    expect(String(shell.stderr)).toBe('')
    const said = String(shell.stdout)
    expect(said).toContain(`/${operation?.path.split('/')[1]}/`)
    if (id === 'createPayout') {
      expect(said).toContain('Authorization: Bearer t\n')
      expect(said).toContain('"amount": 50')
    }
  },
)

test('GET /llms.txt lists every guide as Markdown, and each is served as it is', async () => {
  const response = await server.request('/llms.txt')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
  const text = await response.text()
  expect(text).toStartWith('# Scrip\n\n> ')
  const listed = [...text.matchAll(/\]\((\S+\.md)\)/g)].map(([, url = '']) => new URL(url).pathname)
  const shown = (await index()).filter(({ kind }) => kind === 'Guide').map(({ href }) => `${href}.md`)
  expect(listed.toSorted()).toEqual(shown.toSorted())
  for (const path of listed) {
    const guide = await server.request(path)
    expect([guide.status, guide.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    const markdown = await guide.text()
    const file = [...new Glob(`docs/{start,use,operate}/${path.split('/').at(-1)}`).scanSync()][0] ?? ''
    expect(markdown).toBe((await Bun.file(file).text()).replace(/\]\(\.\.\/\w+\//g, ']('))
    for (const [, link = ''] of markdown.matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g))
      expect({ path, link, status: (await server.request(new URL(link, `http://x${path}`).pathname)).status }).toEqual({
        ...{ path, link, status: 200 },
      })
  }
})
