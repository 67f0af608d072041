import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UNREADABLE, validation } from '../errors.ts'
import { forFile, startServer, TestWorld, testIn } from '../harness.ts'
import { folderOfFile } from '../program.ts'
import { ADA, DELAYED, INSTANT } from '../records.ts'
import { control, expectSoundWorld, rowsOf, succeed } from './surface.ts'

/** A world made of requests (contract C15, decision 132). */

const SEED = '57'
const PRESENT = '2026-01-02T00:00:00.000Z'
const server = forFile(await startServer('--rate-limit', '1000/h,20/m', '--seed', SEED))
const inWorld = testIn(() => server.world(PRESENT))

type Step = Record<string, unknown>
const put = (world: TestWorld, ...steps: unknown[]) =>
  control(server, 'PUT', `/scenario?world=${world.name}`, { steps })
const played = async (world: TestWorld, ...steps: Step[]): Promise<void> => {
  const { status, body } = await put(world, ...steps)
  if (status !== 200) throw new Error(JSON.stringify(body, null, 2))
}
const get = (path: string, more: Step = {}): Step => ({ method: 'GET', path, ...more })
const post = (path: string, body?: unknown, more: Step = {}): Step => ({
  method: 'POST',
  path,
  ...(body !== undefined && { body }),
  ...more,
})
const list = <Row>(world: TestWorld, path: string): Promise<Row[]> => world.read<Row[]>(`/api/v1/${path}`)

const FROZEN = post('/_sandbox/clock', { now: PRESENT, frozen: true })
const ORDER = post('/api/v1/orders', DELAYED, { name: 'order' })
const SAVE = post('/api/v1/beneficiaries', ADA, { name: 'ada' })

