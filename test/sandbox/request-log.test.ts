import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RecordedRequest } from '../../src/sandbox/requests/contract.ts'
import { notFound, validation, worldNotFound } from '../errors.ts'
import { forFile, type Server, startServer, TestWorld, testIn } from '../harness.ts'
import { type Running, start } from '../program.ts'
import { ADA, DELAYED, INSTANT, NOON, pay, place, saveAda } from '../records.ts'
import { loggedIn, login } from '../sessions/requests.ts'
import { everything, makeAtNoon } from './everything.ts'
import { control, rowsOf, succeed } from './surface.ts'

const server = forFile(await startServer('--rate-limit', 'off', '--seed', '17'))

/** The oldest first, as they happened. */
const entriesOf = async (name: string, on: Server = server): Promise<RecordedRequest[]> =>
  (await succeed<RecordedRequest[]>(on, 'GET', `/requests?world=${name}`)).reverse()
const pathsOf = (entries: RecordedRequest[]): string[] => entries.map(({ path }) => path)
const lastOf = async (name: string): Promise<RecordedRequest> => {
  const last = (await entriesOf(name)).at(-1)
  if (!last) throw new Error(`nothing was asked in ${name}`)
  return last
}
const formatted = async (name: string, format: string) =>
  (await server.request(`/_sandbox/requests?world=${name}&format=${format}`)).text()

let worlds = 0
/** A world at noon, logged in to. */
const idIn = ({ body }: { body: string }): string => (JSON.parse(body) as { id: string }).id

const opened = async (): Promise<TestWorld> => {
  const name = `logged-${++worlds}`
  await makeAtNoon(server, name)
  return TestWorld.open(server, name)
}
const inWorld = testIn(opened)

