import type { Ask } from './connection.ts'
import type { Dice } from './dice.ts'

/** The requests in the document, and hostile variants of them. */

export interface Mutant {
  bytes: Buffer
  /** True if it is still one request with one response; false if the bytes themselves were changed. */
  isFramed: boolean
  /** The request line, to tell it by. */
  line: string
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

interface ChangedRequest {
  method: string
  path: string
  query: [string, string][]
  headers: [string, string][]
  body?: Json
}

/** An operation as its document shows it. */
export interface Operation {
  method: string
  /** With examples in the place of its parameters. */
  path: string
  /** The query parameters that it knows. */
  words: string[]
  body: Json | undefined
  /** Its response is long, or it resets the world, so it is requested less often. */
  isHeavy: boolean
}

interface DocumentedOperation {
  parameters?: { name: string; in: string; example?: Json }[]
  requestBody?: { content: Record<string, { example?: Json }> }
}

interface Document {
  paths: Record<string, Record<string, DocumentedOperation>>
}

/** The fault in the document is a 500, which would count as a finding. */
const FAULT = { error: 'products.not_found', match: { method: 'GET', path: '/api/v1/products/1' }, times: 1 }
/** Paths that end everybody's token, or never end. */
const LEFT_OUT = new Set(['/auth/logout', '/_sandbox/reset', '/_sandbox/feed', '/_sandbox/inbox/{name}'])
const HEAVY =
  /^\/(?:docs|openapi\.json|_sandbox\/(?:snapshots\/\{name\}(?:\/restore)?|errors|requests|scenario|console.*|worlds\/\{name\}))$/

/** Every operation of a document. */
export const operationsOf = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    LEFT_OUT.has(path)
      ? []
      : Object.entries(operations).map(([method, { parameters: known = [], requestBody }]) => {
          const exampleOf = (name: string): string =>
            String(known.find((each) => each.in === 'path' && each.name === name)?.example ?? '1')
          return {
            method: method.toUpperCase(),
            path: path.replace(/\{(\w+)\}/g, (_, name: string) => exampleOf(name)),
            words: known.filter((each) => each.in === 'query').map(({ name }) => name),
            body:
              path === '/_sandbox/faults' && requestBody
                ? FAULT
                : Object.values(requestBody?.content ?? {})[0]?.example,
            isHeavy: HEAVY.test(path),
          }
        }),
  )

const HEAVY_PART = 0.005

const LONG = 3_000
/** The part of all requests whose bytes are changed after they were written. */
const BROKEN = 0.08