describe('PUT /_sandbox/scenario', () => {
  inWorld('200 returns the world, made again by the requests in their order', async (world) => {
    await world.make('/api/v1/beneficiaries', { ...ADA, email: 'before@example.com' })
    const steps = [FROZEN, SAVE, ORDER, post('/api/v1/orders/{{order.id}}/cancel'), post('/api/v1/orders', INSTANT)]
    expect(await put(world, ...steps)).toMatchObject({
      status: 200,
      body: { name: world.name, username: `sbx_${world.name}`, now: PRESENT },
    })
    expect((await list<{ status: string }>(world, 'orders')).map(({ status }) => status)).toEqual([
      'DELIVERED',
      'CANCELLED',
    ])
    expect((await list<{ email: string }>(world, 'beneficiaries')).map(({ email }) => email)).toEqual([ADA.email])
    await expectSoundWorld(server, world.name)
  })

  test('without steps, the world has its seed data', async () => {
    const world = await server.world()
    await world.make('/api/v1/beneficiaries', ADA)
    await played(world)
    expect(await list(world, 'beneficiaries')).toEqual([])
    expect(await list(world, 'wallets')).toHaveLength(4)
  })

  inWorld('a step is sent by the client that it names', async (world) => {
    await played(
      world,
      post('/_sandbox/clients', { name: 'shop' }),
      post('/_sandbox/wallets', { client: 'shop', currency: 'USD' }, { expect: 400 }),
      get('/api/v1/orders', { as: 'limited', expect: 403 }),
      get('/api/v1/orders', { as: 'shop' }),
    )
  })

  inWorld('a step with a token of its own is sent with it', async (world) => {
    const login = post('/auth/login', { username: `sbx_${world.name}.limited`, password: 'first' }, { name: 'login' })
    const headers = { authorization: 'Bearer {{login.access_token}}' }
    await played(
      world,
      login,
      get('/api/v1/orders', { headers, expect: 403 }),
      get('/api/v1/wallets', { headers: { authorization: 'Bearer none' }, expect: 401 }),
    )
  })

  inWorld('a reference alone keeps its type, one in a text becomes text, and {{{{ stands for {{', async (world) => {
    const metadata = {
      id: '{{order.id}}',
      charges: '{{order.charges}}',
      of: ['order {{order.id}} of {{ada.email}}', '{{{{order.id}}'],
    }
    const found = post('/api/v1/beneficiaries', { ...ADA, metadata })
    const headers = { 'idempotency-key': 'for-{{ada.id}}' }
    await played(
      world,
      FROZEN,
      SAVE,
      ORDER,
      { ...found, headers },
      { ...found, headers },
      get('/api/v1/orders?client_reference={{order.ref}}', { name: 'orders' }),
      get('/api/v1/orders/{{orders.0.id}}'),
    )
    const [saved, ...others] = await list<{ metadata: object }>(world, 'beneficiaries')
    expect(others).toHaveLength(1) // the second one was replayed
    expect(saved?.metadata).toMatchObject({
      id: 1,
      charges: { discount: expect.any(Number) },
      of: [`order 1 of ${ADA.email}`, '{{order.id}}'],
    })
  })

  inWorld('rate limits and coverage do not count steps, limits of a client neither', async (world) => {
    const shop = post('/_sandbox/clients', { name: 'shop', rate_limit: '1/h' })
    const many = Array.from({ length: 60 }, (_, nth) => get('/api/v1/countries', { as: nth % 2 ? 'shop' : 'sandbox' }))
    await played(world, FROZEN, shop, ...many)
    const response = await world.get('/api/v1/wallets')
    expect([response.status, response.headers.get('x-ratelimit-remaining')]).toEqual([200, '19'])
    const { body } = await control(server, 'GET', `/coverage?world=${world.name}`)
    expect(body).toMatchObject({ exercised: 1 })
    expect(await succeed<object[]>(server, 'GET', `/requests?world=${world.name}`)).toHaveLength(1)
  })

  inWorld('faults, replies of inboxes, rates and the pace of its steps hold in the world', async (world) => {
    const of = `?world=${world.name}`
    const fault = { error: 'charges.rate_failed', match: { path: '/api/v1/products/:id/charges' }, times: 1 }
    await played(
      world,
      FROZEN,
      post('/_sandbox/faults', fault),
      { method: 'PUT', path: '/_sandbox/pace', body: { orders: 'manual' } },
      { method: 'PUT', path: '/_sandbox/rates', body: { base: 'USD', rates: { EUR: '0.5' } } },
      { method: 'PUT', path: '/_sandbox/inbox/hooks', body: { status: 503 } },
    )
    expect((await world.post('/api/v1/products/1/charges', { denomination: 100, quantity: 1 })).status).toBe(500)
    expect(await succeed<object>(server, 'GET', `/pace${of}`)).toEqual({ orders: 'manual', payouts: 'auto' })
    expect(await succeed<object>(server, 'GET', `/rates${of}`)).toEqual({ base: 'USD', rates: { EUR: '0.5' } })
    expect((await server.request(`/_sandbox/inbox/hooks${of}`, { method: 'POST', body: '{}' })).status).toBe(503)
  })

  inWorld('webhooks of its steps are delivered to once the world is there', async (world) => {
    const url = `${server.url}/_sandbox/inbox/hooks?world=${world.name}`
    await played(world, post('/api/v1/webhooks', { name: 'hooks', url, events: ['*'] }), SAVE, ORDER)
    await succeed(server, 'POST', `/webhooks/settle?world=${world.name}`)
    const received = await succeed<{ body: string }[]>(server, 'GET', `/inbox?world=${world.name}`)
    expect(received.map(({ body }) => JSON.parse(body).type)).toContain('order.created')
  })

  test('the same seed and scenario make the same bytes, whatever was in the world before', async () => {
    const steps = [FROZEN, SAVE, ORDER, post('/_sandbox/clock', { advance: 'PT1M' }), post('/api/v1/orders', INSTANT)]
    const rows = async (world: TestWorld) => {
      await played(world, ...steps)
      // Digests come from chosen passwords, and voucher codes are encrypted with nonces of the machine.
      const { logins: _, clients: __, vouchers: ___, ...rows } = await rowsOf(server, world.name)
      return { rows, orders: await (await world.again()).read('/api/v1/orders') }
    }
    const [fresh, used] = [await server.world(), await server.world(PRESENT)]
    for (let nth = 0; nth < 3; nth++) await used.make('/api/v1/beneficiaries', ADA)
    const first = await rows(fresh)
    expect(first.rows.payouts).toEqual([])
    expect(first.orders).toHaveLength(2)
    expect(await rows(used)).toEqual(first)
    expect(await rows(used)).toEqual(first)
  })

  inWorld('tokens live on, and new logins have ids of their own while the clock stands still', async (world) => {
    const limited = await world.limited()
    const sessions = [world, limited]
    for (let round = 0; round < 3; round++) {
      await played(world, FROZEN, ORDER)
      sessions.push(await world.again())
    }
    for (const session of sessions) expect((await session.get('/api/v1/wallets')).status).toBe(200)
  })

  inWorld('the token of a client that the new world does not have is dead', async (world) => {
    const shop = post('/_sandbox/clients', { name: 'shop', password: 'secret' })
    const other = post('/_sandbox/clients', { name: 'other' })
    await played(world, shop)
    const login = await server.request('/auth/login', {
      method: 'POST',
      body: JSON.stringify({ username: `sbx_${world.name}.shop`, password: 'secret' }),
    })
    const { access_token: token } = (await login.json()) as { access_token: string }
    const wallets = () => TestWorld.of(server, world.name, token).get('/api/v1/wallets')
    expect((await wallets()).status).toBe(200)
    await played(world, other)
    expect((await wallets()).status).toBe(401)
  })

  test('404 for a world that is deleted meanwhile, or it was made before', async () => {
    const world = await server.world()
    const playing = put(world, ...Array.from({ length: 50 }, () => SAVE).map(({ name: _, ...step }) => step))
    await control(server, 'DELETE', `/worlds/${world.name}`)
    expect([200, 404]).toContain((await playing).status)
    expect(await control(server, 'PUT', '/scenario?world=nowhere', { steps: [] })).toMatchObject({ status: 404 })
  })
})

