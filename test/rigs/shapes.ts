import { bytesOf } from './connection.ts'

/** The dearest requests that anyone can think of, for the fairness rig to measure: each a lawful use of an operation. */

export type Who = 'client' | 'stranger' | 'sandbox'

export interface Shape {
  name: string
  who: Who
  /** The request; n is another number each time, for what has to be new. */
  request: (n: number, token: string) => Uint8Array
}

const MIB = 1_048_576
const VALUES_MAX = 10_000
const SECRET_BYTES_MAX = 8_192
const HEADER_BYTES = 14_000
const QUERY_BYTES = 14_000

const client = (
  name: string,
  path: string | ((n: number) => string),
  headers: Record<string, string> = {},
  rest: { method?: string; body?: string | ((n: number) => string) } = {},
): Shape => ({
  name,
  who: 'client',
  request: (n, token) =>
    bytesOf({
      path: typeof path === 'string' ? path : path(n),
      headers: { Authorization: `Bearer ${token}`, ...headers },
      ...(rest.method !== undefined && { method: rest.method }),
      ...(rest.body !== undefined && { body: typeof rest.body === 'string' ? rest.body : rest.body(n) }),
    }),
})
const other = (
  who: 'stranger' | 'sandbox',
  name: string,
  method: string,
  path: string | ((n: number) => string),
  body?: string | ((n: number) => string),
  headers: Record<string, string> = {},
): Shape => ({
  name,
  who,
  request: (n) =>
    bytesOf({
      method,
      path: typeof path === 'string' ? path : path(n),
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : body(n) }),
    }),
})

const filled = (bytes: number, start: string, end: string): string =>
  start + 'x'.repeat(Math.max(0, bytes - start.length - end.length)) + end
const repeated = (bytes: number, item: string): string => item.repeat(Math.floor(bytes / item.length))
const members = (count: number, value: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `"member-${index}":${value(index)}`).join(',')
const nested = (levels: number, inner: string): string => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`

/** Bodies of the largest size that is read, each slow in a way of its own; a prefix holds what is valid. */
const heavyBodies = (bytes: number): Record<string, (prefix: string) => string> => ({
  'one long text': (prefix) => filled(bytes, `{${prefix}"note":"`, '"}'),
  'escapes in a text': (prefix) => `{${prefix}"note":"${repeated(bytes - 200, '\\u0041')}"}`,
  'astral characters': (prefix) =>
    `{${prefix}"note":"${repeated(bytes - 200, '😀').slice(0, Math.floor((bytes - 200) / 4) * 2)}"}`,
  'as many values as are allowed': (prefix) => `{${prefix}"note":[${'1,'.repeat(VALUES_MAX - 20)}1]}`,
  'as many members as are allowed': (prefix) => `{${prefix}${members(VALUES_MAX - 20, () => '1')}}`,
  'long members': (prefix) =>
    `{${prefix}${Array.from({ length: 1_000 }, (_, i) => `"${i}${'m'.repeat(Math.floor(bytes / 1_010))}":1`).join(',')}}`,
  'long numbers': (prefix) => `{${prefix}"note":[${repeated(bytes - 2_000, `${'1'.repeat(1_000)},`)}1]}`,
  'one long number': (prefix) => `{${prefix}"note":${'1'.repeat(bytes - 200)}}`,
  'a million values': (prefix) => `{${prefix}"note":[${repeated(bytes - 200, '1,')}1]}`,
  'a million objects': (prefix) => `{${prefix}"note":[${repeated(bytes - 200, '{},')}1]}`,
  'deep nesting': (prefix) => `{${prefix}"note":${nested(Math.floor((bytes - 200) / 2), '')}}`,
  'nesting at the bound, often': (prefix) => `{${prefix}"note":[${repeated(bytes - 200, `${nested(29, '')},`)}1]}`,
  'not JSON at its very end': (prefix) => filled(bytes, `{${prefix}"note":"`, '"'),
  blanks: (prefix) => `{${prefix}"note":1${' '.repeat(bytes - 200)}}`,
})

