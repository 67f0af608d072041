import { describe, expect, test } from 'bun:test'
import type { Difference } from '../../src/commands/sandbox/compare/differences.ts'
import { forFile } from '../harness.ts'
import { COMMAND, type Running, run, start } from '../program.ts'

type Row = Difference & { operation: string; request: string }

/** `scrip compare` (contract C15): against another Scrip, and against one whose responses are altered on their way. */

const HOST_FLAGS = ['--rate-limit', '100000/h']

/** Makes a record of each kind, so that every operation returns one. */
const fillWith = async (program: Running): Promise<void> => {
  const post = async (path: string, body: object, token = '') => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await program.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBeLessThan(300)
    return (await response.json()) as { access_token: string }
  }
  const { access_token } = await post('/auth/login', { username: 'sandbox', password: 'sandbox' })
  const ada = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
  await post('/api/v1/beneficiaries', ada, access_token)
  await post('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 1 }, access_token)
  await post(
    '/api/v1/payouts',
    {
      reference_id: 'one',
      wallet_id: 1,
      amount: 10,
      currency: 'USD',
      beneficiary_email: ada.email,
      beneficiary_first_name: ada.first_name,
      beneficiary_last_name: ada.last_name,
    },
    access_token,
  )
  await post('/api/v1/webhooks', { name: 'one', url: 'http://127.0.0.1:9/', events: ['payout.returned'] }, access_token)
}

const host = forFile(await start(HOST_FLAGS))
await fillWith(host)

const compare = async (url: string, flags: string[] = [], env: Record<string, string> = {}) =>
  run(['compare', url, ...flags], { env })

const rowsOf = ({ stdout }: { stdout: string }): Row[] => JSON.parse(stdout)

describe('against another Scrip', () => {
  test('there is no difference: exit code 0', async () => {
    const { exitCode, stdout, stderr } = await compare(host.url)
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(stderr).toMatch(
      /^not compared: GET \/api\/v1\/webhooks\/:id\/deliveries: the list is empty\nno differences in \d+ responses\n$/,
    )
  })

  test('with empty lists, the report names the operations that it could not compare', async () => {
    await using empty = await start()
    const { exitCode, stderr } = await compare(empty.url)
    expect(exitCode).toBe(0)
    for (const route of ['beneficiaries', 'orders', 'payouts']) {
      expect(stderr).toContain(`not compared: GET /api/v1/${route}: the list is empty\n`)
      expect(stderr).toContain(`not compared: GET /api/v1/${route}/:id: the host has no record for it\n`)
    }
  })

  test('as a client without a feature, the operations of the feature are not compared', async () => {
    const { exitCode, stderr } = await compare(host.url, ['--username', 'limited'], { SCRIP_PASSWORD: 'limited' })
    expect(exitCode).toBe(0)
    expect(stderr).toContain('not compared: GET /api/v1/categories: the client does not have the feature\n')
  })

  test('without rate limits, there is no difference; nothing is written, and only the login makes a token', async () => {
    await using watched = await start(['--rate-limit', 'off'])
    expect(await compare(watched.url, ['--json'])).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' })
    const requests = (await (await watched.request('/_sandbox/requests')).json()) as {
      method: string
      route: string | null
      changes: unknown[]
    }[]
    expect(requests.length).toBeGreaterThan(50)
    expect(requests.flatMap(({ changes }) => changes)).toEqual([])
    const writing =
      /^(?:GET \/|POST \/auth\/(?:login|refresh)$|POST \/api\/v1\/products\/:id\/(?:charges|availability|discount)$)/
    expect(
      requests.map(({ method, route }) => `${method} ${route}`).filter((operation) => !writing.test(operation)),
    ).toEqual([])
  })
})

describe('the limits of the host', () => {
  test('are respected: the command waits before it reaches them', async () => {
    await using slow = await start(['--rate-limit', '20/s'])
    const { exitCode, stdout } = await compare(slow.url)
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    const requests = (await (await slow.request('/_sandbox/requests')).json()) as { response: { status: number } }[]
    expect(requests.filter(({ response }) => response.status === 429)).toEqual([])
  })
})

interface Altered {
  status: number
  headers: Headers
  text: string
}

/** Changes a response, or returns another one. */
type Change = (response: Altered) => unknown

/** Serves the responses of a Scrip, altered for matching methods, paths, queries and statuses. */
const altered = async (changes: readonly [RegExp, Change][], work: (url: string) => Promise<void>): Promise<void> => {
  const hit = new Set<RegExp>()
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { method } = request
      const { pathname, search } = new URL(request.url)
      const body = await request.text()
      const headers = new Headers(request.headers)
      headers.delete('host')
      const response = await fetch(host.url + pathname + search, { method, headers, ...(body !== '' && { body }) })
      const { status } = response
      const altered: Altered = { status, headers: new Headers(response.headers), text: await response.text() }
      for (const [on, change] of changes) {
        if (!on.test(`${method} ${pathname}${search} ${status}`)) continue
        hit.add(on)
        const instead = change(altered)
        if (instead instanceof Response) return instead
      }
      for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) altered.headers.delete(name)
      return new Response(altered.text, altered)
    },
  })
  try {
    await work(`http://127.0.0.1:${proxy.port}`)
    expect(hit.size).toBe(changes.length)
  } finally {
    await proxy.stop(true)
  }
}