describe('GET /_sandbox/requests', () => {
  inWorld('200 returns each request and its response', async (world) => {
    const response = await world.post('/api/v1/beneficiaries', ADA, { 'x-request-id': 'mine-1', 'x-own': 'yes' })
    const body = await response.text()
    const { id } = JSON.parse(body) as { id: string }
    const entries = await entriesOf(world.name)
    expect(entries.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /auth/login',
      'POST /api/v1/beneficiaries',
    ])
    expect(entries[1]).toEqual({
      id: 2,
      world: world.name,
      request_id: 'mine-1',
      at: NOON,
      method: 'POST',
      path: '/api/v1/beneficiaries',
      route: '/api/v1/beneficiaries',
      client: `sbx_${world.name}`,
      request: { headers: expect.any(Object), body: JSON.stringify(ADA) },
      response: { status: 201, headers: expect.any(Object), body },
      duration_ms: expect.any(Number),
      fault: null,
      outcome: 'success',
      message: null,
      resent: false,
      resent_of: null,
      resent_after_ms: null,
      dry_run: false,
      changes: [{ table: 'beneficiaries', operation: 'insert', key: id }],
      events: [],
    } as RecordedRequest)
    expect(entries[1]?.request.headers).toMatchObject({ authorization: '[redacted]', 'x-own': 'yes' })
    expect(entries[1]?.response.headers).toMatchObject({
      'content-type': response.headers.get('content-type'),
      'x-request-id': 'mine-1',
    })
    expect(entries[1]?.duration_ms).toBeGreaterThanOrEqual(0)
  })

  test('has every response of a long script, except secrets', async () => {
    await makeAtNoon(server, 'scripted')
    const responses = (await everything(server, 'scripted')).filter(({ request }) => !request.includes(' /_sandbox'))
    const entries = await entriesOf('scripted')
    expect(entries.map(({ method, path, response: { status } }) => [`${method} ${path}`, status])).toEqual(
      responses.map(({ request, status }) => [request, status]),
    )
    entries.forEach(({ response }, index) => {
      if (response.body?.includes('[redacted]')) return
      expect(response.body ?? '').toBe(responses[index]?.body ?? '')
    })
    expect(entries.filter(({ outcome }) => outcome === null).map(({ path }) => path)).toEqual(['/api/v1/nowhere'])
  })

  inWorld(
    'omits control requests, probes, pages and images, and logs requests without a world in the default one',
    async (world) => {
      await succeed(server, 'GET', '/worlds')
      await succeed(server, 'POST', `/clock?world=${world.name}`, { advance: 'PT1S' })
      await server.request(`/_sandbox/nowhere?world=${world.name}`)
      const before = (await entriesOf('default')).length
      for (const path of [
        ...['/livez', '/readyz', '/_sandbox/clock', '/', '/docs', '/docs/reference.css', '/openapi.json', '/cards/1'],
        ...['/favicon.ico', '/status', '/nowhere', '/api/v1/countries/1'],
      ]) {
        await server.request(path)
      }
      const paths = (await entriesOf('default')).slice(before).map(({ path }) => path)
      expect(paths).toEqual(['/status', '/nowhere', '/api/v1/countries/1'])
      expect((await entriesOf(world.name)).map(({ path }) => path)).toEqual(['/auth/login'])
    },
  )

  inWorld("logs a request with an expired token in the token's world", async (world) => {
    await world.clock({ advance: 'PT1H' })
    const before = (await entriesOf('default')).length
    expect((await world.get('/api/v1/countries/1')).status).toBe(401)
    expect(await lastOf(world.name)).toMatchObject({
      path: '/api/v1/countries/1',
      client: null,
      outcome: 'unauthorized',
    })
    expect(await entriesOf('default')).toHaveLength(before)
    await server.request('/api/v1/countries/1', { headers: { authorization: 'Bearer a.b.c' } })
    expect(await entriesOf('default')).toHaveLength(before + 1)
  })

  inWorld('logs logins and refreshes in the world that they name, also refused ones', async (world) => {
    const { refresh_token } = await loggedIn(server, `sbx_${world.name}.limited`)
    await login(server, `sbx_${world.name}`, 'wrong')
    for (let time = 0; time < 2; time++) {
      await server.request('/auth/refresh', { method: 'POST', body: JSON.stringify({ refresh_token }) })
    }
    const outcomes = (await entriesOf(world.name)).map(({ path, outcome }) => `${path} ${outcome}`)
    expect(outcomes).toEqual([
      '/auth/login success',
      '/auth/login success',
      '/auth/login auth.credentials_wrong',
      '/auth/refresh success',
      '/auth/refresh auth.refresh_token_wrong',
    ])
  })

  inWorld('has the names of fault and outcome, and logs dropped connections', async (world) => {
    const bought = { denomination: 50, quantity: 1 }
    await world.post('/api/v1/products/2/charges', bought, { 'x-sandbox-fault': 'charges.rate_missing' })
    await world.get('/api/v1/countries/1', { 'x-sandbox-delay': '1' })
    await world.get('/api/v1/countries/0')
    await world.control('/faults', { drop: true, match: { path: '/api/v1/products/:id/discount' } })
    await world
      .post('/api/v1/products/2/discount', { denomination: 50 })
      .then((response) => response.text())
      .catch(() => undefined)
    const entries = (await entriesOf(world.name)).slice(1)
    expect(entries.map(({ fault, outcome, response }) => [fault, outcome, response.status])).toEqual([
      ['charges.rate_missing', 'charges.rate_missing', 400],
      ['delay', 'success', 200],
      [null, 'countries.invalid_id', 400],
      ['drop', null, 0],
    ])
  })

  inWorld('names the clients of a world, and those of the default world as they log in', async (world) => {
    await (await world.limited()).get('/api/v1/orders')
    const client = `sbx_${world.name}.limited`
    expect(await lastOf(world.name)).toMatchObject({ client, outcome: 'orders.feature_disabled' })
    const { access_token: token } = await loggedIn(server, 'sandbox', 'sandbox')
    await server.request('/api/v1/countries/7', { headers: { authorization: `Bearer ${token}` } })
    expect(await lastOf('default')).toMatchObject({ client: 'sandbox', path: '/api/v1/countries/7' })
  })

  inWorld('selects by status and path', async (world) => {
    for (const id of [1, 999, 0]) await world.get(`/api/v1/countries/${id}`)
    await world.get('/api/v1/currencies', { 'x-sandbox-fault': 'internal' })
    await world.control('/faults', { drop: true, times: 1 })
    const lost = world.get('/api/v1/wallets').then((response) => response.text())
    await lost.catch(() => undefined)
    await world.get('/api/v1/nowhere?a=1')
    const [one, unknown, invalid] = [1, 999, 0].map((id) => `/api/v1/countries/${id}`)
    const selected = {
      'status=404': ['/api/v1/nowhere?a=1', unknown],
      'status=4xx': ['/api/v1/nowhere?a=1', invalid, unknown],
      'status=5xx': ['/api/v1/currencies'],
      'status=0': ['/api/v1/wallets'],
      'path=/api/v1/countries/:id': [invalid, unknown, one],
      'path=/api/v1/c*': ['/api/v1/currencies', invalid, unknown, one],
      'path=/api/v1/nowhere': ['/api/v1/nowhere?a=1'],
      'path=/api/v1/countries/:id&status=4xx&limit=1': [invalid],
      'path=nothing': [],
    }
    for (const [query, paths] of Object.entries(selected)) {
      const entries = await succeed<RecordedRequest[]>(server, 'GET', `/requests?world=${world.name}&${query}`)
      expect([query, pathsOf(entries)]).toEqual([query, paths as string[]])
    }
  })

  test('world=* reads all worlds, each request with its world, the newest first', async () => {
    await using fresh = await startServer('--rate-limit', 'off')
    const [one, other] = [await fresh.world('2040-01-01T00:00:00Z'), await fresh.world('2030-01-01T00:00:00Z')]
    await one.get('/api/v1/countries/1')
    await other.get('/api/v1/countries/2')
    await one.get('/api/v1/countries/3')
    const entries = await succeed<RecordedRequest[]>(fresh, 'GET', '/requests?world=*&path=/api/v1/*')
    expect(entries.map(({ world, id, path }) => [world, id, path])).toEqual([
      [one.name, 4, '/api/v1/countries/3'],
      [other.name, 3, '/api/v1/countries/2'],
      [one.name, 3, '/api/v1/countries/1'],
    ])
    const curl = await (await fresh.request('/_sandbox/requests?world=*&path=/api/v1/*&format=curl')).text()
    expect(curl.match(/countries\/\d/g)).toEqual(['countries/1', 'countries/2', 'countries/3'])
  })

  test.each<[string, number, object]>([
    ['?world=nowhere', 404, worldNotFound('nowhere')],
    ['?limit=0', 400, validation('limit', 'min', 'must be at least 1')],
    ['?limit=10001', 400, validation('limit', 'max', 'must be at most 10000')],
    ['?status=900', 400, validation('status', 'format', 'must be a status like 404 or 4xx')],
    ['?status=4x', 400, validation('status', 'format', 'must be a status like 404 or 4xx')],
    [`?path=${'*'.repeat(201)}`, 400, validation('path', 'max', 'must be at most 200 characters long')],
    [
      '?wrld=nowhere&world=nowhere',
      400,
      validation(
        'wrld',
        'enum',
        'is not a known parameter; known are world, limit, status, path, method, search, ids, after, wait, format, bodies',
      ),
    ],
    ['?format=xml', 400, validation('format', 'enum', 'must be one of json, har, curl, scenario')],
    ['?format=', 400, validation('format', 'enum', 'must be one of json, har, curl, scenario')],
    ['?ids=1,x', 400, validation('ids', 'format', 'must be ids, separated by commas')],
  ])('%s is refused with %d', async (query, status, body) => {
    expect(await control(server, 'GET', `/requests${query}`)).toMatchObject({ status, body })
  })
})