const PERSON = '"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace",'
const QUOTE = '"denomination":100,"quantity":2,'
const payoutOf = (n: number): string =>
  `"reference_id":"r-${n}","wallet_id":1,"amount":1.25,"currency":"USD","beneficiary_email":"ada@example.com","beneficiary_first_name":"Ada","beneficiary_last_name":"Lovelace",`
const orderOf = (n: number): string => `"product_id":1,"denomination":100,"quantity":1,"client_reference":"o-${n}",`

const bodyShapes = (): Shape[] => {
  const shapes: Shape[] = []
  for (const [kind, make] of Object.entries(heavyBodies(MIB - 8))) {
    const fixed = make(PERSON)
    const quote = make(QUOTE)
    const bare = make('')
    shapes.push(
      client(`POST beneficiaries: ${kind}`, '/api/v1/beneficiaries', {}, { body: fixed }),
      client(`POST charges: ${kind}`, '/api/v1/products/1/charges', {}, { body: quote }),
      client(`POST availability: ${kind}`, '/api/v1/products/1/availability', {}, { body: quote }),
      client(`POST discount: ${kind}`, '/api/v1/products/1/discount', {}, { body: quote }),
      client(`POST payouts: ${kind}`, '/api/v1/payouts', {}, { body: (n) => make(payoutOf(n)) }),
      {
        name: `POST beneficiaries, keyed: ${kind}`,
        who: 'client',
        request: (n, token) =>
          bytesOf({
            path: '/api/v1/beneficiaries',
            headers: { Authorization: `Bearer ${token}`, 'Idempotency-Key': `fairness-${n}` },
            body: fixed,
          }),
      },
      {
        name: `POST orders, keyed: ${kind}`,
        who: 'client',
        request: (n, token) =>
          bytesOf({
            path: '/api/v1/orders',
            headers: { Authorization: `Bearer ${token}`, 'Idempotency-Key': `fairness-${n}` },
            body: make(orderOf(n)),
          }),
      },
      other('stranger', `POST beneficiaries without a token: ${kind}`, 'POST', '/api/v1/beneficiaries', fixed),
      other('stranger', `POST nowhere: ${kind}`, 'POST', '/nowhere', bare),
      other('stranger', `login: ${kind}`, 'POST', '/auth/login', make('"username":"nobody","password":"p",')),
      other('stranger', `refresh: ${kind}`, 'POST', '/auth/refresh', make('"refresh_token":"x",')),
      client(`logout: ${kind}`, '/auth/logout', { 'X-Nothing': '1' }, { body: bare }),
      other('sandbox', `PUT a world: ${kind}`, 'PUT', '/_sandbox/worlds/heavy', bare),
      other('sandbox', `POST faults: ${kind}`, 'POST', '/_sandbox/faults?world=attacker', bare),
      other('sandbox', `POST clock: ${kind}`, 'POST', '/_sandbox/clock?world=attacker', bare),
    )
  }
  for (const [kind, make] of Object.entries(heavyBodies(SECRET_BYTES_MAX - 8))) {
    if (kind.includes('members')) continue
    shapes.push(
      other('stranger', `login of 8 KiB: ${kind}`, 'POST', '/auth/login', make('"username":"nobody","password":"p",')),
      other('stranger', `refresh of 8 KiB: ${kind}`, 'POST', '/auth/refresh', make('"refresh_token":"x",')),
    )
  }
  return shapes
}

const metadata = (entries: number): string => `{${members(entries, () => '1')}}`

