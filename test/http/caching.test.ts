import { describe, expect, spyOn, test } from 'bun:test'
import { againstBinary, forFile, startServer } from '../harness.ts'
import { folderOfFile } from '../program.ts'
import { INSTANT, ORDERS, PAYOUTS } from '../records.ts'

/**
 * Caches between clients and Scrip may keep what is the same for everybody, and nothing else (contract C4). The tests of the
 * document look at each documented response.
 */

const servers = {
  sandbox: forFile(await startServer('--rate-limit', 'off')),
  live: forFile(await startServer('--mode', 'live', '--data-dir', folderOfFile())),
}
const { sandbox } = servers

/** The pages that both modes have, and those of the sandbox. */
const BOTH = [
  '/docs',
  '/openapi.json',
  '/llms.txt',
  '/docs/search.json',
  '/docs/style.css',
  '/docs/page.js',
  '/docs/operations/createPayout',
  '/docs/events/order.created',
  '/docs/guides/running-live',
  '/docs/guides/running-live.md',
  '/docs/guides/compose.yaml',
  '/',
]
const FILES: [mode: keyof typeof servers, path: string][] = [
  ...BOTH.map((path): (typeof FILES)[number] => ['sandbox', path]),
  ...BOTH.map((path): (typeof FILES)[number] => ['live', path]),
  ['sandbox', '/docs/guides/quickstart'],
  ['sandbox', '/cards/1'],
  ['sandbox', '/_sandbox/console'],
  ['sandbox', '/_sandbox/console/page.js'],
]

describe('Pages that are the same for everybody', () => {
  test.each(FILES)('of the %s may be kept, and are asked for again: %s', async (mode, path) => {
    const server = servers[mode]
    const first = await server.request(path)
    const text = await first.text()
    const etag = first.headers.get('etag') ?? ''
    expect(first.status).toBe(200)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    expect(etag).toMatch(/^(?:W\/)?"[\w-]+"$/)
    const strong = etag.replace(/^W\//, '')
    const again = await server.request(path)
    expect([again.headers.get('etag'), await again.text()]).toEqual([etag, text])
    for (const known of [etag, strong, `W/${strong}`, `"another", ${etag}`, '*']) {
      const same = await server.request(path, { headers: { 'if-none-match': known } })
      expect([same.status, await same.text()]).toEqual([304, ''])
      for (const name of ['cache-control', 'etag', 'vary', 'content-security-policy'])
        expect([name, same.headers.get(name)]).toEqual([name, first.headers.get(name)])
    }
    const changed = await server.request(path, { headers: { 'if-none-match': '"another"' } })
    expect([changed.status, await changed.text()]).toEqual([200, text])
  })

  test('have another ETag for another text, as the front page of people and of programs', async () => {
    const [page, json] = await Promise.all(
      ['text/html', 'application/json'].map((accept) => sandbox.request('/', { headers: { accept } })),
    )
    expect(page?.headers.get('vary')).toBe('Accept')
    expect(page?.headers.get('etag')).not.toBe(json?.headers.get('etag') ?? null)
  })

  // A page that is made for each request costs the others a hundred times what /status does.
  test.skipIf(againstBinary)('are made once', async () => {
    using made = spyOn(Bun.markdown, 'html')
    for (let request = 0; request < 3; request++) await sandbox.request('/docs/guides/money')
    expect(made).toHaveBeenCalledTimes(1)
  })
})

describe('Responses that no cache may keep', () => {
  test('are those of probes, of unknown paths, and of requests that are refused', async () => {
    for (const path of [
      '/livez',
      '/readyz',
      '/status',
      '/nowhere',
      '/docs/guides/nowhere',
      '/api/v1/wallets',
      '/_sandbox/nowhere',
    ]) {
      const response = await sandbox.request(path)
      expect([path, response.headers.get('cache-control'), response.headers.get('etag')]).toEqual([
        path,
        'no-store',
        null,
      ])
    }
  })

  test('are replays, dry runs, injected errors and the pages of a gateway', async () => {
    const world = await sandbox.world()
    const order = { product_id: INSTANT.product_id, denomination: INSTANT.denomination, quantity: 1 }
    const key = { 'idempotency-key': 'one order alone' }
    const responses = [
      await world.post(ORDERS, order, key),
      await world.post(ORDERS, order, key),
      await world.post(ORDERS, order, { 'x-dry-run': 'true' }),
      await world.get(ORDERS, { 'x-sandbox-fault': 'internal' }),
      await world.get(ORDERS, { 'x-sandbox-fault': 'internal; when=after' }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 500, 500])
    await world.control('/faults', { status: 502, match: { path: PAYOUTS } })
    const gateway = await world.get(PAYOUTS)
    expect(gateway.status).toBe(502)
    for (const { headers } of [...responses, gateway]) expect(headers.get('cache-control')).toBe('no-store')
  })
})