describe('GET /_sandbox/requests/{id}', () => {
  inWorld('200 returns the entry of the list, with what came of it', async (world) => {
    await world.get('/api/v1/countries/1')
    for (const entry of await entriesOf(world.name)) {
      expect(await succeed<object>(server, 'GET', `/requests/${entry.id}?world=${world.name}`)).toEqual({
        ...entry,
        ledger: [],
        caused: [],
        deliveries: [],
      })
    }
  })

  inWorld('has the ledger entries that it posted, and its events', async (world) => {
    const { id } = await place(world, INSTANT)
    const entry = await lastOf(world.name)
    const detail = await succeed<{ ledger: object[]; caused: { id: string }[] }>(
      server,
      'GET',
      `/requests/${entry.id}?world=${world.name}`,
    )
    const entries = await succeed<{ source_id: string | null }[]>(server, 'GET', `/ledger?world=${world.name}`)
    const events = await succeed<{ client_id: number; id: string }[]>(server, 'GET', `/events?world=${world.name}`)
    expect(detail.ledger).toEqual(entries.filter(({ source_id }) => source_id === String(id)))
    expect(detail.caused).toEqual(events.map(({ client_id: _, ...event }) => event).reverse())
    expect(detail.caused.map((event) => event.id)).toEqual(entry.events)
  })

  inWorld('404 for an id that no entry has', async (world) => {
    await world.get('/api/v1/countries/1')
    for (const id of ['0', '3', '-1', '01', '1.0', 'x', '2147483648', '%31x', 'a%ZZ']) {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/replay'],
      ] as const) {
        const { status, body } = await control(server, method, `/requests/${id}${path}?world=${world.name}`)
        expect([id, status, body]).toEqual([id, 404, notFound('Request not found')])
      }
    }
    expect(await entriesOf(world.name)).toHaveLength(2)
  })
})