const writeShapes = (): Shape[] => [
  client('POST beneficiaries', '/api/v1/beneficiaries', {}, { body: `{${PERSON}"country":"GB"}` }),
  client(
    'POST beneficiaries, 16 KiB of metadata',
    '/api/v1/beneficiaries',
    {},
    { body: `{${PERSON}"metadata":${metadata(900)}}` },
  ),
  client(
    'POST beneficiaries, an e-mail of 1 MiB',
    '/api/v1/beneficiaries',
    {},
    { body: `{"email":"${'a'.repeat(MIB / 2)}@${'b.'.repeat(MIB / 8)}com","first_name":"A","last_name":"L"}` },
  ),
  client(
    'POST beneficiaries, an e-mail of dots',
    '/api/v1/beneficiaries',
    {},
    { body: `{"email":"${'a.'.repeat(100)}@${'b.'.repeat(20)}com","first_name":"A","last_name":"L"}` },
  ),
  client(
    'POST beneficiaries, a phone of 1 MiB',
    '/api/v1/beneficiaries',
    {},
    { body: `{${PERSON}"phone":"+${'1-'.repeat(MIB / 3)}"}` },
  ),
  client(
    'POST beneficiaries, a phone of blanks and brackets',
    '/api/v1/beneficiaries',
    {},
    { body: `{${PERSON}"phone":"+44${' ('.repeat(MIB / 3)}20 7946 0958"}` },
  ),
  client(
    'POST beneficiaries, a first name of blanks',
    '/api/v1/beneficiaries',
    {},
    { body: `{"email":"a@b.co","first_name":"${' '.repeat(MIB / 2)}x${' '.repeat(MIB / 3)}","last_name":"L"}` },
  ),
  client('POST payouts', '/api/v1/payouts', {}, { body: (n) => `{${payoutOf(n)}"metadata":{}}` }),
  client(
    'POST payouts, 16 KiB of metadata',
    '/api/v1/payouts',
    {},
    { body: (n) => `{${payoutOf(n)}"metadata":${metadata(900)}}` },
  ),
  client(
    'POST orders, five vouchers',
    '/api/v1/orders',
    {},
    { body: (n) => `{"product_id":1,"denomination":10,"quantity":5,"client_reference":"w-${n}"}` },
  ),
  client(
    'POST orders, fifty vouchers',
    '/api/v1/orders',
    {},
    { body: (n) => `{"product_id":1,"denomination":10,"quantity":50,"client_reference":"v-${n}"}` },
  ),
  client(
    'POST charges, never the same',
    '/api/v1/products/1/charges',
    {},
    { body: (n) => `{"denomination":${100 + (n % 400)},"quantity":${1 + (n % 5)}}` },
  ),
  client(
    'refused: insufficient balance',
    '/api/v1/payouts',
    {},
    { body: (n) => `{${payoutOf(n).replace('1.25', '999999999')}"metadata":{}}` },
  ),
]

const TEXTS: Record<string, string> = {
  'in vain': 'zzzzzzzzzz',
  'of one letter': 'q',
  'that almost fits': `ada.${'1'.repeat(20)}`,
  'that fits all': 'ada',
  'of 200 letters': 'a'.repeat(200),
  'of 4,000 letters': 'a'.repeat(4_000),
  'of astral characters': encodeURIComponent('😀'.repeat(300)),
}

/** Bodies of unknown length: the runtime hands over each chunk by itself. */
const chunkedShapes = (): Shape[] => {
  const shapes: Shape[] = []
  for (const chunkBytes of [1, 64, 65_536]) {
    const chunk = `${chunkBytes.toString(16)}\r\n${'x'.repeat(chunkBytes)}\r\n`
    const content = Buffer.from(`${chunk.repeat(Math.floor(MIB / chunkBytes))}0\r\n\r\n`)
    const post = (path: string, headers: Record<string, string>): Uint8Array =>
      Buffer.concat([
        bytesOf({ method: 'POST', path, headers: { ...headers, 'Transfer-Encoding': 'chunked' } }),
        content,
      ])
    shapes.push(
      {
        name: `POST beneficiaries in chunks: of ${chunkBytes}`,
        who: 'client',
        request: (_, token) => post('/api/v1/beneficiaries', { Authorization: `Bearer ${token}` }),
      },
      { name: `login in chunks: of ${chunkBytes}`, who: 'stranger', request: () => post('/auth/login', {}) },
    )
  }
  return shapes
}