const toStatus = (status: number) => (response: Altered) => (response.status = status)
const without = (name: string) => (response: Altered) => response.headers.delete(name)
const withHeader = (name: string, value: string) => (response: Altered) => response.headers.set(name, value)
const inText = (change: (text: string) => string) => (response: Altered) => (response.text = change(response.text))
// biome-ignore lint/suspicious/noExplicitAny: bodies of all operations are changed as they are
const inBody = (change: (body: any) => unknown): Change =>
  inText((text) => {
    const body = JSON.parse(text)
    change(body)
    return JSON.stringify(body)
  })
const replaced = (text: string, other: string): Change => inText((whole) => whole.replace(text, other))

/** The id in the path of a request, and the status of its response. */
const ASKED: Record<string, [string, number]> = {
  success: ['\\d{1,9}', 200],
  'an unknown id': ['2147483647', 404],
  'an invalid id': ['0', 400],
  'no access token': ['1', 401],
  'an unknown username': ['', 401],
}
const requestOf = (operation: string, request: string): RegExp => {
  const [id, status] = ASKED[request] ?? ['', 0]
  return new RegExp(`^${operation.replace(':id', id)}(?:\\?limit=100)? ${status}$`)
}

const STATES = '"PENDING" or "PROCESSING" or "DELIVERED" or "PARTIALLY_DELIVERED" or "FAILED" or "CANCELLED"'

/** Operation, request and field, the value of Scrip and of the host; and the change that makes the difference. */
const ALTERATIONS: Record<string, Change> = {
  'GET /api/v1/currencies/:id | success | status | 200 | 203': toStatus(203),
  'GET /api/v1/countries/:id | an unknown id | status | 404 | 410': toStatus(410),
  'GET /api/v1/products | success | header x-has-more | true or false | missing': without('X-Has-More'),
  'GET /api/v1/wallets | success | header x-total-count | whole number | text': withHeader('X-Total-Count', 'many'),
  'GET /api/v1/countries | success | header x-ratelimit-reset | whole number | missing': without('X-RateLimit-Reset'),
  'GET /api/v1/categories | success | header content-type | application/json | text/html': withHeader(
    'content-type',
    'text/html',
  ),
  'GET /status | success | header x-request-id | text | missing': without('X-Request-Id'),
  'GET /api/v1/currencies | success | [].precision | integer | missing': inBody((all) => delete all[7].precision),
  'GET /api/v1/subcategories | success | [].parent | missing | number': inBody((all) => (all[3].parent = 1)),
  'GET /api/v1/transactions | success | [].amount | number | string': inBody((all) => (all[0].amount = '12.50')),
  'GET /api/v1/wallets/:id | success | reserved_amount | number | null': inBody((one) => (one.reserved_amount = null)),
  'GET /api/v1/products/:id | success | available_denominations[].discount | number | string': inBody(
    (one) => (one.available_denominations[0].discount = '2.5 %'),
  ),
  [`GET /api/v1/orders | success | [].status | ${STATES} | "SHIPPED"`]: inBody((all) => (all[0].status = 'SHIPPED')),
  'GET /api/v1/beneficiaries | success | [].created_at | string (date-time) | string': inBody(
    (all) => (all[0].created_at = '01.02.2026'),
  ),
  'GET /api/v1/payouts | success | body | array | object': inText((text) => `{"items":${text}}`),
  'GET /api/v1/products/:id | an unknown id | error.message | "Product not found" | "None"': replaced(
    'Product not found',
    'None',
  ),
  'GET /api/v1/countries/:id | an invalid id | error.code | "BAD_REQUEST" | "INVALID"': replaced(
    'BAD_REQUEST',
    'INVALID',
  ),
  'POST /api/v1/products/:id/charges | an unknown id | error | "Product not found" | object': inText(
    () => '{"error":{}}',
  ),
  'GET /api/v1/transactions/:id | no access token | header www-authenticate | text | missing':
    without('WWW-Authenticate'),
  'POST /auth/login | an unknown username | error.message | "Invalid credentials" | "Unknown user"': replaced(
    'Invalid credentials',
    'Unknown user',
  ),
  'POST /auth/login | success | token_type | "Bearer" | "MAC"': replaced('"Bearer"', '"MAC"'),
}