describe('The rows that a request wrote', () => {
  const changesOf = async (world: TestWorld) =>
    (await lastOf(world.name)).changes.map(({ table, operation, key }) => `${operation} ${table} ${key}`)

  inWorld('are logged by table and key', async (world) => {
    const id = await saveAda(world)
    expect(await changesOf(world)).toEqual([`insert beneficiaries ${id}`])
    await world.delete(`/api/v1/beneficiaries/${id}`)
    expect(await changesOf(world)).toEqual([`delete beneficiaries ${id}`])
    await place(world, INSTANT)
    const bought = await changesOf(world)
    expect(bought).toContain('insert orders 1')
    expect(bought).toContain('insert vouchers 1')
    expect(bought).toContain('update wallets 1')
    expect(bought).toContain('insert transactions 6')
    const payout = await pay(world)
    expect(await changesOf(world)).toContain(`insert payouts ${payout.id}`)
  })

  inWorld('are exactly the differences of the tables, except events and totals', async (world) => {
    const before = await rowsOf(server, world.name)
    await place(world, DELAYED)
    const after = await rowsOf(server, world.name)
    const changed = Object.keys(after).filter(
      (table) => !/^(?:events|kept_randomness|.*_counts)$/.test(table) && !Bun.deepEquals(before[table], after[table]),
    )
    expect([...new Set((await lastOf(world.name)).changes.map(({ table }) => table))].sort()).toEqual(changed)
  })

  inWorld('are empty for a read, an error and a replay', async (world) => {
    const key = { 'idempotency-key': 'written once' }
    await world.post('/api/v1/beneficiaries', ADA, key)
    expect(await changesOf(world)).toHaveLength(1)
    await world.post('/api/v1/beneficiaries', ADA, key)
    expect(await changesOf(world)).toEqual([])
    await world.get('/api/v1/beneficiaries')
    expect(await changesOf(world)).toEqual([])
    await world.post('/api/v1/orders', { ...INSTANT, wallet_id: 5 })
    expect(await changesOf(world)).toEqual([])
    await world.post('/api/v1/products/9/availability', { denomination: 10, quantity: 1 })
    expect(await changesOf(world)).toEqual([])
  })

  inWorld('are separate for simultaneous requests', async (world) => {
    const emails = Array.from({ length: 20 }, (_, number) => `person-${number}@example.com`)
    await Promise.all(emails.map((email) => world.post('/api/v1/beneficiaries', { ...ADA, email })))
    for (const { response, changes } of (await entriesOf(world.name)).slice(1)) {
      const { id } = JSON.parse(response.body ?? '') as { id: string }
      expect(changes).toEqual([{ table: 'beneficiaries', operation: 'insert', key: id }])
    }
  })

  inWorld('are logged after a reset, a restore and in a copy', async (world) => {
    await saveAda(world)
    await succeed(server, 'PUT', `/snapshots/${world.name}?world=${world.name}`)
    await succeed(server, 'POST', `/snapshots/${world.name}/restore?world=${world.name}`)
    await succeed(server, 'PUT', `/worlds/${world.name}-copy`, { from: world.name })
    for (const again of [await world.again(), await TestWorld.open(server, `${world.name}-copy`)]) {
      const id = await saveAda(again)
      expect(await changesOf(again)).toEqual([`insert beneficiaries ${id}`])
    }
  })
})

describe('Secrets', () => {
  /** Everything that is reported about a world, in every format. */
  const told = async (name: string): Promise<string> =>
    (await Promise.all(['json', 'har', 'curl'].map((format) => formatted(name, format)))).join('\n')

  inWorld('are in no format: tokens, passwords and voucher codes', async (world) => {
    const pair = await loggedIn(server, `sbx_${world.name}`)
    const body = JSON.stringify({ refresh_token: pair.refresh_token })
    const renewed = (await (await server.request('/auth/refresh', { method: 'POST', body })).json()) as typeof pair
    const { vouchers } = await place(world, INSTANT)
    await world.get('/api/v1/orders/1')
    await world.get('/api/v1/orders/1/vouchers')
    const tokens = [world.token, ...[pair, renewed].flatMap((each) => [each.access_token, each.refresh_token])]
    const codes = vouchers.flatMap((voucher) => [
      voucher.card_number,
      voucher.claim_url,
      `"pin_code":"${voucher.pin_code}"`,
    ])
    expect(codes).not.toEqual([])
    const text = await told(world.name)
    for (const secret of ['a password', ...tokens, ...codes]) expect(text).not.toContain(secret)
    const entries = await entriesOf(world.name)
    expect(entries[0]?.request.body).toBe(JSON.stringify({ username: `sbx_${world.name}`, password: '[redacted]' }))
    const redacted = { card_number: '[redacted]', pin_code: '[redacted]', claim_url: '[redacted]' }
    expect(JSON.parse(entries.at(-1)?.response.body ?? '')).toMatchObject([redacted])
  })

  /** The parts of a request in which a client may send a secret, under any name. */
  const PLANTED = {
    bodies: [
      '{"password":"SECRET"}',
      '{"Password":"SECRET"}',
      '{"metadata":{"deep":[{"access_token":"SECRET"}]}}',
      '{"p\\u0061ssword":"SECRET"}',
      '{"card_number":{"digits":"SECRET"}}',
      '{"pin_code":["SECRET"]}',
      '{"claim_url":[{"url":"SECRET"}]}',
      '{"password":"SECRET","password":null}',
      '{"note":"{\\"refresh_token\\":\\"SECRET\\"}"}',
      '{"note":"[\\"{\\\\\\"password\\\\\\":\\\\\\"SECRET\\\\\\"}\\"]"}',
      '{"note":"{\\"p\\\\u0061ssword\\":\\"SECRET\\"}"}',
      '{"Authorization":"Bearer SECRET"}',
      '{"note":{"token":"SECRET"}}',
      '{"apiKey":"SECRET","idToken":"SECRET","client_secret":"SECRET","x-api-key":"SECRET"}',
      'password=SECRET',
      '{"password":"SECRET"',
    ],
    headers: [
      ...['authorization', 'cookie', 'proxy-authorization', 'x-sandbox-token'],
      ...['X-API-Key', 'api-key', 'x-auth-token', 'x-client-secret'],
    ],
    queries: ['access_token=SECRET', 'a=1&Password=SECRET&b=2', 'access%5Ftoken=SECRET'],
  }

  inWorld('that a client plants in bodies, headers and queries are in no format', async (world) => {
    for (const body of PLANTED.bodies) {
      await world.post('/api/v1/beneficiaries', body)
      expect((await lastOf(world.name)).request.body).toMatch(/\[redacted\]|^\{"password":null\}$/)
    }
    for (const query of PLANTED.queries) {
      await world.get(`/api/v1/countries/1?${query}`)
      expect((await lastOf(world.name)).path).toStartWith('/api/v1/countries/1?')
    }
    for (const name of PLANTED.headers) {
      await server.request('/api/v1/countries', { headers: { [name]: 'Basic SECRET' } })
      expect((await lastOf('default')).request.headers[name.toLowerCase()]).toBe('[redacted]')
    }
    expect((await told(world.name)) + (await told('default'))).not.toContain('SECRET')
  })

  inWorld('error messages and empty fields stay', async (world) => {
    const response = await login(server, `sbx_${world.name}`, '')
    const body = await response.text()
    expect((await lastOf(world.name)).response.body).toBe(body)
    const limited = await world.limited()
    await limited.post('/api/v1/beneficiaries', { ...ADA, metadata: { pin_code: null } })
    expect((await lastOf(world.name)).request.body).toContain('"pin_code":null')
  })

  inWorld('a body without secrets is unchanged', async (world) => {
    const body = ' { "email" : "ada@example.com", "first_name":"Ad\\u00e4", "last_name": "L\\n", "n": 1.0 } '
    await world.post('/api/v1/beneficiaries', body)
    expect(JSON.parse((await lastOf(world.name)).request.body ?? '')).toEqual(JSON.parse(body))
    const plain = '{ "email":"ada@example.com",  "n": 12345678901234567890 }'
    await world.post('/api/v1/beneficiaries', plain)
    expect((await lastOf(world.name)).request.body).toBe(plain)
  })
})

