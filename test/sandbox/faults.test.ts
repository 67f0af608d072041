import { afterAll, describe, expect, test } from 'bun:test'
import { operationsOf, outcomesIn, readDocument } from '../docs/document.ts'
import { badRequest, notFound, structured, validation } from '../errors.ts'
import { type Server, startServer, type TestWorld, testIn } from '../harness.ts'
import { ADA, DELAYED, NOON, place, saveAda } from '../records.ts'
import { hook } from '../webhooks/webhooks.ts'
import { control, type ReadResponse, read, rowsOf, succeed } from './surface.ts'

interface DocumentedError {
  name: string
  status: number
  method: string
  path: string
  body: object
}

const server: Server = await startServer('--rate-limit', 'off', '--seed', '15')
const inWorld = testIn(() => server.world())
afterAll(() => server.stop())
const documented = await succeed<DocumentedError[]>(server, 'GET', '/errors')
const operations = operationsOf(await readDocument(server))

const routeOf = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')
const operationAt = (method: string, path: string) => {
  const found = operations.find((operation) => operation.method === method && routeOf(operation.path) === path)
  if (!found) throw new Error(`${method} ${path} is not documented`)
  return found
}

interface Rule {
  id: number
  error: string | null
  status: number | null
  delay_ms: number
  drop: boolean
  cut_after_bytes: number | null
  bytes_per_second: number | null
  when: string
  match: { method: string | null; path: string | null }
  times_left: number | null
  probability: number
}
const addRule = (world: TestWorld, rule: object) => succeed<Rule>(server, 'POST', `/faults?world=${world.name}`, rule)
const rulesOf = (world: TestWorld) => succeed<Rule[]>(server, 'GET', `/faults?world=${world.name}`)

/** Faults never apply to probes and the control API. */
const canBeStruck = (path: string) => !path.startsWith('/_sandbox') && !['/livez', '/readyz'].includes(path)

const COUNTRY = '/api/v1/countries/1'

describe('GET /_sandbox/errors', () => {
  const sorted = (errors: { method: string; path: string; name: string }[]) =>
    errors.toSorted((a, b) => `${a.method} ${a.path} ${a.name}`.localeCompare(`${b.method} ${b.path} ${b.name}`))
  const inDocument = (isListed: (path: string) => boolean) =>
    operations
      .filter(({ path }) => isListed(path))
      .flatMap((operation) =>
        outcomesIn(operation).map(({ name, status, body }) => ({
          name,
          status,
          method: operation.method,
          path: routeOf(operation.path),
          body,
        })),
      )

  test('lists all errors of the API in the document, with name, operation, status and body', async () => {
    expect(sorted(documented)).toEqual(sorted(inDocument(canBeStruck)))
    const listed = await succeed<DocumentedError[]>(server, 'GET', '/errors?all=false&world=default')
    expect(listed).toEqual(documented)
  })

  test('adds those of the control API with ?all=true', async () => {
    const all = await succeed<DocumentedError[]>(server, 'GET', '/errors?all=true')
    expect(sorted(all)).toEqual(sorted(inDocument((path) => !['/livez', '/readyz'].includes(path))))
    expect(all.map(({ name }) => name)).toContain('worlds.default_kept')
  })

  test('has the names of the contract, unique per operation', () => {
    const names = documented.map(({ name }) => name)
    for (const name of ['charges.rate_missing', 'charges.rate_failed', 'products.not_found']) {
      expect(names).toContain(name)
    }
    for (const name of ['rate_limited', 'unauthorized', 'internal']) expect(names).toContain(name)
    const places = documented.map(({ method, path, name }) => `${method} ${path} ${name}`)
    expect(new Set(places).size).toBe(places.length)
  })
})