const sorted = (rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

describe('against a Scrip whose responses are altered', () => {
  const changes: [RegExp, Change][] = []
  const rows = Object.entries(ALTERATIONS).map(([text, change]) => {
    const [operation = '', request = '', field = '', expected = '', found = ''] = text.split(' | ')
    changes.push([requestOf(operation, request), change])
    return { operation, request, field, expected, found }
  })

  test('in twenty-one ways at once, it finds all of them and nothing else: exit code 1', () =>
    altered(changes, async (url) => {
      const ended = await compare(url, ['--json'])
      expect(ended.exitCode).toBe(1)
      expect(sorted(rowsOf(ended))).toEqual(sorted(rows))
      expect(ended.stderr).toMatch(/^scrip: 21 differences in \d+ responses\n$/)
    }))

  test('in values alone, there is no difference', () =>
    altered(
      [
        [/^GET \/api\/v1\/countries\/\d{1,3} 200$/, inBody((country) => (country.name = 'Elsewhere'))],
        [
          /^POST \/api\/v1\/products\/\d{1,9}\/charges 400$/,
          inText((text) => text.replace(/quantity of \d+/, 'quantity of 7')),
        ],
      ],
      async (url) => expect(await compare(url)).toMatchObject({ exitCode: 0, stdout: '' }),
    ))
})

const COUNTRIES = /^GET \/api\/v1\/countries 200$/
const STATUS = /^GET \/status 200$/
const refusal = (after: string) => new Response('{}', { status: 429, headers: { 'retry-after': after } })

describe('a 429 of the host', () => {
  test('is waited out, on a public operation too', () => {
    let requestCount = 0
    return altered([[STATUS, () => (requestCount++ === 0 ? refusal('1') : undefined)]], async (url) => {
      const { exitCode, stdout, stderr } = await compare(url)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
      expect(stderr).toContain('waiting 1 s for the rate limit of the host\n')
    })
  })

  test.each([
    ['again and again', '0', 'the host refuses this client because of too many requests\n'],
    ['for longer than an hour', '999999999', 'the host has no requests left for this client within an hour\n'],
  ])('%s ends the comparison with a report of what was compared until then', (_, after, why) =>
    altered(
      [
        [COUNTRIES, toStatus(203)],
        [/^POST \/auth\/login 401$/, () => refusal(after)],
      ],
      async (url) => {
        const ended = await compare(url, ['--json'])
        expect(ended.exitCode).toBe(1)
        expect(rowsOf(ended)).toEqual([
          { operation: 'GET /api/v1/countries', request: 'success', field: 'status', expected: '200', found: '203' },
        ])
        expect(ended.stderr).toMatch(/^scrip: 1 difference in \d+ responses, then POST \/auth\/login: /)
        expect(ended.stderr).toContain(why)
      },
    ),
  )
})

describe('a broken host', () => {
  test('sends an invalid id: nothing is asked about it', () => {
    const ids = ['"../../../_sandbox/reset?x="', '"\\ud800"', '[[[1]]]', '1.5']
    const lists = /^GET \/api\/v1\/(?:orders|payouts|wallets|beneficiaries)\?limit=100 200$/
    const change = inText((text) => text.replace(/"id":("[^"]*"|\d+)/, () => `"id":${ids.pop()}`))
    return altered([[lists, change]], async (url) => {
      const { exitCode, stderr } = await compare(url)
      expect(exitCode).toBe(1)
      for (const name of ['orders', 'payouts', 'wallets', 'beneficiaries'])
        expect(stderr).toContain(`not compared: GET /api/v1/${name}/:id: the host has no record for it\n`)
    })
  })
})

describe('exit code 1, and why, for', () => {
  const asAcme = ['--username', 'acme']
  test.each<[string, () => string, string[], Record<string, string>, RegExp]>([
    [
      'credentials that are refused',
      () => host.url,
      asAcme,
      { SCRIP_PASSWORD: 'wrong' },
      /refuses the credentials of acme: 401\nCheck the username and SCRIP_PASSWORD\.\n$/,
    ],
    [
      'a host that does not answer',
      () => 'http://127.0.0.1:9',
      [],
      {},
      /^scrip: http:\/\/127\.0\.0\.1:9 does not respond: /,
    ],
    [
      'a host that speaks another language',
      () => `${host.url}/docs`,
      [],
      {},
      /refuses the credentials of sandbox: \d+/,
    ],
  ])('%s', async (_, url, flags, env, why) => {
    const { exitCode, stdout, stderr } = await compare(url(), flags, env)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(why)
  })
})

describe('the credentials', () => {
  test('are those of scrip run', async () => {
    const inner = [...COMMAND, 'compare'].map((word) => `'${word}'`).join(' ')
    const { exitCode, stderr } = await run(['run', '--', 'sh', '-c', `${inner} $SCRIP_URL`])
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/no differences in \d+ responses\n$/)
  })
})

test('exit code 2 for an invalid URL, and for a password as a flag', async () => {
  expect(await compare('localhost:4747')).toMatchObject({ exitCode: 2 })
  expect(await compare(host.url, ['--password', 'x'])).toMatchObject({ exitCode: 2 })
})