describe('The request log is limited', () => {
  inWorld('keeps the last 1,000 requests of a world with their numbers', async (world) => {
    for (let count = 0; count < 1_004; count++) await world.get(`/api/v1/countries/1?n=${count}`)
    const entries = await entriesOf(world.name)
    expect(entries).toHaveLength(1_000)
    expect([entries[0]?.id, entries.at(-1)?.id]).toEqual([6, 1_005])
    expect((await control(server, 'GET', `/requests/5?world=${world.name}`)).status).toBe(404)
    expect((await control(server, 'GET', `/requests/6?world=${world.name}`)).status).toBe(200)
  })

  inWorld('keeps 4 MiB of requests and responses, oldest out first', async (world) => {
    const body = JSON.stringify({ ...ADA, metadata: 'x'.repeat(50_000) })
    for (let count = 0; count < 100; count++) await world.post('/api/v1/products/1/availability', body)
    const entries = await entriesOf(world.name)
    expect(entries.at(-1)?.id).toBe(101)
    const kept = entries.reduce(
      (sum, { request, response }) => sum + (request.body ?? '').length + (response.body ?? '').length,
      0,
    )
    expect(kept).toBeLessThanOrEqual(4_194_304)
    expect(kept).toBeGreaterThan(3_900_000)
  })

  test('lists no more of all worlds together, but leaves nothing out without bodies', async () => {
    await using fresh = await startServer('--rate-limit', 'off')
    const body = JSON.stringify({ ...ADA, metadata: 'x'.repeat(50_000) })
    for (const name of ['a', 'b']) {
      const world = await TestWorld.open(fresh, name)
      for (let count = 0; count < 50; count++) await world.post('/api/v1/products/1/availability', body)
    }
    const list = async (query: string) =>
      (await (await fresh.request(`/_sandbox/requests?world=*${query}`)).json()) as RecordedRequest[]
    expect((await list('')).length).toBeLessThan(102)
    const heads = await list('&bodies=false')
    expect(heads).toHaveLength(102)
    expect(heads.filter(({ request, response }) => request.body !== null || response.body !== null)).toEqual([])
  })

  inWorld('finds a text in a path, a request id and the bodies, in any case, and no secret', async (world) => {
    const { headers } = await world.post('/api/v1/beneficiaries', ADA)
    await world.get('/api/v1/countries/105')
    const found = async (text: string): Promise<string[]> => {
      const query = `?world=${world.name}&bodies=false&search=${encodeURIComponent(text)}`
      const entries = await succeed<RecordedRequest[]>(server, 'GET', `/requests${query}`)
      return entries.map(({ method, path }) => `${method} ${path}`)
    }
    for (const text of ['ADA@example.com', headers.get('x-request-id') ?? '', '/beneficiaries']) {
      expect(await found(text)).toEqual(['POST /api/v1/beneficiaries'])
    }
    expect(await found('countries/105')).toEqual(['GET /api/v1/countries/105'])
    expect(await found(world.token)).toEqual([])
    for (const text of ['"token_type":"bearer"', '[REDACTED]']) expect(await found(text)).toEqual(['POST /auth/login'])
    await world.post('/api/v1/beneficiaries', '{"email":"jos\\u00e9@example.com", "token": 1}')
    expect(await found('josé@example.com')).toEqual(['POST /api/v1/beneficiaries'])
  })

  inWorld('cuts a body at 65,536 characters, between characters', async (world) => {
    const sent = async (text: string): Promise<string | null> => {
      await world.post('/api/v1/products/1/availability', text)
      return (await lastOf(world.name)).request.body
    }
    const of = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`
    expect(await sent(of(65_536))).toBe(of(65_536))
    expect(await sent(of(65_537))).toBe(`${of(65_537).slice(0, 65_536)}…`)
    const long = await world.get('/api/v1/products?limit=10000')
    const text = await long.text()
    expect(text.length).toBeGreaterThan(65_536)
    expect((await lastOf(world.name)).response.body).toBe(`${text.slice(0, 65_536)}…`)
  })

  inWorld('omits a body that was too long, but keeps the request', async (world) => {
    expect((await world.post('/api/v1/beneficiaries', 'x'.repeat(1_048_577))).status).toBe(400)
    expect(await lastOf(world.name)).toMatchObject({
      request: { body: null },
      response: { status: 400 },
      outcome: 'beneficiaries.body_unreadable',
    })
  })
})

describe('?format=har', () => {
  interface Har {
    log: { version: string; creator: object; entries: Record<string, unknown>[] }
  }

  inWorld('is HTTP Archive 1.2 with every member that it requires, the oldest first', async (world) => {
    const body = '{"email":"ada@example.com","first_name":"Ädä","last_name":"€"}'
    const headers = { 'content-type': 'application/json' }
    const response = await world.post('/api/v1/beneficiaries?a=1&b=%C3%A4+c', body, headers)
    const text = await response.text()
    await world.get('/api/v1/countries/1')
    const { log } = await succeed<Har>(server, 'GET', `/requests?world=${world.name}&format=har`)
    const { version } = (await (await server.request('/status')).json()) as { version: string }
    const pairs = expect.arrayContaining([{ name: expect.any(String), value: expect.any(String) }])
    expect(log).toEqual({
      version: '1.2',
      creator: { name: 'Scrip', version },
      entries: [expect.any(Object), expect.any(Object), expect.any(Object)],
    })
    const [, saved, read] = log.entries
    expect(saved).toEqual({
      _world: world.name,
      _events: [],
      startedDateTime: NOON,
      time: expect.any(Number),
      request: {
        method: 'POST',
        url: expect.stringMatching(/^http:\/\/[^/]+\/api\/v1\/beneficiaries\?a=1&b=%C3%A4\+c$/),
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: expect.arrayContaining([{ name: 'authorization', value: '[redacted]' }]),
        queryString: [
          { name: 'a', value: '1' },
          { name: 'b', value: 'ä c' },
        ],
        postData: { mimeType: 'application/json', params: [], text: body },
        headersSize: -1,
        bodySize: Buffer.byteLength(body),
      },
      response: {
        status: 201,
        statusText: '',
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: pairs,
        content: { size: Buffer.byteLength(text), mimeType: 'application/json', text },
        redirectURL: '',
        headersSize: -1,
        bodySize: Buffer.byteLength(text),
      },
      cache: {},
      timings: { send: 0, wait: saved?.time, receive: 0 },
    })
    expect(read?.request).toMatchObject({ method: 'GET', queryString: [], bodySize: 0 })
    expect(read?.request).not.toHaveProperty('postData')
  })

  test('is empty for an unused world', async () => {
    await succeed(server, 'PUT', '/worlds/silent')
    expect((await succeed<Har>(server, 'GET', '/requests?world=silent&format=har')).log.entries).toEqual([])
    expect(await formatted('silent', 'curl')).toBe('')
  })
})

describe('?format=curl', () => {
  let program: Running
  beforeAll(async () => {
    program = await start(['--seed', '17'])
  })
  afterAll(async () => void (await program.stop()))

  /** Pastes lines into a shell. */
  const paste = async (lines: string, token = ''): Promise<string> => {
    const shell = Bun.spawn(['sh'], {
      stdin: new Blob([lines]),
      stdout: 'pipe',
      stderr: 'ignore',
      env: { PATH: process.env.PATH ?? '', SCRIP_ACCESS_TOKEN: token },
    })
    const [text, exitCode] = await Promise.all([shell.stdout.text(), shell.exited])
    expect(exitCode).toBe(0)
    return text
  }
  const responseTo = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const response = await program.request(path, { method, headers, ...(body !== undefined && { body }) })
    return { status: response.status, text: await response.text() }
  }
  const linesIn = async (world: string) =>
    (await program.request(`/_sandbox/requests?world=${world}&format=curl`)).text()
  const entriesIn = async (world: string) =>
    ((await (await program.request(`/_sandbox/requests?world=${world}`)).json()) as RecordedRequest[]).reverse()
  const tokenIn = async (world: string): Promise<string> => {
    await responseTo('PUT', `/_sandbox/worlds/${world}`)
    await responseTo('POST', `/_sandbox/clock?world=${world}`, JSON.stringify({ now: NOON, frozen: true }))
    const { text } = await responseTo('POST', '/auth/login', `{"username":"sbx_${world}","password":"x"}`)
    return (JSON.parse(text) as { access_token: string }).access_token
  }

  test('each line repeats its request in a shell', async () => {
    const token = await tokenIn('pasted')
    const authorization = `Bearer ${token}`
    const requests: [string, string, (string | undefined)?, Record<string, string>?][] = [
      ['GET', '/api/v1/countries/1'],
      ['GET', '/api/v1/products?limit=2&sort=%7B%22field%22%3A%22id%22%7D&search=O%27Neil'],
      ['GET', '/api/v1/wallets?sort={"field":"id"}&x=[1-3]'],
      ['POST', '/api/v1/products/2/charges', '{"denomination":50,"quantity":1}'],
      ['POST', '/api/v1/products/2/charges', ` {"denomination":50,\n "note":"it's \`$HOME\` \\\\ \\"x\\" ä€"}`],
      ['POST', '/api/v1/products/2/availability', '@/etc/hostname'],
      ['GET', '/api/v1/countries/0', undefined, { 'x-empty': '', 'x-quoted': `it's "$HOME"` }],
      ['DELETE', '/api/v1/beneficiaries/ben_nobody'],
    ]
    const responses: string[] = []
    for (const [method, path, body, headers] of requests) {
      responses.push((await responseTo(method, path, body, { authorization, ...headers })).text)
    }
    const lines = await linesIn('pasted')
    expect(lines).toContain(`\ncurl --globoff --path-as-is -X GET '${program.url}/api/v1/countries/1' `)
    expect(lines).toContain('-H "Authorization: Bearer $SCRIP_ACCESS_TOKEN"')
    expect(lines.match(/^curl /gm)).toHaveLength(requests.length + 1)
    const withoutLogin = lines.slice(lines.indexOf('\n') + 1)
    expect(await paste(withoutLogin, token)).toBe(responses.join(''))
    const entries = (await entriesIn('pasted')).slice(1)
    expect(entries).toHaveLength(2 * requests.length)
    requests.forEach((_, index) => {
      const [first, again] = [entries[index], entries[index + requests.length]]
      expect([again?.method, again?.path, again?.request.body]).toEqual([
        first?.method,
        first?.path,
        first?.request.body,
      ])
      for (const name of ['x-empty', 'x-quoted']) {
        expect(again?.request.headers[name]).toBe(first?.request.headers[name] as string)
      }
    })
  })
})