/** A world in which every operation would succeed, and the path of each record. */
const prepared = async (): Promise<{ world: TestWorld; pathOf: (route: string) => string }> => {
  const world = await server.world(NOON)
  const beneficiary = await saveAda(world)
  const order = await place(world, { ...DELAYED, quantity: 1 })
  const payout = (await (
    await world.post('/api/v1/payouts', {
      reference_id: 'prepared',
      wallet_id: 1,
      amount: 10,
      currency: 'USD',
      beneficiary_id: beneficiary,
    })
  ).json()) as { id: string }
  const [event] = await world.read<{ id: string }[]>('/api/v1/events')
  const webhook = await hook(world, 'http://127.0.0.1:9/', { events: ['order.failed'] })
  const ids = {
    beneficiaries: beneficiary,
    payouts: payout.id,
    orders: order.id,
    events: event?.id,
    webhooks: webhook.id,
  }
  const pathOf = (route: string) => {
    const [, id = 1] = Object.entries(ids).find(([records]) => route.includes(`/${records}/`)) ?? []
    return route.replace(':id', String(id))
  }
  return { world, pathOf }
}

const endpoints = Object.entries(
  Object.groupBy(
    documented.filter(({ path }) => canBeStruck(path)),
    ({ method, path }) => `${method} ${path}`,
  ),
).map(([endpoint, errors = []]) => [endpoint, errors] as const)

test('there is an error for every operation', () => {
  expect(endpoints.length).toBe(operations.filter(({ path }) => canBeStruck(path)).length)
  expect(endpoints.length).toBeGreaterThan(30)
})

describe.each(endpoints)('Every documented error of %s', (_, errors) => {
  const [{ method, path } = { method: '', path: '' }] = errors
  const example = operationAt(method, path).requestBody?.content['application/json']?.example
  const call = async (world: TestWorld, target: string, headers: Record<string, string> = {}): Promise<ReadResponse> =>
    read(
      await world.request(target, { method, headers, ...(example !== undefined && { body: JSON.stringify(example) }) }),
    )
  const CHALLENGES: Record<string, string> = {
    unauthorized: 'Bearer error="invalid_token"',
    'auth.credentials_wrong': 'Bearer',
    'auth.refresh_token_wrong': 'Bearer',
  }
  const expectError = ({ status, headers, body }: ReadResponse, error: DocumentedError): void => {
    const shown = (received: unknown) =>
      JSON.stringify(received).replace(/for [A-Z]{3} to [A-Z]{3}/, 'for one currency to another')
    expect({ name: error.name, status, body: shown(body) }).toEqual({
      name: error.name,
      status: error.status,
      body: shown(error.body),
    })
    expect(headers.get('x-request-id')).toBeTruthy()
    expect(headers.get('x-cache')).toBeNull()
    expect(headers.get('www-authenticate')).toBe(CHALLENGES[error.name] ?? null)
    const told = /after (\d+) seconds/.exec(JSON.stringify(error.body))?.[1]
    const waits = error.status === 429 ? (told ?? '60') : null
    expect(headers.get('retry-after')).toBe(error.status === 503 ? '1' : waits)
  }

  test('can be injected by header, and changes no row', async () => {
    const { world, pathOf } = await prepared()
    const before = await rowsOf(server, world.name)
    for (const error of errors) expectError(await call(world, pathOf(path), { 'x-sandbox-fault': error.name }), error)
    expect(await rowsOf(server, world.name)).toEqual(before)
  })

  // Public routes but the login and the refresh are about no world but the default one, which other tests use.
  if (operationAt(method, path).security.length > 0)
    test('can be injected by a rule, and changes no row', async () => {
      const { world, pathOf } = await prepared()
      const before = await rowsOf(server, world.name)
      for (const { name: error } of errors) await addRule(world, { error, match: { method, path }, times: 1 })
      for (const error of errors) expectError(await call(world, pathOf(path)), error)
      expect((await rulesOf(world)).map(({ times_left }) => times_left)).toEqual(errors.map(() => 0))
      expect(await rowsOf(server, world.name)).toEqual(before)
      // Requests that only the rules refused are accepted when the rules are used up.
      if (path !== '/auth/logout') expect((await call(world, pathOf(path))).status).toBeLessThan(300)
    })
})

test('a rule for GET / applies to the front page, of the default world', async () => {
  const { status } = await control(server, 'POST', '/faults', { error: 'internal', match: { path: '/' }, times: 1 })
  expect(status).toBe(201)
  const responses = [await read(await server.request('/')), await read(await server.request('/'))]
  expect(responses.map((response) => response.status)).toEqual([500, 200])
  expect(responses[0]?.body).toEqual(
    structured('InternalServerError', 'INTERNAL_SERVER_ERROR', 'Internal server error'),
  )
})