describe('A scenario that stops is a 400 that names the step, what was sent and what came', () => {
  const message = async (world: TestWorld, ...steps: unknown[]): Promise<string> => {
    await world.make('/api/v1/beneficiaries', ADA)
    const before = await rowsOf(server, world.name)
    const { status, body } = await put(world, ...steps)
    expect(status).toBe(400)
    expect(await rowsOf(server, world.name)).toEqual(before)
    expect((await world.get('/api/v1/wallets')).status).toBe(200)
    return (body as { error: { message: string } }).error.message
  }

  test.each<[string, unknown[], string]>([
    [
      'a response that is no 2xx',
      [SAVE, post('/api/v1/orders', { ...INSTANT, quantity: 0 })],
      'step 2: POST /api/v1/orders {"product_id":2,"denomination":50,"quantity":0}: got 400 {"error":{"name":"ValidationException"',
    ],
    [
      'a status other than the expected one',
      [get('/api/v1/wallets/1', { name: 'wallet', expect: 404 })],
      'step 1 (wallet): GET /api/v1/wallets/1: got 200 {"id":1,',
    ],
    [
      'a response that a fault has lost',
      [post('/_sandbox/faults', { drop: true }), get('/api/v1/wallets')],
      'step 2: GET /api/v1/wallets: got no response, not a 2xx',
    ],
    [
      'a reference to no earlier step',
      [get('/api/v1/orders/{{order.id}}')],
      'step 1: GET /api/v1/orders/{{order.id}}: no earlier step is called order',
    ],
    [
      'a reference to no member',
      [SAVE, get('/api/v1/orders/{{ada.order.id}}')],
      'step 2: GET /api/v1/orders/{{ada.order.id}}: the response to ada has no member order.id',
    ],
    ['an inherited member', [SAVE, get('/api/v1/orders/{{ada.constructor}}')], 'has no member constructor'],
    [
      'an object within a text',
      [ORDER, SAVE, get('/api/v1/orders?a={{order.charges}}')],
      '{{order.charges}} cannot be used inside a longer string',
    ],
    ['{{ without an end', [get('/api/v1/orders?a={{order.id')], '{{{{ stands for {{'],
    [
      'references to more than a body holds',
      [get('/api/v1/countries?limit=300', { name: 'all' }), post('/auth/login', { all: Array(100).fill('{{all}}') })],
      'the values it refers to are longer than 1048576 characters in total',
    ],
    ['an unknown client', [get('/api/v1/orders', { as: 'nobody' })], 'no client is called nobody'],
    ['a header that HTTP does not allow', [get('/api/v1/orders', { headers: { 'a b': 'c' } })], 'a header has a name'],
    [
      'another world',
      [get('/_sandbox/clock?world=default')],
      'can only act on the world that the scenario is building',
    ],
    [
      'the worlds',
      [{ method: 'PUT', path: '/_sandbox/worlds/other' }],
      'can only act on the world that the scenario is building',
    ],
    [
      'a snapshot',
      [{ method: 'PUT', path: '/_sandbox/snapshots/kept' }],
      'can only act on the world that the scenario is building',
    ],
    ['a reset', [post('/_sandbox/reset')], 'can only act on the world that the scenario is building'],
    [
      'a reset in other words',
      [post('/api/v1/../../_sandbox/./reset')],
      'can only act on the world that the scenario is building',
    ],
    ['a reset with an escape', [post('/_sandbox/re%73et')], 'can only act on the world that the scenario is building'],
    [
      'a path that a reference takes out of the front door',
      [
        post('/api/v1/orders', { ...DELAYED, client_reference: '..' }, { name: 'order' }),
        get('/_sandbox/{{order.client_reference}}/status'),
      ],
      'a step can only use paths below /auth, /api/v1 and /_sandbox',
    ],
    [
      'a scenario',
      [{ method: 'PUT', path: '/_sandbox/scenario', body: { steps: [] } }],
      'can only act on the world that the scenario is building',
    ],
    ['a feed, which never ends', [get('/_sandbox/feed')], 'can only act on the world that the scenario is building'],
    [
      'a login to another world',
      [post('/auth/login', { username: 'sbx_elsewhere', password: 'x' })],
      'step 1: POST /auth/login {"username":"sbx_elsewhere","password":"x"}: got 429',
    ],
  ])('%s', async (_, steps, words) => {
    expect(await message(await server.world(), ...steps)).toContain(words)
    expect(await succeed<{ name: string }[]>(server, 'GET', '/worlds')).not.toContainEqual(
      expect.objectContaining({ name: 'elsewhere' }),
    )
  })
})