interface Replayed {
  status: number
  headers: Record<string, string>
  body: string
}

describe('POST /_sandbox/requests', () => {
  const send = (world: TestWorld, body: object) => world.control('/requests', body)
  const sent = async (world: TestWorld, body: object) => (await (await send(world, body)).json()) as Replayed

  inWorld('200 sends a request as the account of the world, without its password, and logs it', async (world) => {
    const headers = { 'content-type': 'application/json', 'Idempotency-Key': 'sent-by-hand' }
    const post = { method: 'POST', path: '/api/v1/beneficiaries', headers, body: JSON.stringify(ADA) }
    const first = await sent(world, post)
    expect(first).toMatchObject({ status: 201, headers: { location: `/api/v1/beneficiaries/${idIn(first)}` } })
    expect(await sent(world, post)).toMatchObject({
      status: 201,
      body: first.body,
      headers: { 'idempotent-replayed': 'true' },
    })
    expect((await rowsOf(server, world.name)).beneficiaries).toHaveLength(1)
    expect(await lastOf(world.name)).toMatchObject({
      path: '/api/v1/beneficiaries',
      client: `sbx_${world.name}`,
      outcome: 'success',
    })
  })

  inWorld('as another client of the world, and with a fault', async (world) => {
    const get = { method: 'GET', path: '/api/v1/wallets', client: `sbx_${world.name}.limited` }
    const wallets = JSON.parse((await sent(world, get)).body) as { id: number }[]
    expect(wallets.map(({ id }) => id)).toEqual([5])
    expect(await sent(world, { ...get, fault: 'internal' })).toMatchObject({ status: 500 })
    expect(await lastOf(world.name)).toMatchObject({ fault: 'internal', client: `sbx_${world.name}.limited` })
  })

  test.each([
    ['a client of another world', { client: 'sbx_elsewhere.shop' }, 'client'],
    ['the control API', { path: '/_sandbox/reset' }, 'path'],
    ['the control API, in another spelling', { path: '/api/../_sandbox/reset' }, 'path'],
    ['a whole URL', { path: 'http://127.0.0.1/status' }, 'path'],
    ['a method that no operation has', { method: 'TRACE' }, 'method'],
    ['a header that HTTP does not allow', { headers: { 'x y': '1' } }, 'headers'],
    ['a header that breaks a line', { headers: { 'x-y': 'a\r\nb: c' } }, 'headers'],
    ['a header that is not text', { headers: { 'x-y': 1 } }, 'headers'],
    ['an unknown member', { url: '/status' }, 'url'],
  ])('400 refuses %s, and sends nothing', async (_, wrong, member) => {
    const world = await opened()
    const response = await send(world, { method: 'GET', path: '/api/v1/wallets', ...wrong })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { code: string; messages: object } }
    expect([error.code, Object.keys(error.messages)]).toEqual(['VALIDATION_FAILURE', [member]])
    expect((await entriesOf(world.name)).map(({ path }) => path)).toEqual(['/auth/login'])
  })
})