describe('The headers', () => {
  test('ask for an error before the features of the client are checked', async () => {
    const limited = await (await server.world()).limited()
    const order = { product_id: 1, denomination: 100, quantity: 1 }
    const faulty = await limited.post('/api/v1/orders', order, { 'X-Sandbox-Fault': 'orders.insufficient_stock' })
    expect([faulty.status, await faulty.json()]).toEqual([400, badRequest('Insufficient stock')])
    expect((await limited.post('/api/v1/orders', order)).status).toBe(403)
  })

  inWorld('an empty X-Sandbox-Fault asks for no fault: tools send every header of the document', async (world) => {
    const plain = await world.get(COUNTRY)
    const unchanged = await world.get(COUNTRY, { 'x-sandbox-fault': '' })
    expect([unchanged.status, await unchanged.json()]).toEqual([200, await plain.json()])
    const slow = await world.get(COUNTRY, { 'x-sandbox-fault': '', 'x-sandbox-delay': 'soon' })
    expect(slow.status).toBe(400)
  })

  inWorld('an unknown fault is refused in the format of the operation', async (world) => {
    const headers = { 'x-sandbox-fault': 'charges.rate_missing; when=after' }
    const problem = 'must be the name of an error of this endpoint; see GET /_sandbox/errors'
    expect((await read(await world.get(COUNTRY, headers))).body).toEqual(validation('X-Sandbox-Fault', 'enum', problem))
    expect((await read(await world.get('/api/v1/payouts', headers))).body).toEqual({
      error: 'ValidationException',
      message: `X-Sandbox-Fault ${problem}`,
    })
    const charged = await world.post('/api/v1/products/1/charges', {}, { 'x-sandbox-fault': 'nothing' })
    expect((await read(charged)).body).toEqual({
      error: { message: 'Validation failed', details: `X-Sandbox-Fault ${problem}` },
    })
  })

  test.each(['-1', '60001', '1.5', '1e3', 'soon', '', '0x10', '999999'])('a delay of %p is refused', async (delay) => {
    const world = await server.world()
    const { status, body } = await read(await world.get(COUNTRY, { 'x-sandbox-delay': delay }))
    expect(status).toBe(400)
    expect(body).toEqual(validation('X-Sandbox-Delay', 'enum', 'must be a whole number of milliseconds up to 60000'))
  })

  test('a missing or invalid token is refused first', async () => {
    for (const headers of [{}, { authorization: 'Bearer a.b.c' }]) {
      const response = await server.request(COUNTRY, { headers: { ...headers, 'x-sandbox-fault': 'internal' } })
      expect(response.status).toBe(401)
    }
  })

  test('a request with a fault counts against the rate limit, like a real error', async () => {
    await using limited = await startServer('--rate-limit', '10/h')
    const world = await limited.world(NOON)
    const remaining = async (fault?: string) =>
      (await world.get(COUNTRY, fault === undefined ? {} : { 'x-sandbox-fault': fault })).headers.get(
        'x-ratelimit-remaining',
      )
    expect([
      await remaining(),
      await remaining('internal'),
      await remaining('rate_limited'),
      await remaining(),
    ]).toEqual(['9', '8', '7', '6'])
  })

  inWorld('a fault precedes the charge cache and does not change it', async (world) => {
    const body = { denomination: 100, quantity: 1 }
    const charge = (headers: Record<string, string> = {}) => world.post('/api/v1/products/1/charges', body, headers)
    const first = await charge()
    expect(first.headers.get('x-cache')).toBe('MISS')
    const faulted = await charge({ 'x-sandbox-fault': 'charges.rate_failed' })
    expect(await read(faulted)).toMatchObject({ status: 500, body: { error: 'Failed to fetch exchange rate' } })
    expect(faulted.headers.get('x-cache')).toBeNull()
    await addRule(world, { error: 'charges.rate_missing', times: 1 })
    expect((await charge()).status).toBe(400)
    const second = await charge()
    expect(second.headers.get('x-cache')).toBe('HIT')
    expect(await second.text()).toBe(await first.text())
  })

  inWorld('a header precedes the rules and does not use them up', async (world) => {
    await addRule(world, { error: 'internal', times: 1 })
    expect((await world.get(COUNTRY, { 'x-sandbox-fault': 'countries.not_found' })).status).toBe(404)
    expect((await rulesOf(world))[0]?.times_left).toBe(1)
    expect((await world.get(COUNTRY)).status).toBe(500)
  })
})

