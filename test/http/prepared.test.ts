import { describe, expect, test } from 'bun:test'
import { sharedServer, startServer } from '../harness.ts'

const server = await sharedServer()
const world = await server.world()

/** Asks for a response as it is on the wire: not unpacked on the way. */
const ask = (path: string, headers: Record<string, string> = {}, client = world): Promise<Response> =>
  client.request(path, { headers: { 'accept-encoding': 'identity', ...headers }, decompress: false })
const etagOf = async (path: string, client = world): Promise<string> =>
  (await ask(path, {}, client)).headers.get('etag') ?? 'none'
const unpacked = async (response: Response): Promise<string> => {
  const packed = await response.arrayBuffer()
  const isZstd = response.headers.get('content-encoding') === 'zstd'
  return new TextDecoder().decode(isZstd ? Bun.zstdDecompressSync(packed) : Bun.gunzipSync(packed))
}

/** What is the same for every request until the catalog changes. */
const PATHS = [
  '/api/v1/countries',
  '/api/v1/countries/105',
  '/api/v1/currencies',
  '/api/v1/currencies/64',
  '/api/v1/categories',
  '/api/v1/subcategories',
  '/api/v1/products',
  '/api/v1/products?limit=10000',
  '/api/v1/products?sort=%7B%22name%22%3A%22ASC%22%7D&search=a',
  '/api/v1/products/1',
  '/cards/1',
  '/openapi.json',
]
/** Of those, what is long enough for compression to be worth it. */
const LONG = PATHS.filter((path) => !/(?:\/\d+|categories)$/.test(path))

describe.each(PATHS)('GET %s', (path) => {
  test('200 has a weak entity tag, the same each time', async () => {
    const first = await ask(path)
    expect(first.status).toBe(200)
    expect(first.headers.get('etag')).toMatch(/^W\/"[0-9a-z]+"$/)
    expect(first.headers.get('vary')).toBe('Accept-Encoding')
    expect(await etagOf(path)).toBe(first.headers.get('etag') ?? '')
  })

  test('304 for that tag, without a body, with the caching headers', async () => {
    const fresh = await ask(path)
    const etag = fresh.headers.get('etag') ?? ''
    const response = await ask(path, { 'if-none-match': etag, 'x-request-id': 'again' })
    expect(response.status).toBe(304)
    expect(await response.text()).toBe('')
    for (const name of ['etag', 'cache-control', 'vary']) {
      expect(response.headers.get(name)).toBe(fresh.headers.get(name))
    }
    expect(response.headers.get('x-request-id')).toBe('again')
    expect(response.headers.get('content-encoding')).toBeNull()
  })
})

test.each(['zstd', 'gzip', 'identity'])(
  'A long page of products in %s is the same when it was made before',
  async (coding) => {
    const path = '/api/v1/products?limit=9999' // no other test asks for it
    const headers = { 'accept-encoding': coding, 'x-request-id': 'same' }
    const ofTwo = await Promise.all([1, 2].map(() => ask(path, headers)))
    const pages = [...ofTwo, await ask(path, headers)]
    const [first = '', ...others] = await Promise.all(
      pages.map(async (page) => Bun.hash(await page.bytes()).toString()),
    )
    expect(others).toEqual([first, first])
    for (const { status, headers: sent } of pages) {
      expect([status, sent.get('content-encoding')]).toEqual([200, coding === 'identity' ? null : coding])
      expect(sent.get('x-total-count')).toBe(pages[0]?.headers.get('x-total-count') ?? 'none')
    }
  },
)

describe('If-None-Match', () => {
  const path = '/api/v1/countries'

  test.each([
    ['the tag among others', (etag: string) => `"other", ${etag} , W/"third"`],
    ['the tag as a strong one', (etag: string) => etag.slice(2)],
    ['a star', () => '*'],
  ])('304 for %s', async (_, header) => {
    expect((await ask(path, { 'if-none-match': header(await etagOf(path)) })).status).toBe(304)
  })

  test.each([
    ['another tag', () => 'W/"other"'],
    ['the tag without its quotes', (etag: string) => etag.slice(3, -1)],
    ['nothing', () => ''],
  ])('200 for %s', async (_, header) => {
    expect((await ask(path, { 'if-none-match': header(await etagOf(path)) })).status).toBe(200)
  })

  test('counts against the rate limit', async () => {
    await using limited = await startServer('--rate-limit', '10/h')
    const client = await limited.world()
    const headers = { 'if-none-match': await etagOf(path, client) }
    const response = await ask(path, headers, client)
    expect(response.status).toBe(304)
    expect(response.headers.get('x-ratelimit-remaining')).toBe('8')
  })

  test('needs a token: 401 without one', async () => {
    const headers = { 'if-none-match': await etagOf(path) }
    expect((await server.request(path, { headers })).status).toBe(401)
  })
})

