import { describe, expect, test } from 'bun:test'
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
const operationIds = async (): Promise<string[]> => {
  const { paths } = (await (await server.request('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  return Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
}

const POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "style-src 'self'",
  "script-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

describe('GET /docs', () => {
  test.each(['/docs', '/docs/operations/createPayout', '/docs/events/order.created', '/docs/guides/webhooks'])(
    '%s is an HTML page that loads nothing external and runs nothing inline',
    async (path) => {
      const response = await server.request(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-security-policy')).toBe(POLICY)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      const page = await response.text()
      expect(page).toStartWith('<!doctype html>')
      expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?! type="module" src="\/docs\/reference\.js")/)
      const loaded = [...page.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(
        ([, address]) => address,
      )
      expect(loaded.filter((address) => !address?.startsWith('data:'))).toEqual([
        '/docs/reference.css',
        '/docs/reference.js',
      ])
    },
  )

  test('has a page for each operation, with examples in four languages and all of its errors', async () => {
    const errors = (await (await server.request('/_sandbox/errors')).json()) as { name: string; path: string }[]
    for (const id of await operationIds()) {
      const response = await server.request(`/docs/operations/${id}`)
      const page = await response.text()
      expect({ id, status: response.status }).toEqual({ id, status: 200 })
      for (const language of ['curl', 'JavaScript', 'Python', 'Go']) expect(page).toContain(`data-tab="${language}"`)
      const [, path = ''] = /data-path="([^"]*)"/.exec(page) ?? []
      const [, method = ''] = /data-method="([^"]*)"/.exec(page) ?? []
      const missing = errors
        .filter((error) => error.path === path && 'method' in error && error.method === method)
        .filter(({ name }) => !page.includes(`<li id="${name}">`))
      expect({ id, missing }).toEqual({ id, missing: [] })
      const without = [
        ...page.matchAll(/<li id="([^"]*)"><details><summary>(?:(?!<\/summary>).)*<\/summary>(?!<p class="advice">)/gs),
      ]
      expect({ id, withoutAdvice: without.map(([, name]) => name) }).toEqual({ id, withoutAdvice: [] })
    }
  })

  test('says below an error what to do, as docs/errors.md does, and lists a value once that is taken in either case', async () => {
    expect(await textOf('/docs/operations/createPayout')).toContain(
      '<p class="advice">What to do: fund the wallet, or use another wallet.</p>',
    )
    const orders = await textOf('/docs/operations/listOrders')
    expect(orders).toContain('One of <code>PENDING</code>, <code>PROCESSING</code>, <code>DELIVERED</code>')
    expect(orders).not.toContain('<code>pending</code>')
    expect(orders).not.toContain('<option>pending</option>')
  })

  test('offers the faults that an operation documents, and none for the control API', async () => {
    const payout = await textOf('/docs/operations/createPayout')
    expect(payout).toContain('<option value="payouts.insufficient_balance">')
    expect(payout).toContain('<option value="rate_limited">')
    expect(await textOf('/docs/operations/moveClock')).not.toContain('Ask for a fault')
  })

  test('finds everything that it has pages for, and headings of guides', async () => {
    const found = await index()
    expect(found.map(({ href }) => href)).toEqual(
      expect.arrayContaining((await operationIds()).map((id) => `/docs/operations/${id}`)),
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
    expect(found.find(({ href }) => href.endsWith('/createPayout'))?.words).toContain('payouts.duplicate_reference')
  })

  test('shows for an unknown operation, event or guide a page that leads home', async () => {
    for (const path of [
      '/docs/operations/no',
      '/docs/events/constructor',
      '/docs/guides/__proto__',
      '/docs/guides/..%2f',
    ]) {
      const response = await server.request(path)
      expect({ path, status: response.status }).toEqual({ path, status: 404 })
      expect(await response.text()).toContain('href="/docs"')
    }
  })

  test('keeps tokens only in memory', async () => {
    expect(await textOf('/docs/reference.js')).not.toMatch(/localStorage|sessionStorage|document\.cookie|innerHTML/)
  })

  test('loads its files from the program, and they are small', async () => {
    for (const [path, type] of [
      ['/docs/reference.css', 'text/css; charset=utf-8'],
      ['/docs/reference.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      const file = await server.request(path)
      expect(file.headers.get('content-type')).toBe(type)
      expect((await file.bytes()).length).toBeLessThan(40_000)
    }
  })
})

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
        const target = pages.get(pathname)
        const isThere =
          pathname === '/docs' || (target !== undefined && (hash === '' || target.includes(`id="${hash.slice(1)}"`)))
        expect({ path, href, isThere }).toEqual({ path, href, isThere: true })
      }
    }
  })
})

describe('examples of the reference', () => {
  const LANGUAGES = ['curl', 'JavaScript', 'Python', 'Go'] as const
  const codeOf = async (id: string, language: (typeof LANGUAGES)[number]): Promise<string> => {
    const page = await textOf(`/docs/operations/${id}`)
    const markup = page.split(`data-tab="${language}"`)[1]?.split('<code>')[1]?.split('</code>')[0] ?? ''
    return markup.replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
  }
  const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }

  test.each(['createPayout', 'listProducts', 'login', 'deleteBeneficiary', 'setRates'])(
    '%s are valid programs',
    async (id) => {
      const javaScript = await codeOf(id, 'JavaScript')
      expect(() => new Bun.Transpiler({ loader: 'js' }).transformSync(javaScript)).not.toThrow()
      const shell = Bun.spawnSync(['sh', '-n', '-c', await codeOf(id, 'curl')])
      expect(String(shell.stderr)).toBe('')
      if (Bun.which('python3')) {
        const compiled = Bun.spawnSync([
          'python3',
          '-c',
          'import sys; compile(sys.argv[1], "x", "exec")',
          await codeOf(id, 'Python'),
        ])
        expect(String(compiled.stderr)).toBe('')
      }
      if (Bun.which('gofmt')) {
        const formatted = Bun.spawnSync(['gofmt'], { stdin: Buffer.from(`${await codeOf(id, 'Go')}\n`) })
        expect(String(formatted.stderr)).toBe('')
        expect(String(formatted.stdout)).toBe(`${await codeOf(id, 'Go')}\n`)
      }
    },
  )

  test('send the request that is documented', async () => {
    const code = await codeOf('createPayout', 'JavaScript')
    const sent: unknown[] = []
    const run = new Function('fetch', 'process', 'console', `return (async () => {${code}})()`) as (
      ...given: unknown[]
    ) => Promise<void>
    const fetched = async (url: string, init: { headers: object; method: string; body: string }) => {
      sent.push([url, init.method, init.headers, JSON.parse(init.body)])
      return new Response('{}')
    }
    await run(fetched, { env: { TOKEN: 't' } }, { log: () => undefined })
    expect(sent).toEqual([
      [
        expect.stringMatching(/^http:.*\/api\/v1\/payouts$/),
        'POST',
        { Authorization: 'Bearer t', 'Content-Type': 'application/json' },
        expect.objectContaining({ wallet_id: 1, amount: 50 }),
      ],
    ])
  })
})

describe('GET /llms.txt', () => {
  test('lists every guide as Markdown, and each is served as it is', async () => {
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
      expect(await guide.text()).toBe(await Bun.file(`docs/${path.split('/').at(-1)}`).text())
    }
  })

  test.each(['nothing', '__proto__', '..%2fREADME'])('404 for the guide %s.md', async (name) => {
    expect((await server.request(`/docs/guides/${name}.md`)).status).toBe(404)
  })
})