describe('400 refuses a scenario with', () => {
  const ONE = get('/api/v1/wallets')
  const PROBLEM_OF_STEP = 'is not a known member; known are name, as, method, path, headers, body, expect'
  const LONG = post('/api/v1/beneficiaries', { metadata: 'x'.repeat(1_048_576) })
  test.each<[what: string, sent: unknown, field: string, rule: string, problem: string]>([
    ['no steps', {}, 'steps', 'required', 'is required'],
    ['steps that are not a list', { steps: {} }, 'steps', 'format', 'must be a list'],
    ['1,001 steps', { steps: Array(1_001).fill(ONE) }, 'steps', 'max', 'must have at most 1000 items'],
    ['an unknown member', { steps: [], step: [] }, 'step', 'enum', 'is not a known member; known are steps'],
    ['a step that is not an object', { steps: [ONE, 1] }, 'steps.2', 'object', 'must be an object'],
    ['a step without a path', { steps: [{ method: 'GET' }] }, 'steps.1.path', 'required', 'is required'],
    ['another member', { steps: [{ ...ONE, status: 200 }] }, 'steps.1.status', 'enum', PROBLEM_OF_STEP],
    ['a name twice', { steps: [SAVE, SAVE] }, 'steps.2.name', 'enum', 'must not be that of an earlier step'],
    [
      'an unknown method',
      { steps: [{ ...ONE, method: 'HEAD' }] },
      ...(['steps.1.method', 'enum', 'must be one of GET, POST, PUT, PATCH, DELETE'] as const),
    ],
    [
      'a path beside the front door',
      { steps: [ONE, get('/openapi.json')] },
      ...(['steps.2.path', 'format', 'must be a path below /auth, /api/v1 or /_sandbox'] as const),
    ],
    ...['/_sandbox/../status', '/auth/%2e%2e/cards/1', '/api/v1/..\\..\\docs', '/_sandbox/..%2Fstatus'].map(
      (path): [string, object, string, string, string] => [
        `a path that leaves the front door by its dots: ${path}`,
        { steps: [get(path)] },
        ...(['steps.1.path', 'format', 'must be a path below /auth, /api/v1 or /_sandbox'] as const),
      ],
    ),
  ])('%s', async (_, sent, field, rule, problem) => {
    const world = await server.world()
    const response = await control(server, 'PUT', `/scenario?world=${world.name}`, sent)
    expect(response).toMatchObject({ status: 400, body: validation(field, rule, problem) })
  })

  inWorld('more than 1 MiB', async (world) => {
    expect(await put(world, LONG)).toMatchObject({ status: 400, body: UNREADABLE })
  })

  test('1,000 steps and more than 10,000 values are accepted', async () => {
    const world = await server.world()
    const metadata = { list: Array.from({ length: 20 }, (_, nth) => nth) }
    const steps = Array.from({ length: 1_000 }, () => post('/api/v1/beneficiaries', { ...ADA, metadata }))
    await played(world, ...steps)
    expect((await world.get('/api/v1/beneficiaries')).headers.get('x-total-count')).toBe('1000')
  })
})