describe('Accept-Encoding', () => {
  test.each(
    LONG.flatMap((path) => [
      ['gzip', path, 'gzip, deflate, br'],
      ['zstd', path, 'gzip, deflate, br, zstd'],
    ]),
  )('%s packs %s, and says the same', async (coding, path, header) => {
    const plain = await ask(path)
    const packed = await ask(path, { 'accept-encoding': header })
    const body = await plain.text()
    expect(packed.headers.get('content-encoding')).toBe(coding)
    expect(packed.headers.get('etag')).toBe(plain.headers.get('etag'))
    expect(packed.headers.get('vary')).toBe('Accept-Encoding')
    expect(packed.headers.get('content-type')).toBe(plain.headers.get('content-type'))
    expect(packed.headers.get('x-total-count')).toBe(plain.headers.get('x-total-count'))
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(Buffer.byteLength(body) / 2)
    expect(await unpacked(packed)).toBe(body)
  })

  test('a short response is not compressed', async () => {
    const response = await ask('/api/v1/countries/105', { 'accept-encoding': 'gzip' })
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(await response.json()).toMatchObject({ id: 105, alpha_3: 'IND' })
  })

  test.each([
    ...['gzip', 'GZIP', 'br, gzip;q=0.5', '*', 'deflate, *;q=0.1', 'x-gzip', 'gzip ; q=1.0'],
    ...['gzip, zstd;q=0.9', 'zstd;q=0, gzip', 'zstd;q=0, *', '*, zstd;q=0.5'],
  ])('%p selects gzip', async (header) => {
    const response = await ask('/api/v1/countries', { 'accept-encoding': header })
    expect(response.headers.get('content-encoding')).toBe('gzip')
  })

  test.each(['zstd', 'ZSTD', 'gzip;q=0.5, zstd;q=0.5', 'gzip;q=0, zstd', '*;q=0, zstd;q=0.1'])(
    '%p selects zstd',
    async (header) => {
      const response = await ask('/api/v1/countries', { 'accept-encoding': header })
      expect(response.headers.get('content-encoding')).toBe('zstd')
    },
  )

  test.each([
    'identity',
    'br',
    'zstd;q=0',
    'zstd;q=nothing',
    'gzip;q=0',
    'gzip;q=0.000, *',
    'gzip;q=nothing',
    'gzipped',
    '*;q=0',
    ',',
  ])('%p selects neither', async (header) => {
    const response = await ask('/api/v1/countries', { 'accept-encoding': header })
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(await response.json()).toHaveLength(249)
  })
})

describe('Prices', () => {
  const path = '/api/v1/products?limit=10000'

  test('of one client are never returned to another', async () => {
    const [ours, theirs] = [await server.world(), await server.world()]
    const clients = [ours, await ours.limited(), theirs, await theirs.limited()]
    const alone = await Promise.all(
      clients.map(async (client) => ({
        etag: await etagOf(path, client),
        body: await (await ask(path, {}, client)).text(),
      })),
    )
    const [sandbox, limited, otherSandbox, otherLimited] = alone
    expect(limited?.body).not.toBe(sandbox?.body)
    expect(limited?.etag).not.toBe(sandbox?.etag)
    expect([otherSandbox, otherLimited]).toEqual([sandbox, limited])
    // In turns, with each other's tags and in each other's encodings.
    for (let round = 0; round < 3; round++) {
      for (const [index, client] of clients.entries()) {
        const others = alone.filter(({ etag }) => etag !== alone[index]?.etag).map(({ etag }) => etag)
        const response = await ask(path, { 'if-none-match': others.join(', '), 'accept-encoding': 'gzip' }, client)
        expect(response.status).toBe(200)
        expect(await unpacked(response)).toBe(alone[index]?.body ?? '')
      }
    }
  })

  test('are private and must be revalidated', async () => {
    for (const each of PATHS.filter((path) => path.startsWith('/api'))) {
      expect((await ask(each)).headers.get('cache-control')).toBe('private, no-cache')
    }
  })
})