const listShapes = (): Shape[] => {
  const shapes: Shape[] = []
  const list = (name: string, path: string, headers: Record<string, string> = {}): void => {
    const joint = path.includes('?') ? '&' : '?'
    shapes.push(client(`GET ${name}`, (n) => `${path}${joint}unknown=${n}`, headers))
  }
  for (const records of ['beneficiaries', 'payouts', 'transactions', 'products']) {
    for (const [kind, text] of Object.entries(TEXTS)) {
      list(`${records}: a search ${kind}`, `/api/v1/${records}?search=${text}&limit=100`)
    }
  }
  list(
    'beneficiaries: a search by last name, deep',
    '/api/v1/beneficiaries?search=lovelace&sort_by=last_name&page=1500&limit=100',
  )
  list(
    'payouts: a search by amount, failed, deep',
    '/api/v1/payouts?search=bonus&sort_by=amount&status=failed&page=200&limit=100',
  )
  list('payouts: a search in vain by amount', '/api/v1/payouts?search=zzz&sort_by=amount&status=failed')
  for (const field of [
    'created_at',
    'email',
    'first_name',
    'last_name',
    'country',
    'total_payouts',
    'total_amount',
    'last_payout_at',
  ]) {
    for (const page of [1, 1_500, 2_999]) {
      list(
        `beneficiaries by ${field}, page ${page}`,
        `/api/v1/beneficiaries?limit=100&sort_by=${field}&sort_order=ASC&page=${page}`,
      )
    }
  }
  for (const field of ['created_at', 'amount', 'status']) {
    for (const status of ['', '&status=completed', '&status=failed&currency=USD']) {
      for (const page of [1, 1_400])
        list(
          `payouts by ${field}, page ${page}${status}`,
          `/api/v1/payouts?limit=100&sort_by=${field}&page=${page}${status}`,
        )
    }
  }
  const sorted = (field: string): string => encodeURIComponent(JSON.stringify({ field, direction: 'ASC' }))
  for (const field of ['id', 'amount', 'created_at']) {
    for (const [limit, page] of [
      [10_000, 1],
      [10_000, 15],
      [10_000, 29],
      [1, 150_000],
    ]) {
      list(
        `transactions by ${field}, page ${page} of ${limit}`,
        `/api/v1/transactions?limit=${limit}&page=${page}&sort=${sorted(field)}`,
      )
    }
  }
  for (const filter of [
    'transaction_type=CREDIT',
    'transaction_type=DEBIT&status=COMPLETED&source_type=order',
    'status=FAILED',
    'source_type=adjustment',
    'wallet_id=2',
    'currency=EUR',
    'currency=USD&transaction_type=DEBIT',
    'created_from=2020-01-01T00:00:00Z&created_to=2090-01-01T00:00:00Z',
    'created_from=2020-01-01T00:00:00Z&created_to=2090-01-01T00:00:00Z&transaction_type=CREDIT',
  ]) {
    list(`transactions: ${filter}`, `/api/v1/transactions?limit=10&${filter}`)
    list(
      `transactions: ${filter}, by amount, deep`,
      `/api/v1/transactions?limit=10&page=10000&${filter}&sort=${sorted('amount')}`,
    )
  }
  for (const filter of [
    '',
    '&status=DELIVERED',
    '&product_id=1',
    '&status=FAILED&product_id=1',
    '&client_reference=gift-1',
    '&status=DELIVERED&product_id=1',
  ]) {
    list(`orders${filter}`, `/api/v1/orders?limit=100${filter}`)
    list(`orders, deep${filter}`, `/api/v1/orders?limit=100&page=1500${filter}`)
  }
  for (const encoding of ['identity', 'gzip', 'zstd', 'br, gzip;q=0.9']) {
    list(`products, 10,000 in ${encoding}`, '/api/v1/products?limit=10000', { 'Accept-Encoding': encoding })
    list(`products by name in ${encoding}`, `/api/v1/products?limit=10000&sort=${sorted('name')}`, {
      'Accept-Encoding': encoding,
    })
    list(`transactions, 10,000 in ${encoding}`, '/api/v1/transactions?limit=10000', { 'Accept-Encoding': encoding })
    list(`countries in ${encoding}`, '/api/v1/countries', { 'Accept-Encoding': encoding })
  }
  list('products, a search', '/api/v1/products?limit=10000&search=gift')
  list(
    'products, everything',
    `/api/v1/products?limit=10000&search=a&category=${encodeURIComponent('Food & Dining')}&sort=${sorted('category')}`,
  )
  list('wallets', '/api/v1/wallets?limit=10000')
  return shapes
}

const long = (bytes: number, item: string): string => repeated(bytes, item)