const NO_EFFECT = 'is required, or status, delay_ms, drop, cut_after_bytes or bytes_per_second'
const NO_PLACE = 'must fit an endpoint where the rule can apply; see GET /_sandbox/errors'
const UNKNOWN_MEMBER = 'is not a known member; known are type, method, path'
const LONG_PATH = `/${'*'.repeat(1_024)}`

describe('POST /_sandbox/faults', () => {
  const DEFAULTS = {
    error: null,
    status: null,
    delay_ms: 0,
    drop: false,
    cut_after_bytes: null,
    bytes_per_second: null,
  }
  const ALWAYS = { when: 'before', match: { method: null, path: null }, times_left: null, probability: 1 }

  inWorld('201 returns the rule with all defaults', async (world) => {
    const first = { id: 1, ...DEFAULTS, ...ALWAYS, error: 'internal' }
    const response = await control(server, 'POST', `/faults?world=${world.name}`, { error: 'internal' })
    expect(response).toMatchObject({ status: 201, body: first })
    const effects = { error: 'countries.not_found', delay_ms: 5, drop: true, cut_after_bytes: 0, bytes_per_second: 1 }
    const whole = { ...effects, when: 'after', probability: 0.5 }
    const ruleRequest = { ...whole, match: { method: 'get', path: '/api/v1/*' }, times: 3 }
    const second = { id: 2, status: null, ...whole, match: { method: 'GET', path: '/api/v1/*' }, times_left: 3 }
    expect(await addRule(world, ruleRequest)).toEqual(second as Rule)
    expect(await rulesOf(world)).toMatchObject([first, second])
  })

  const refused = async (rule: object, field: string, kind: string, problem: string): Promise<void> => {
    const world = await server.world()
    const response = await control(server, 'POST', `/faults?world=${world.name}`, rule)
    expect(response).toMatchObject({ status: 400, body: validation(field, kind, problem) })
    expect(await rulesOf(world)).toEqual([])
    expect((await world.get(COUNTRY)).status).toBe(200)
  }

  test.each<[rule: object, field: string, kind: string, problem: string]>([
    [{ error: 'nothing' }, 'error', 'enum', 'must be the name of a documented error; see GET /_sandbox/errors'],
    [{}, 'error', 'required', NO_EFFECT],
    [{ delay_ms: 0, drop: false }, 'error', 'required', NO_EFFECT],
    [{ when: 'after' }, 'error', 'required', NO_EFFECT],
    [{ drop: true, when: 'later' }, 'when', 'enum', 'must be one of before, after'],
    [{ status: 500 }, 'status', 'enum', 'must be one of 502, 503, 504'],
    [{ status: 503, error: 'internal' }, 'status', 'format', 'cannot be combined with error'],
    [{ cut_after_bytes: -1 }, 'cut_after_bytes', 'min', 'must be at least 0'],
    [{ bytes_per_second: 0 }, 'bytes_per_second', 'min', 'must be at least 1'],
    [{ delay_ms: -1 }, 'delay_ms', 'min', 'must be at least 0'],
    [{ delay_ms: 60_001 }, 'delay_ms', 'max', 'must be at most 60000'],
    [{ drop: true, times: 0 }, 'times', 'min', 'must be at least 1'],
    [{ drop: true, probability: 1.1 }, 'probability', 'max', 'must be at most 1'],
    [{ drop: true, probability: -0.1 }, 'probability', 'min', 'must be at least 0'],
    [{ drop: true, probability: 0 }, 'probability', 'min', 'must be more than 0: the rule would never apply'],
    [
      { drop: true, match: { method: 'FETCH' } },
      'match',
      'enum',
      'must have a method of GET, POST, PUT, DELETE, PATCH',
    ],
    [{ drop: true, match: { path: LONG_PATH } }, 'match', 'max', 'must have a path of at most 1024 characters'],
    [{ drop: true, match: { metod: 'GET' } }, 'match.metod', 'enum', UNKNOWN_MEMBER],
  ])('400 refuses %j and adds no rule', refused)

  test.each<[rule: object]>([
    [{ error: 'charges.rate_missing', match: { path: '/api/v1/payouts' } }],
    [{ error: 'payouts.duplicate_reference', match: { method: 'GET' } }],
    [{ error: 'internal', match: { path: '/api/v1/c.untries/(1)' } }],
    [{ error: 'internal', match: { path: '/livez' } }],
    [{ status: 503, match: { path: '/readyz' } }],
    [{ drop: true, match: { path: '/readyz' } }],
    [{ drop: true, match: { path: '/_sandbox/*' } }],
    [{ cut_after_bytes: 1, match: { path: '/_sandbox/*' } }],
    [{ drop: true, match: { path: '/api/v1/countries?limit=1' } }],
    [{ drop: true, match: { method: 'PUT' } }],
  ])('400 refuses %j, which matches no endpoint that could fail', (rule) => refused(rule, 'match', 'enum', NO_PLACE))

  inWorld('a world has at most 1,000 rules', async (world) => {
    for (let count = 0; count < 1_000; count++)
      await addRule(world, { error: 'internal', match: { path: '/api/v1/countries/249' } })
    const { status, body } = await control(server, 'POST', `/faults?world=${world.name}`, { error: 'internal' })
    expect(status).toBe(400)
    expect(body).toEqual(validation('error', 'max', 'cannot be added: a world holds at most 1000 rules'))
    expect((await rulesOf(world)).length).toBe(1_000)
    expect((await world.get(COUNTRY)).status).toBe(200)
  })

  inWorld('DELETE of one rule removes it alone; 404 for none', async (world) => {
    for (const delay_ms of [1, 2, 3]) await world.control('/faults', { delay_ms })
    const remove = (id: number | string) => control(server, 'DELETE', `/faults/${id}?world=${world.name}`)
    expect(await remove(2)).toMatchObject({ status: 204, body: undefined })
    const left = await succeed<{ id: number; delay_ms: number }[]>(server, 'GET', `/faults?world=${world.name}`)
    expect(left.map(({ id, delay_ms }) => [id, delay_ms])).toEqual([
      [1, 1],
      [3, 3],
    ])
    for (const id of [2, 4, 0, '01', 'x'])
      expect(await remove(id)).toMatchObject({ status: 404, body: notFound('Fault not found') })
  })

  inWorld(
    'DELETE removes all rules with 204, also a second time, and their numbers are not used again',
    async (world) => {
      await addRule(world, { error: 'internal' })
      expect((await world.get(COUNTRY)).status).toBe(500)
      for (let count = 0; count < 2; count++) {
        const cleared = await control(server, 'DELETE', `/faults?world=${world.name}`)
        expect(cleared).toMatchObject({ status: 204, body: undefined })
        expect(await rulesOf(world)).toEqual([])
      }
      expect((await world.get(COUNTRY)).status).toBe(200)
      expect((await addRule(world, { error: 'internal' })).id).toBe(2)
    },
  )
})