describe('PUT /_sandbox/worlds/{name} with a scenario', () => {
  const make = (name: string, body: object) => control(server, 'PUT', `/worlds/${name}`, body)

  test('makes a world, or replaces one whose tokens live on', async () => {
    expect(await make('staged', { scenario: { steps: [FROZEN, SAVE] } })).toMatchObject({ status: 200 })
    const world = await TestWorld.open(server, 'staged')
    expect(await list(world, 'beneficiaries')).toHaveLength(1)
    expect(await make('staged', { scenario: { steps: [FROZEN] } })).toMatchObject({ status: 200 })
    expect(await list(world, 'beneficiaries')).toEqual([])
  })

  test('400 names what is wrong, and makes nothing', async () => {
    for (const [body, words] of [
      [{ scenario: { steps: [{}] } }, 'scenario.steps.1.method'],
      [{ scenario: {} }, 'steps'],
      [{ scenario: { steps: [] }, from: 'default' }, 'cannot be combined with from'],
      [{ scenario: { steps: [get('/api/v1/orders/1')] } }, 'step 1: GET /api/v1/orders/1: got 404'],
    ] as const) {
      const response = await make('not-made', body)
      expect([response.status, JSON.stringify(response.body)]).toEqual([400, expect.stringContaining(words)])
    }
    const worlds = await succeed<{ name: string }[]>(server, 'GET', '/worlds')
    expect(worlds.map(({ name }) => name)).not.toContain('not-made')
  })
})

describe('--scenario', () => {
  const folder = folderOfFile()
  const fault = post('/_sandbox/faults', { error: 'orders.not_found' })
  const shop = post('/_sandbox/clients', { name: 'shop', password: 'secret' })

  test('every world begins with it and draws the same ids, and a reset goes back to it', async () => {
    const file = join(folder, 'late.json')
    writeFileSync(file, `\uFEFF${JSON.stringify({ steps: [FROZEN, SAVE, fault, shop] })}`)
    await using fresh = await startServer('--scenario', file, '--seed', SEED)
    const [one, other] = [await fresh.world(), await fresh.world()]
    const saved = await list<{ id: string }>(one, 'beneficiaries')
    expect(saved).toHaveLength(1)
    expect(await list(other, 'beneficiaries')).toEqual(saved)
    const next = (world: TestWorld) => world.make<{ id: string }>('/api/v1/beneficiaries', ADA)
    expect(await next(one)).toEqual(await next(other))
    expect((await one.get('/api/v1/orders/1')).status).toBe(404)
    await control(fresh, 'POST', `/reset?world=${one.name}`)
    expect(await list(await one.again(), 'beneficiaries')).toEqual(saved)
    const clients = await succeed<{ username: string }[]>(fresh, 'GET', '/clients')
    expect(clients.map(({ username }) => username)).toEqual(['sandbox', 'limited', 'sbx_default.shop'])
  })

  test('busy-month is built in: thirty days of orders and payouts', async () => {
    await using fresh = await startServer('--scenario', 'busy-month', '--rate-limit', 'off')
    const world = await fresh.world()
    const statuses = async (path: string) =>
      Object.groupBy(await list<{ status: string }>(world, `${path}?limit=100`), ({ status }) => status)
    const [orders, payouts] = [await statuses('orders'), await statuses('payouts')]
    expect(Object.keys(orders).sort()).toEqual(['CANCELLED', 'DELIVERED', 'FAILED'])
    expect(Object.keys(payouts).sort()).toEqual(['cancelled', 'completed', 'failed'])
    expect(await list(world, 'beneficiaries')).toHaveLength(6)
    await expectSoundWorld(fresh, world.name)
  })
})