const headerShapes = (): Shape[] => [
  client('header: If-None-Match of many tags', '/api/v1/products?limit=10', {
    'If-None-Match': long(HEADER_BYTES, '"abc", '),
  }),
  client('header: Accept-Encoding of many words', '/api/v1/products?limit=10', {
    'Accept-Encoding': long(HEADER_BYTES, 'a;q=0.1,'),
  }),
  client('header: Accept of many words', '/api/v1/products?limit=10', { Accept: long(HEADER_BYTES, 'a/b;q=0.1,') }),
  client('header: Cookie', '/api/v1/products?limit=10', { Cookie: long(HEADER_BYTES, 'a=b; ') }),
  client('header: X-Request-Id', '/api/v1/products?limit=10', { 'X-Request-Id': long(HEADER_BYTES, 'a') }),
  client('header: X-Sandbox-Fault', '/api/v1/products?limit=10', { 'X-Sandbox-Fault': long(HEADER_BYTES, 'a;') }),
  client(
    'header: Idempotency-Key',
    '/api/v1/beneficiaries',
    { 'Idempotency-Key': long(HEADER_BYTES, 'a') },
    { body: `{${PERSON}"country":"GB"}` },
  ),
  client('query of many parameters', `/api/v1/products?${long(QUERY_BYTES, 'a=b&')}`),
  client('query of percent signs', `/api/v1/products?search=${long(QUERY_BYTES, '%41')}`),
  client('query of blanks', `/api/v1/products?search=${long(QUERY_BYTES, '+')}`),
  client('query: a long sort', `/api/v1/products?sort=${long(QUERY_BYTES, '[')}`),
  client('query: a long page', `/api/v1/products?page=${long(QUERY_BYTES, '1')}`),
  client('path of slashes', `/api/v1/products${long(QUERY_BYTES, '/')}`),
  client('path: a long id', `/api/v1/products/${long(QUERY_BYTES, '1')}`),
  client('path of percent signs', `/api/v1/beneficiaries/${long(QUERY_BYTES, '%41')}`),
  client('path of dots', `/api/v1/${long(QUERY_BYTES, '../')}products`),
  other('stranger', 'token: garbage of 14 kB', 'GET', '/api/v1/products', undefined, {
    Authorization: `Bearer ${long(HEADER_BYTES, 'a')}`,
  }),
  other('stranger', 'token: a wrong signature', 'GET', (n) => `/api/v1/products?${n}`, undefined, {
    Authorization:
      'Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.Zk3nZk3nZk3nZk3nZk3nZk3nZk3nZk3nZk3nZk3nZk3',
  }),
  other('stranger', 'token: a large payload', 'GET', '/api/v1/products', undefined, {
    Authorization: `Bearer ${Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')}.${Buffer.from(`{"sub":"1","x":"${'a'.repeat(9_000)}"}`).toString('base64url')}.AAAA`,
  }),
  other('stranger', 'no token', 'GET', '/api/v1/products'),
  other('stranger', 'unknown route', 'GET', '/nowhere'),
  other('stranger', 'unknown method', 'PROPFIND', '/api/v1/products'),
  other('stranger', 'query of 14 kB', 'GET', `/status?${long(QUERY_BYTES, 'a=b&')}`),
]

const publicShapes = (): Shape[] => {
  const shapes: Shape[] = []
  for (const encoding of ['identity', 'gzip', 'zstd']) {
    for (const path of ['/', '/docs', '/openapi.json', '/status', '/metrics', '/cards/1', '/livez', '/readyz']) {
      shapes.push(
        other('stranger', `GET ${path} in ${encoding}`, 'GET', (n) => `${path}?${n}`, undefined, {
          'Accept-Encoding': encoding,
        }),
      )
    }
  }
  shapes.push(
    other('stranger', 'GET /cards of many products', 'GET', (n) => `/cards/${1 + (n % 400)}?${n}`),
    other('stranger', 'GET / as HTML', 'GET', (n) => `/?${n}`, undefined, { Accept: 'text/html' }),
    other('stranger', 'a login that fails', 'POST', '/auth/login', '{"username":"sandbox","password":"wrong"}'),
    other(
      'stranger',
      'logins of unknown names that fail',
      'POST',
      '/auth/login',
      (n) => `{"username":"nobody-${n}","password":"wrong"}`,
    ),
    other('stranger', 'a login', 'POST', '/auth/login', '{"username":"sandbox","password":"sandbox"}'),
    other(
      'stranger',
      'a login that makes a world',
      'POST',
      '/auth/login',
      (n) => `{"username":"sbx_w${n}","password":"p"}`,
    ),
    other(
      'stranger',
      'a login that makes a world, refused',
      'POST',
      '/auth/login',
      (n) => `{"username":"sbx_${'w'.repeat(64)}${n}","password":"p"}`,
    ),
    other(
      'stranger',
      'a refresh that fails',
      'POST',
      '/auth/refresh',
      '{"refresh_token":"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.Zk3n"}',
    ),
  )
  return shapes
}

