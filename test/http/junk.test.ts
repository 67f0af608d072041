// Runs with --all alone: it takes long.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sharedServer } from '../harness.ts'
import { ANY_ID, ROUTES } from './routes.ts'

/** Whatever is sent: never a 5xx, and every refusal is JSON in one of the three shapes of spec section 7. */

const SEED = 4_747
const RUNS = 300

let token: string
const server = await sharedServer()

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const hasOnly = (value: Record<string, unknown>, ...names: string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name)) && names.every((name) => name in value)

const isStructured = (error: unknown): boolean =>
  isObject(error) &&
  hasOnly(error, 'name', 'code', 'message', ...('messages' in error ? ['messages'] : [])) &&
  [error.name, error.code, error.message].every(isText) &&
  (!('messages' in error) ||
    (isObject(error.messages) &&
      Object.entries(error.messages).every(
        ([field, list]) =>
          Array.isArray(list) &&
          list.length > 0 &&
          list.every((item) => isObject(item) && hasOnly(item, 'rule', 'field', 'message') && item.field === field),
      )))

/** One of the shapes of spec section 7. */
const isDocumentedError = (body: unknown): boolean => {
  if (!isObject(body)) return false
  if (hasOnly(body, 'error', 'message')) return isText(body.error) && isText(body.message)
  if (!hasOnly(body, 'error')) return false
  const { error } = body
  if (isText(error) || isStructured(error)) return true
  return isObject(error) && hasOnly(error, 'message', 'details') && isText(error.message) && isText(error.details)
}

const ID = fc.oneof(
  fc.constantFrom(
    '1',
    '2',
    '7',
    '2147483647',
    '2147483648',
    '0',
    '-1',
    '01',
    '1.5',
    '1e3',
    'x',
    '%',
    '%00',
    '%FF',
    '%2e%2e',
  ),
  fc.constantFrom('%E0%A4%A', '..', '.', '__proto__', 'constructor', 'ben_000000000000000000000000', "'%20OR%201=1--"),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.string({ unit: 'grapheme-ascii', maxLength: 300 }).map((text) => encodeURIComponent(text)),
)
const PUBLIC_PATHS = ['/auth/login', '/auth/refresh', '/status', '/livez', '/openapi.json', '/docs', '/cards/{id}', '/']
const CONTROL_PATHS = ['/_sandbox/clock', '/_sandbox/reset', '/_sandbox/{id}', '/docs/{id}', '/api/v1/{id}', '/{id}']
const METHOD = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS')
const ROUTE = fc.constantFrom(
  ...ROUTES.map(({ method, path }) => ({ method: method as string, path: path.replace(ANY_ID, '{id}') })),
)
const TARGET = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: ROUTE },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          { method: 'POST', path: '/api/v1/beneficiaries' },
          { method: 'POST', path: '/api/v1/orders' },
          { method: 'POST', path: '/api/v1/payouts' },
        ),
      },
      { weight: 1, arbitrary: fc.tuple(METHOD, ROUTE).map(([method, { path }]) => ({ method, path })) },
      { weight: 1, arbitrary: fc.record({ method: METHOD, path: fc.constantFrom(...PUBLIC_PATHS, ...CONTROL_PATHS) }) },
    ),
    ID,
    fc.constantFrom('', '', '', '', '/', '//', '/x'),
  )
  .map(([{ method, path }, id, tail]) => ({ method, path: path.replace('{id}', () => id) + tail }))