describe('POST /_sandbox/requests/{id}/replay', () => {
  const replay = (world: TestWorld, id: number) =>
    succeed<Replayed>(server, 'POST', `/requests/${id}/replay?world=${world.name}`)

  inWorld('200 sends the request again and returns the new response', async (world) => {
    const id = await saveAda(world)
    const again = await replay(world, 2)
    expect(again.status).toBe(201)
    const { id: newId, ...created } = JSON.parse(again.body) as { id: string; email: string }
    expect(created.email).toBe(ADA.email)
    expect(newId).not.toBe(id)
    expect((await rowsOf(server, world.name)).beneficiaries).toHaveLength(2)
    const entry = await lastOf(world.name)
    expect(entry).toMatchObject({
      method: 'POST',
      path: '/api/v1/beneficiaries',
      client: `sbx_${world.name}`,
      outcome: 'success',
      request: { body: JSON.stringify(ADA), headers: { authorization: '[redacted]' } },
      changes: [{ table: 'beneficiaries', operation: 'insert', key: newId }],
    })
    expect(entry.request_id).toBe(again.headers['x-request-id'] ?? '')
  })

  inWorld('as the same client, whatever the state of its token', async (world) => {
    const limited = await world.limited()
    await limited.get('/api/v1/wallets')
    const { id } = await lastOf(world.name)
    await limited.post('/auth/logout')
    await world.clock({ advance: 'P1D' })
    expect((JSON.parse((await replay(world, id)).body) as { id: number }[]).map((wallet) => wallet.id)).toEqual([5])
    expect(await lastOf(world.name)).toMatchObject({ client: `sbx_${world.name}.limited` })
  })

  inWorld('with its Idempotency-Key has no second effect', async (world) => {
    const first = await world.post('/api/v1/beneficiaries', ADA, { 'idempotency-key': 'only once' })
    const again = await replay(world, 2)
    expect(again).toMatchObject({ status: 201, body: await first.text(), headers: { 'idempotent-replayed': 'true' } })
    expect((await rowsOf(server, world.name)).beneficiaries).toHaveLength(1)
  })

  inWorld('a login fails, because its password is redacted, and is logged in its world', async (world) => {
    const { refresh_token } = await loggedIn(server, `sbx_${world.name}`)
    await server.request('/auth/refresh', { method: 'POST', body: JSON.stringify({ refresh_token }) })
    const before = (await entriesOf('default')).length
    expect((await replay(world, 1)).status).toBe(401)
    expect((await replay(world, 3)).status).toBe(401)
    expect((await entriesOf(world.name)).slice(-2).map(({ outcome }) => outcome)).toEqual([
      'auth.credentials_wrong',
      'auth.refresh_token_wrong',
    ])
    expect(await entriesOf('default')).toHaveLength(before)
  })

  inWorld('a response that is lost again has the status 0', async (world) => {
    await world.control('/faults', { drop: true, match: { path: '/api/v1/wallets' } })
    const asking = world.get('/api/v1/wallets').then((response) => response.text())
    await asking.catch(() => undefined)
    expect(await replay(world, 2)).toEqual({ status: 0, headers: {}, body: '' })
    await succeed(server, 'DELETE', `/faults?world=${world.name}`)
    expect((await replay(world, 2)).status).toBe(200)
  })

  test('a request without a client, in the default world, is replayed without one', async () => {
    await server.request('/api/v1/countries/1')
    const { id } = await lastOf('default')
    expect((await succeed<Replayed>(server, 'POST', `/requests/${id}/replay`)).status).toBe(401)
    expect(await lastOf('default')).toMatchObject({ path: '/api/v1/countries/1', client: null })
  })
})