const sandboxShapes = (): Shape[] => [
  other('sandbox', 'reset of a world', 'POST', '/_sandbox/reset?world=attacker'),
  other('sandbox', 'a fresh world', 'PUT', (n) => `/_sandbox/worlds/f${n}`, '{}'),
  other('sandbox', 'a copy of a world', 'PUT', (n) => `/_sandbox/worlds/c${n}`, '{"from":"attacker"}'),
  other('sandbox', 'a copy of the filled world', 'PUT', (n) => `/_sandbox/worlds/d${n % 2}`, '{"from":"default"}'),
  other('sandbox', 'a snapshot', 'PUT', '/_sandbox/snapshots/s?world=attacker'),
  other('sandbox', 'restoring a snapshot', 'POST', '/_sandbox/snapshots/s/restore?world=attacker'),
  other('sandbox', 'downloading a snapshot', 'GET', '/_sandbox/snapshots/s'),
  other('sandbox', 'a snapshot of the filled world', 'PUT', '/_sandbox/snapshots/filled'),
  other('sandbox', 'downloading a snapshot of the filled world', 'GET', '/_sandbox/snapshots/filled'),
  other('sandbox', 'restoring the filled world', 'POST', '/_sandbox/snapshots/filled/restore?world=attacker'),
  other('sandbox', 'a clock jump', 'POST', '/_sandbox/clock?world=attacker', '{"advance":"PT1H"}'),
  other('sandbox', 'a clock jump of the filled world', 'POST', '/_sandbox/clock', '{"advance":"PT1M"}'),
  other('sandbox', 'a year', 'POST', '/_sandbox/clock?world=attacker', '{"advance":"P365D"}'),
  other('sandbox', 'the request log', 'GET', '/_sandbox/requests'),
  other('sandbox', 'the request log as HAR', 'GET', '/_sandbox/requests?format=har'),
  other('sandbox', 'the request log as curl', 'GET', '/_sandbox/requests?format=curl'),
  other('sandbox', 'coverage', 'GET', '/_sandbox/coverage'),
  other('sandbox', 'coverage as a table', 'GET', '/_sandbox/coverage?format=table'),
  other('sandbox', 'errors', 'GET', '/_sandbox/errors'),
  other('sandbox', 'worlds', 'GET', '/_sandbox/worlds'),
  other('sandbox', 'the surface', 'GET', '/_sandbox'),
  other(
    'sandbox',
    'a fault rule',
    'POST',
    '/_sandbox/faults?world=attacker',
    '{"error":"internal","match":{"path":"/api/v1/countries"},"times":1}',
  ),
  other('sandbox', 'faults', 'GET', '/_sandbox/faults?world=attacker'),
  other('sandbox', 'a wallet', 'POST', '/_sandbox/wallets?world=attacker', '{"currency":"USD"}'),
  other('sandbox', 'funding', 'POST', '/_sandbox/wallets/1/fund?world=attacker', '{"amount":1}'),
  other('sandbox', 'dropping a world that is not there', 'DELETE', '/_sandbox/worlds/gone'),
]

export const shapes = (): Shape[] => [
  ...bodyShapes(),
  ...chunkedShapes(),
  ...writeShapes(),
  ...listShapes(),
  ...headerShapes(),
  ...publicShapes(),
  ...sandboxShapes(),
]