const PARAMETER = fc.tuple(
  fc.constantFrom(
    'page',
    'limit',
    'search',
    'sort',
    'sort_by',
    'sort_order',
    'category',
    'country_id',
    'currency_id',
    'wallet_id',
    'status',
    'created_from',
    'world',
    '__proto__',
    '',
  ),
  fc.oneof(
    fc.constantFrom(
      '1',
      '0',
      '-1',
      '01',
      '1e3',
      '99999999999999999999',
      '9007199254740993',
      '%',
      '%00',
      '%ED%A0%80',
      '',
    ),
    fc.constantFrom(
      'id',
      'name',
      'ASC',
      'desc',
      'created_at',
      'null',
      '%7B%22field%22%3A%22name%22%7D',
      '[]',
      '{',
      '+',
    ),
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
  ),
)
/** Names are drawn from few, so that some are given twice. */
const QUERY = fc
  .array(PARAMETER, { maxLength: 4 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`))

const MEMBER = fc.constantFrom(
  'product_id',
  'denomination',
  'quantity',
  'wallet_id',
  'amount',
  'currency',
  'reference_id',
  'client_reference',
  'beneficiary_id',
  'beneficiary_email',
  'email',
  'first_name',
  'last_name',
  'country',
  'phone',
  'metadata',
  'username',
  'password',
  'refresh_token',
  'now',
  'advance',
  'frozen',
)
const VALUE = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '1e400',
    '-0',
    '1e308',
    '9007199254740993',
    '0.1',
    '100',
    '2',
    'null',
    '""',
    '" "',
    '{}',
    '[]',
    'true',
  ),
  fc.constantFrom('"\\u0000"', '"\\ud800"', '{"__proto__":{"a":1}}', '"ada@example.com"', '"Ada"', '"+442079460958"'),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => JSON.stringify(text)),
  fc.nat(50).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
)
const OBJECT_TEXT = fc
  .array(fc.tuple(MEMBER, VALUE), { maxLength: 8 })
  .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`)
const GOOD_TEXT = fc.constantFrom(
  ...ROUTES.flatMap(({ goodBody }) => (goodBody ? [JSON.stringify({ ...goodBody, product_id: 1 })] : [])),
  '{"__proto__":{"a":1},"constructor":1,"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}',
)
const BODY = fc.oneof(
  { weight: 4, arbitrary: OBJECT_TEXT },
  { weight: 3, arbitrary: GOOD_TEXT },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '\uFEFF{}', '[[[[', '{"a":', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`),
  },
)

const HEADERS = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=utf-16',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'multipart/form-data',
      'application/octet-stream',
      'nonsense',
    ),
    'idempotency-key': fc.string({ unit: 'grapheme-ascii', maxLength: 300 }).map((text) => text.trim()),
    'x-request-id': fc.string({ unit: 'grapheme-ascii', maxLength: 200 }).map((text) => text.trim()),
    cookie: fc.constantFrom('a=b', '=;=;', '%', 'a="', '__proto__=1'),
    accept: fc.constantFrom('text/html', 'application/xml', '*/*', 'nonsense'),
    origin: fc.constantFrom('null', 'http://evil.example', 'http://[', 'nonsense'),
    'x-sandbox-token': fc.constantFrom('', 'x'),
    range: fc.constantFrom('bytes=0-1', 'bytes=9-1', 'x'),
    'if-none-match': fc.constantFrom('*', '"x"'),
    authorization: fc.constantFrom('Bearer', 'Bearer a.b.c', 'Basic eDp5', 'Bearer \u00ff', 'x'),
  },
  { requiredKeys: [] },
)

interface Junk {
  target: { method: string; path: string }
  query: string
  headers: Record<string, string>
  body: string | Uint8Array
  /** Whether the request is let in: without that, few would get anywhere. */
  authorized: boolean
}

const JUNK: fc.Arbitrary<Junk> = fc.record({
  target: TARGET,
  query: QUERY,
  headers: HEADERS.map((headers) => headers as Record<string, string>),
  body: BODY,
  authorized: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
})

const send = async ({ target: { method, path }, query, headers, body, authorized }: Junk): Promise<Response> => {
  const sent = authorized ? { ...headers, authorization: `Bearer ${token}` } : headers
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return server.request(path + query, {
    method,
    headers: sent,
    ...(hasBody && { body: typeof body === 'string' ? body : Buffer.from(body) }),
  })
}

describe('Random invalid requests', () => {
  test(`are refused in a documented format, without effect (seed ${SEED})`, async () => {
    const seen = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(JUNK, async (junk) => {
        // A run before may have logged out, or have moved the clock.
        token = (await (await server.world()).again()).token
        const response = await send(junk)
        const text = await response.text()
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
        expect(response.headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/)
        expect(response.status).toBeLessThan(500)
        if (response.status < 400) return
        expect([400, 401, 403, 404, 429]).toContain(response.status)
        if (junk.target.method === 'HEAD') return
        expect(response.headers.get('content-type')).toStartWith('application/json')
        expect(JSON.parse(text)).toSatisfy(isDocumentedError)
      }),
      { seed: SEED, numRuns: RUNS },
    )
    // It got everywhere: into the modules, and to each kind of refusal.
    for (const status of [200, 201, 400, 401, 403, 404])
      expect([status, seen.get(status) ?? 0]).not.toEqual([status, 0])
  })

  test('and the server still works', async () => {
    const world = await server.world()
    expect((await server.request('/status')).status).toBe(200)
    expect((await world.get('/api/v1/products')).status).toBe(200)
    expect((await world.get('/api/v1/beneficiaries')).headers.get('x-total-count')).toBe('0')
  })
})

describe('isDocumentedError, which checks the responses', () => {
  test.each([
    [{ error: { name: 'NotFoundError', code: 'NOT_FOUND', message: 'Route not found' } }],
    [{ error: 'NotFound', message: 'Beneficiary not found' }],
    [{ error: 'Product not found' }],
    [{ error: { message: 'Validation failed', details: 'x' } }],
  ])('accepts %j', (body) => {
    expect(isDocumentedError(body)).toBe(true)
  })

  test.each([
    [{}],
    [{ message: 'x' }],
    [{ error: '' }],
    [{ error: { message: 'x' } }],
    [{ error: { name: 'x', code: 'x', message: 'x', stack: 'x' } }],
    [{ error: 'x', message: 'x', cause: 'x' }],
    [[]],
    [null],
  ])('rejects %j', (body) => {
    expect(isDocumentedError(body)).toBe(false)
  })
})