/** Texts that have a special meaning to some program. */
const TEXTS = [
  ...['', ' ', '"', "'", '\\', '%', '_', '*', '+', '[', '[]', '{}', 'null', 'true', 'NaN', "1'--", '1;2'],
  ...['0', '-1', '01', '1', '1.0', '1.5', '1e3', '0x10', '2147483647', '2147483648', '9'.repeat(40), '٣'],
  ...['__proto__', 'constructor', 'id', 'amount', 'created_at', 'asc', 'USD', 'usd', 'har', 'hostile', 'sbx_hostile'],
  ...['{"field":"id","direction":"asc"}', '{"field":"__proto__"}', '{"field":{}}'],
  ...['2026-01-01T00:00:00Z', '2026-13-01', '0000-00-00T00:00:00Z', '9999-12-31T23:59:60Z', '+010000-01-01T00:00:00Z'],
  ...['P1D', 'PT1H', '-PT1H', 'P9999999D', 'a@b', 'a@b.co', `${'a'.repeat(250)}@b.co`],
  ...['x'.repeat(LONG), '😀'.repeat(50), 'İ', 'ß', 'ÀÉ'.normalize('NFD'), '\u0000', '\u202e', '\ud800', '\udfff x'],
]
/** Texts that stand unchanged in a path or a query. */
const RAW = ['%', '%z', '%00', '%ff', '%2e%2e', '..', '.', '1%20', '+', '%2B', '%2F', '&', '=']
const NO_UTF_8 = ['%ED%A0%80', '%FF%FE', '%C0%80', '%F4%90%80%80']
const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'page[]', 'page', 'limit', '', 'unknown', 'world', '😀']
const ODD_HEADERS: readonly [string, readonly string[]][] = [
  ['Authorization', ['', 'Bearer', 'Bearer ', 'bearer x', 'Basic YTpi', 'Bearer a.b.c', `Bearer ${'x'.repeat(LONG)}`]],
  ['Authorization', ['Bearer eyJhbGciOiJub25lIn0.e30.']],
  [
    'Accept-Encoding',
    ['', '*', 'gzip', 'zstd', 'br', 'gzip;q=0', 'identity;q=0, *;q=0', 'gzip;q=NaN', ','.repeat(500)],
  ],
  ['Accept', ['', '*/*', 'text/html', 'application/xml', ';q=', 'x'.repeat(LONG)]],
  [
    'Content-Type',
    ['', 'text/plain', 'application/json; charset=utf-16', 'multipart/form-data; boundary=x', '__proto__'],
  ],
  ['Content-Encoding', ['gzip', 'identity', 'x']],
  ['Idempotency-Key', ['', 'short', 'a key that is long enough', 'the same key for all']],
  ['Idempotency-Key', ['k'.repeat(256), 'k'.repeat(257), 'clé-clé-clé-clé']],
  ['If-None-Match', ['*', '"', 'W/"x"', '"a", "b"', 'x'.repeat(LONG)]],
  ['X-Request-Id', ['', 'sane-1', 'x'.repeat(LONG), 'a b', '<script>', '../..']],
  ['X-Sandbox-Fault', ['', 'nothing', '__proto__', 'products.not_found', ';;;', 'rate_limited', 'unauthorized']],
  ['X-Sandbox-Fault', ['products.not_found; when=after']],
  ['X-Sandbox-Token', ['', 'x']],
  ['X-Forwarded-For', ['1.2.3.4', 'x', ','.repeat(200), '::1']],
  ['Origin', ['null', 'http://evil.example', 'http://127.0.0.1', 'x']],
  ['Host', ['a', 'a b', 'api', 'evil.example', '127.0.0.1:1', '[::1]', 'x'.repeat(300), '%', '__proto__']],
  ['Cookie', ['a=b', 'x'.repeat(LONG)]],
  ['Range', ['bytes=0-0', 'bytes=-1']],
  ['Upgrade', ['websocket', 'h2c']],
  ['Transfer-Encoding', ['identity']],
  ['__proto__', ['x']],
  ['constructor', ['x']],
]
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const ODD_VALUES: readonly Json[] = [
  ...[null, true, false, [], {}, [[]], [null], { a: 1 }, { constructor: 1 }],
  ...[0, -0, -1, 1, 1.5, 0.001, 1e-7, 1e21, 2 ** 53, 1_000_000_001],
  ...TEXTS,
]
const ODD_BODIES = [
  ...['', ' ', '\ufeff{}', '[]', '[', '{', '}', 'null', 'true', '1', '"x"', 'a=b&c=d', '<xml/>', '\u0000'],
  ...['{"a":}', '{"a":1}{"b":2}', '{"__proto__":{"a":1}}', '{"constructor":1}', '{"a":"\\ud800"}'],
  ...['{"a":1e400}', '{"metadata":{"a":1e400}}', '{"amount":1e400}', '{"quantity":-0,"denomination":-0}'],
  ...['{"denomination":1e400,"quantity":1}', '{"email":"\\ud800@b.co"}'],
  ...[`${'['.repeat(40)}${']'.repeat(40)}`, `{"a":${'['.repeat(5_000)}`, `{"a":[${'1,'.repeat(10_001)}1]}`],
]

/** A hostile request with a valid token. */
export const mutant = (dice: Dice, operations: readonly Operation[], token: string): Mutant => {
  const isHeavy = dice.chance(HEAVY_PART)
  const operation = dice.pick(operations.filter((each) => each.isHeavy === isHeavy))
  const request = requestOf(operation, token)
  for (let changes = dice.below(4); changes > 0; changes--) change(dice, request, operation.words)
  const { bytes, line } = written(dice, request)
  return dice.chance(BROKEN) ? { bytes: broken(dice, bytes), isFramed: false, line } : { bytes, isFramed: true, line }
}

const requestOf = ({ method, path, words, body }: Operation, token: string): ChangedRequest => ({
  method,
  path,
  query: words.includes('world') ? [['world', 'hostile']] : [],
  headers: [['Authorization', `Bearer ${token}`]],
  ...(body !== undefined && { body: structuredClone(body) }),
})

const change = (dice: Dice, request: ChangedRequest, words: readonly string[]): void => {
  const where = dice.below(10)
  if (where < 2)
    request.query.push([dice.chance(0.7) ? dice.pick([...words, 'page']) : dice.pick(ODD_NAMES), dice.pick(TEXTS)])
  else if (where < 4) changeHeader(dice, request)
  else if (where < 5) request.path = changedPath(dice, request.path)
  else if (where < 6) request.method = dice.pick(METHODS)
  else request.body = request.body === undefined ? dice.pick(ODD_VALUES) : changedValue(dice, request.body)
}