describe('A rule', () => {
  const statusOf = async (world: TestWorld, path: string, method = 'GET') =>
    (await world.request(path, { method })).status

  test.each<[string, object, string[], string[]]>([
    ['without a match strikes wherever its error can occur', {}, [COUNTRY, '/api/v1/payouts', '/api/v1/wallets'], []],
    [
      'matches an exact path',
      { path: COUNTRY },
      [COUNTRY, `${COUNTRY}/`],
      ['/api/v1/countries/12', '/api/v1/countries'],
    ],
    [
      'matches a route by its names',
      { path: '/api/v1/countries/:id' },
      [COUNTRY, '/api/v1/countries/2'],
      ['/api/v1/countries', '/api/v1/wallets'],
    ],
    [
      'matches a segment by whatever name',
      { path: '/api/v1/:what/:which' },
      [COUNTRY, '/api/v1/currencies/2'],
      ['/api/v1/countries'],
    ],
    ['matches anything with *', { path: '/api/v1/c*' }, [COUNTRY, '/api/v1/currencies'], ['/api/v1/wallets']],
    ['matches the end with *', { path: '*/1' }, [COUNTRY, '/api/v1/products/1'], ['/api/v1/countries/2']],
    ['matches a method', { method: 'get' }, [COUNTRY], []],
    ['passes by another method', { method: 'DELETE' }, [], [COUNTRY]],
    ['needs both to match', { method: 'POST', path: '*' }, [], [COUNTRY]],
  ])('%s', async (_, match, struck, spared) => {
    const world = await server.world()
    await addRule(world, { error: 'internal', match })
    for (const path of struck) expect([path, await statusOf(world, path)]).toEqual([path, 500])
    for (const path of spared) expect([path, await statusOf(world, path)]).toEqual([path, 200])
  })

  inWorld('is not applied or used up where its error is not documented', async (world) => {
    await addRule(world, { error: 'charges.rate_missing', times: 1 })
    expect(await statusOf(world, COUNTRY)).toBe(200)
    expect((await world.post('/api/v1/products/1/discount', {})).status).toBe(200)
    expect((await rulesOf(world))[0]?.times_left).toBe(1)
    expect((await world.post('/api/v1/products/1/charges', { denomination: 100, quantity: 1 })).status).toBe(400)
    expect((await rulesOf(world))[0]?.times_left).toBe(0)
  })

  inWorld('for a missing rate names the currencies of the request, product and wallet', async (world) => {
    const { currency_code: product } = await world.read<{ currency_code: string }>('/api/v1/products/1')
    await addRule(world, { error: 'charges.rate_missing' })
    await addRule(world, { error: 'orders.rate_missing' })
    for (const [walletId, wallet] of [
      [2, 'EUR'],
      [4, 'JPY'],
    ] as const) {
      const body = { denomination: 100, quantity: 1, wallet_id: walletId }
      const charged = await read(await world.post('/api/v1/products/1/charges', body))
      expect(charged.body).toEqual({ error: `No exchange rate found for ${product} to ${wallet}` })
      const ordered = await read(await world.post('/api/v1/orders', { product_id: 1, ...body }))
      expect(ordered.body).toEqual(badRequest(`No exchange rate found for ${product} to ${wallet}`))
    }
    const paid = await read(
      await world.post(
        '/api/v1/payouts',
        { reference_id: 'no. 1', wallet_id: 2, amount: 10, currency: 'INR', beneficiary_id: 'ben_none' },
        { 'x-sandbox-fault': 'payouts.rate_missing' },
      ),
    )
    expect(paid.body).toEqual({ error: 'BadRequest', message: 'No exchange rate found for INR to EUR' })
    const unreadable = await read(await world.post('/api/v1/products/1/charges', '{'))
    expect(unreadable.body).toEqual({ error: 'No exchange rate found for USD to KES' })
  })

  test.each(['/livez', '/readyz', '/_sandbox/faults'])('never applies to %s, nor does the header', async (path) => {
    await succeed(server, 'POST', '/faults', { drop: true })
    await succeed(server, 'POST', '/faults', { error: 'internal' })
    expect((await server.request(path)).status).toBe(200)
    await succeed(server, 'DELETE', '/faults')
    expect((await server.request(path, { headers: { 'x-sandbox-fault': 'internal' } })).status).toBe(200)
  })

  inWorld('only the first matching rule applies', async (world) => {
    await addRule(world, { error: 'countries.not_found', match: { path: COUNTRY }, times: 1 })
    await addRule(world, { error: 'internal', times: 1 })
    expect([await statusOf(world, COUNTRY), await statusOf(world, COUNTRY), await statusOf(world, COUNTRY)]).toEqual([
      404, 500, 200,
    ])
  })

  test('applies only to its own world', async () => {
    const [one, other] = [await server.world(), await server.world()]
    await addRule(one, { error: 'internal' })
    expect([await statusOf(one, COUNTRY), await statusOf(other, COUNTRY)]).toEqual([500, 200])
    expect(await rulesOf(other)).toEqual([])
    expect(await succeed<Rule[]>(server, 'GET', '/faults')).toEqual([])
    expect((await server.request('/status')).status).toBe(200)
    await succeed(server, 'POST', '/faults', { error: 'internal' })
    const login = (username: string, password: string) =>
      server.request('/auth/login', { method: 'POST', body: JSON.stringify({ username, password }) })
    const statuses = [
      (await login(`sbx_${other.name}`, 'a password')).status,
      await statusOf(other, COUNTRY),
      (await login('sandbox', 'sandbox')).status,
      (await server.request('/status')).status,
    ]
    await succeed(server, 'DELETE', '/faults')
    expect(statuses).toEqual([200, 200, 500, 500])
  })

  inWorld('applies to login and refresh of its world', async (world) => {
    const post = (path: string, body: object) => server.request(path, { method: 'POST', body: JSON.stringify(body) })
    const credentials = { username: `sbx_${world.name}`, password: 'a password' }
    const { refresh_token } = (await (await post('/auth/login', credentials)).json()) as { refresh_token: string }
    await addRule(world, { error: 'internal', match: { path: '/auth/*' }, times: 2 })
    expect((await post('/auth/login', credentials)).status).toBe(500)
    expect((await post('/auth/refresh', { refresh_token })).status).toBe(500)
    expect((await post('/auth/refresh', { refresh_token })).status).toBe(200)
    await addRule(world, { error: 'auth.too_many_failures', times: 1 })
    expect(
      await read(await post('/auth/login', { ...credentials, username: `sbx_${world.name}.limited` })),
    ).toMatchObject({
      status: 429,
      body: structured('TooManyRequestsError', 'TOO_MANY_REQUESTS', 'Rate limit exceeded. Retry after 42 seconds.'),
    })
  })

  inWorld('delays the request and then passes or fails it', async (world) => {
    const timed = async (path: string, headers: Record<string, string> = {}) => {
      const start = Bun.nanoseconds()
      const { status } = await world.get(path, headers)
      return { status, waited: (Bun.nanoseconds() - start) / 1e6 >= 20 }
    }
    expect(await timed(COUNTRY, { 'x-sandbox-delay': '20' })).toEqual({ status: 200, waited: true })
    expect(await timed(COUNTRY, { 'x-sandbox-delay': '20', 'x-sandbox-fault': 'internal' })).toEqual({
      status: 500,
      waited: true,
    })
    await addRule(world, { delay_ms: 20, times: 1 })
    await addRule(world, { delay_ms: 20, error: 'internal', times: 1 })
    expect(await timed(COUNTRY)).toEqual({ status: 200, waited: true })
    expect(await timed(COUNTRY)).toEqual({ status: 500, waited: true })
  })

  test('with a probability applies to the same requests in every run and world', async () => {
    const script = async (world: TestWorld): Promise<number[]> => {
      await world.control('/faults', { error: 'internal', probability: 0.5 })
      const statuses: number[] = []
      for (let count = 0; count < 40; count++) statuses.push(await statusOf(world, COUNTRY))
      return statuses
    }
    const first = await script(await server.world())
    expect(new Set(first)).toEqual(new Set([200, 500]))
    const noise = await server.world()
    const [second] = await Promise.all([script(await server.world()), script(noise)])
    expect(second).toEqual(first)
    await using again = await startServer('--rate-limit', 'off', '--seed', '15')
    expect(await script(await again.world())).toEqual(first)
  })

  test('does not change the ids of new records', async () => {
    const emailOf = async (world: TestWorld) => (await read(await world.post('/api/v1/beneficiaries', ADA))).body
    const [plain, struck] = [await server.world(NOON), await server.world(NOON)]
    await addRule(struck, { error: 'countries.not_found', probability: 0.5 })
    for (let count = 0; count < 10; count++) {
      await plain.get(COUNTRY)
      await struck.get(COUNTRY)
    }
    expect(await emailOf(struck)).toEqual(await emailOf(plain))
  })
})
