import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { structured } from '../errors.ts'
import { againstBinary, expectResponse, sharedServer } from '../harness.ts'
import { ADA } from '../records.ts'
import { rowsOf } from '../sandbox/surface.ts'
import { ask, Connection, type Listening, listening } from '../socket.ts'
import { errorIn } from './routes.ts'

/** The permitted content of bodies, and their cost (contract C4). */

const server = await sharedServer()
const world = await server.world()

const UNREADABLE = errorIn('flat', 'BadRequest', 'Invalid request body')

/** A beneficiary with an unknown member, given as JSON. */
const withExtra = (json: string): string => `${JSON.stringify(ADA).slice(0, -1)},"extra":${json}}`
const post = async (body: string | object, headers: Record<string, string> = {}) => {
  const response = await world.post('/api/v1/beneficiaries', body, headers)
  return { status: response.status, body: (await response.json()) as object }
}
const ones = (count: number): string => `[${Array(count).fill('1').join(',')}]`

describe('A body', () => {
  /** The object itself, three names and the list. */
  const OTHER_VALUES = 5

  test('has at most 10,000 values, including the outermost object', async () => {
    expect((await post(withExtra(ones(10_000 - OTHER_VALUES)))).status).toBe(201)
    expect(await post(withExtra(ones(10_001 - OTHER_VALUES)))).toEqual({ status: 400, body: UNREADABLE })
  })

  test.each([
    ['objects', (count: number) => `[${Array(count).fill('{}').join(',')}]`],
    ['arrays with blanks in them', (count: number) => `[ ${Array(count).fill('[ \n]').join(' , ')} ]`],
    [
      'strings with quotes, commas and brackets in them',
      (count: number) => `[${Array(count).fill('",[{\\"}],\\\\"')}]`,
    ],
    ['members of an object', (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":null`)}}`],
    ['members of one name', (count: number) => `{${Array(count).fill('"a":-1.5e3')}}`],
  ])('counts %s as one value each', async (_, list) => {
    expect((await post(withExtra(list(10_000 - OTHER_VALUES)))).status).toBe(201)
    expect(await post(withExtra(list(10_001 - OTHER_VALUES)))).toEqual({ status: 400, body: UNREADABLE })
  })

  test('is nested at most 32 levels', async () => {
    const nested = (depth: number) => `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`
    expect((await post(withExtra(nested(32)))).status).toBe(201)
    expect(await post(withExtra(nested(33)))).toEqual({ status: 400, body: UNREADABLE })
  })

  test('above the limits is refused with an Idempotency-Key too, and replayed', async () => {
    const key = { 'idempotency-key': 'far-too-many-values' }
    for (const replayed of [null, 'true']) {
      const response = await world.post('/api/v1/beneficiaries', withExtra(ones(20_000)), key)
      await expectResponse(response, 400, UNREADABLE)
      expect(response.headers.get('idempotent-replayed')).toBe(replayed)
    }
  })
})

describe('A body with Content-Encoding', () => {
  const ENCODED = structured(
    'UnsupportedMediaTypeError',
    'UNSUPPORTED_MEDIA_TYPE',
    'Send the body without Content-Encoding.',
  )

  test.each([
    '/auth/login',
    '/api/v1/beneficiaries',
    '/api/v1/products/1/charges',
    '/api/v1/orders',
    '/_sandbox/clock',
  ])('POST %s is a 415 in the structured format, and nothing is written', async (path) => {
    const records = () => rowsOf(server, world.name)
    const before = await records()
    const headers = { 'content-encoding': 'gzip', 'idempotency-key': `gzip ${path}` }
    const body = Bun.gzipSync(JSON.stringify(ADA))
    const response = await world.request(path, { method: 'POST', headers, body })
    expect([response.status, await response.json()]).toEqual([415, ENCODED])
    expect(response.headers.get('accept-encoding')).toBe('identity')
    expect(await records()).toEqual(before)
  })

  test('may say that there is none', async () => {
    expect((await post(ADA, { 'content-encoding': 'identity' })).status).toBe(201)
  })
})

describe('A string with half a surrogate pair or NUL is a 400 that names the field', () => {
  const ADA = { beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' }
  const PAYOUT = { reference_id: 'odd', wallet_id: 1, amount: 10, currency: 'USD', ...ADA }
  const ORDER = { product_id: 1, denomination: 100, quantity: 1 }
  const PLACES: [path: string, field: string, body: object][] = [
    ['/api/v1/beneficiaries', 'email', ADA],
    ['/api/v1/beneficiaries', 'first_name', ADA],
    ['/api/v1/beneficiaries', 'phone', ADA],
    ['/api/v1/beneficiaries', 'country', ADA],
    ['/api/v1/payouts', 'beneficiary_email', PAYOUT],
    ['/api/v1/payouts', 'reference_id', { ...PAYOUT, beneficiary_email: 'ada@example.com' }],
    ['/api/v1/payouts', 'description', { ...PAYOUT, beneficiary_email: 'ada@example.com' }],
    ['/api/v1/orders', 'email', ORDER],
    ['/api/v1/orders', 'ref', ORDER],
  ]
  test.each(PLACES)('POST %s: %s', async (path, field, body) => {
    for (const odd of ['\\ud800', '\\udc00@example.com', 'ada@\\ud83dexample.com', 'a\\u0000b', '\\ude00\\ud83d']) {
      const rest = JSON.stringify({ ...body, [field]: undefined }).slice(0, -1)
      const response = await world.post(path, `${rest},"${field}":"${odd}"}`)
      expect(response.status).toBe(400)
      expect(await response.text()).toContain(field)
    }
  })
})

describe('metadata', () => {
  test.each([
    '1e400',
    '-1e999',
    '12345678901234567890',
    '-9007199254740993',
    '100000000000000000000000',
    '1'.repeat(400),
    '12345678901234567890.0',
    '9007199254740993.0',
    '900719925474099.3e1',
    '1e23',
    '-1E+308',
  ])('with %s is a 400 that names it, at any place', async (number) => {
    for (const metadata of [`{"a":${number}}`, `{"a":[{"b":[1,${number}]}]}`]) {
      const { status, body } = await post(`${JSON.stringify(ADA).slice(0, -1)},"metadata":${metadata}}`)
      expect(status).toBe(400)
      expect(body).toEqual({
        error: 'ValidationException',
        message: 'metadata must not contain numbers that a double cannot keep',
      })
    }
  })

  test('keeps every number that a double can represent', async () => {
    const metadata =
      '{"a":[9007199254740992,-9007199254740992,1e22,0.1,12345678901234567168,1.5e-7,9007199254740992.0,9007199254740993.5,1e-400],"b":{"c":10000000000000000}}'
    const response = await world.post(
      '/api/v1/beneficiaries',
      `${JSON.stringify(ADA).slice(0, -1)},"metadata":${metadata}}`,
    )
    expect(response.status).toBe(201)
    expect(((await response.json()) as { metadata: object }).metadata).toEqual(JSON.parse(metadata))
  })

  test('of a payout is checked in the same way', async () => {
    const payout =
      '{"reference_id":"exact","wallet_id":1,"amount":10,"currency":"USD","beneficiary_email":"a@example.com","beneficiary_first_name":"A","beneficiary_last_name":"B"'
    const response = await world.post('/api/v1/payouts', `${payout},"metadata":{"id":12345678901234567890}}`)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { message: string }).message).toStartWith('metadata ')
  })
})

describe('On the wire', () => {
  let listener: Listening
  let token: string
  beforeAll(async () => {
    listener = await listening('--rate-limit', 'off')
    const login = { method: 'POST', body: '{"username":"sbx_wire","password":"a password"}' }
    token = ((await (await fetch(`${listener.url}/auth/login`, login)).json()) as { access_token: string }).access_token
  })
  afterAll(() => listener.stop())

  const head = (path: string, ...fields: string[]): string =>
    [`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`, ...fields, '', ''].join('\r\n')
  const get = async (path: string) => (await ask(listener.url, head(path).replace('POST', 'GET'))).body

  test.each(['/auth/login', '/auth/refresh', '/api/v1/beneficiaries'])(
    'POST %s responds to a chunked body above the limit before it ends',
    async (path) => {
      const connection = await Connection.open(listener.url)
      connection.send(head(path, 'Transfer-Encoding: chunked'))
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
      for (let count = 0; count < 17; count++) connection.send(chunk)
      const { status, headers } = await connection.response()
      expect(status).toBe(400)
      expect(headers['X-Request-Id']).toBeTruthy()
      connection.destroy()
    },
  )

  test('the connection stays open after a response that does not wait for the end of a chunked body', async () => {
    const connection = await Connection.open(listener.url)
    connection.send(`${head('/nowhere', 'Transfer-Encoding: chunked')}1\r\nx\r\n`)
    expect((await connection.response()).headers.Connection).toBeUndefined()
    connection.send(`1\r\nx\r\n0\r\n\r\n${head('/auth/login', 'Content-Length: 0')}`)
    expect((await connection.response()).status).toBe(400)
    connection.destroy()
  })

  test('a length that is given twice counts once', async () => {
    const body = JSON.stringify(ADA)
    const length = `Content-Length: ${body.length}`
    for (const fields of [[length, length], [length]]) {
      expect((await ask(listener.url, head('/api/v1/beneficiaries', ...fields) + body)).status).toBe(201)
    }
  })

  test.each([
    ['the next request behind it', () => head('/api/v1/payouts').replace('POST', 'GET')],
    ['an empty line behind it', () => '\r\n'],
  ])('a write with %s, for which the runtime closes the connection, leaves nothing', async (_, behind) => {
    for (const [path, body, read] of [
      ['/api/v1/beneficiaries', JSON.stringify(ADA), '/api/v1/beneficiaries'],
      ['/auth/logout', '', '/api/v1/wallets/1'],
      ['/_sandbox/wallets/1/fund?world=wire', '{"amount":5}', '/api/v1/wallets/1'],
      ['/_sandbox/reset?world=wire', '', '/api/v1/wallets/1'],
    ] as const) {
      const before = await get(read)
      const connection = await Connection.open(listener.url)
      connection.send(head(path, `Content-Length: ${body.length}`) + body + behind())
      expect(await connection.closed()).not.toContain(' 20')
      expect(await get(read)).toBe(before)
    }
  })

  test.skipIf(againstBinary)('a client that disconnects during its body causes no error', async () => {
    for (const [path, length] of [
      ['/api/v1/beneficiaries', 100],
      ['/api/v1/orders', 100_000],
      ['/auth/login', 100],
    ] as const) {
      listener.log.length = 0
      const connection = await Connection.open(listener.url)
      connection.send(`${head(path, `Content-Length: ${length}`)}{"email":`)
      await get('/api/v1/wallets') // by now the server waits for the rest
      connection.destroy()
      while (!listener.log.some((line) => line.includes(`"${path}`) && line.includes('"POST"'))) await Bun.sleep(1)
      const lines = listener.log.map((line) => JSON.parse(line) as { level: string; status?: number })
      expect(lines.filter(({ level, status = 0 }) => level === 'error' || status >= 500)).toEqual([])
    }
  })
})