const changeHeader = (dice: Dice, mutant: ChangedRequest): void => {
  const [name, values] = dice.pick(ODD_HEADERS)
  if (name === 'Authorization') mutant.headers = mutant.headers.filter(([each]) => each !== name)
  mutant.headers.push([name, dice.pick(values)])
}

const changedPath = (dice: Dice, path: string): string => {
  const segments = path.split('/')
  const at = 1 + dice.below(segments.length - 1)
  const kind = dice.below(6)
  if (kind < 3) segments[at] = dice.chance(0.5) ? dice.pick(RAW) : encoded(dice.pick(TEXTS))
  else if (kind === 3) segments.splice(at, 0, '')
  else if (kind === 4) segments.push(dice.pick(['', 'x', ...RAW]))
  else segments[at] = `%${(segments[at]?.charCodeAt(0) ?? 97).toString(16)}${segments[at]?.slice(1)}`
  return segments.join('/')
}

const changedValue = (dice: Dice, value: Json): Json => {
  if (typeof value !== 'object' || value === null) return dice.pick(ODD_VALUES)
  if (Array.isArray(value))
    return value.length === 0 ? [dice.pick(ODD_VALUES)] : value.map((each) => changedValue(dice, each))
  const names = Object.keys(value)
  const kind = dice.below(8)
  const name = names.length === 0 ? 'x' : dice.pick(names)
  if (kind === 0) return dice.pick(ODD_VALUES)
  if (kind === 1) return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))
  if (kind === 2) return { ...value, [dice.pick(ODD_NAMES)]: dice.pick(ODD_VALUES) }
  return { ...value, [name]: changedValue(dice, value[name] ?? null) }
}

const written = (
  dice: Dice,
  { method, path, query, headers, body }: ChangedRequest,
): { bytes: Buffer; line: string } => {
  const parameters = query.map(
    ([name, value]) => `${encoded(name)}=${dice.chance(0.1) ? dice.pick([...RAW, ...NO_UTF_8]) : encoded(value)}`,
  )
  const target = path + (parameters.length > 0 ? `?${parameters.join('&')}` : '')
  const line = `${method} ${target}`
  const lines = [`${line} HTTP/1.1`]
  if (!headers.some(([name]) => name === 'Host')) lines.push('Host: 127.0.0.1')
  lines.push(...headers.filter(([name]) => name !== 'Transfer-Encoding').map(([name, value]) => `${name}: ${value}`))
  let content =
    body === undefined ? undefined : Buffer.from(dice.chance(0.1) ? dice.pick(ODD_BODIES) : JSON.stringify(body))
  if (content && dice.chance(0.03))
    content = Buffer.from(content.map((byte) => (dice.chance(0.02) ? dice.below(256) : byte)))
  if (content && dice.chance(0.15)) {
    lines.push('Transfer-Encoding: chunked')
    content = Buffer.concat([
      Buffer.from(content.length === 0 ? '' : `${content.length.toString(16)}\r\n`),
      content,
      Buffer.from(content.length === 0 ? '0\r\n\r\n' : '\r\n0\r\n\r\n'),
    ])
  } else if (content || method !== 'GET') lines.push(`Content-Length: ${content?.length ?? 0}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return { bytes: content ? Buffer.concat([head, content]) : head, line }
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** The same bytes with some changed, cut off, or in the wrong place. */
const broken = (dice: Dice, bytes: Buffer): Buffer => {
  const kind = dice.below(5)
  const at = dice.below(Math.min(bytes.length, 400))
  if (kind === 0) return bytes.subarray(0, at)
  if (kind === 1)
    return Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from(dice.pick(['\r\n', '\n', '\r', '\0', ' ', ':', '\r\n\r\n'])),
      bytes.subarray(at),
    ])
  if (kind === 2) return Buffer.from(Array.from({ length: 1 + dice.below(200) }, () => dice.below(256)))
  if (kind === 3) return Buffer.concat([bytes.subarray(at), bytes])
  const flipped = Buffer.from(bytes)
  for (let flips = 1 + dice.below(4); flips > 0; flips--) flipped[dice.below(flipped.length)] = dice.below(256)
  return flipped
}

/** A login to the world in which all this happens. */
export const LOGIN: Ask = { path: '/auth/login', body: '{"username":"sbx_hostile","password":"sandbox"}' }
