import { describe, expect, test } from 'bun:test'
import { FORBIDDEN, notFound, validation } from '../errors.ts'
import { forFile, startServer, TestWorld, testIn } from '../harness.ts'
import { DELAYED, INSTANT, PAYEE, place } from '../records.ts'
import { control, read, rowsOf, succeed } from './surface.ts'

/** A test changes its world while it runs (contract C15). */

const server = forFile(await startServer('--rate-limit', 'off', '--seed', '13'))
const inWorld = testIn(() => server.world())

const CARD = { denomination: 100, quantity: 2 }
const ask = (world: TestWorld, method: string, path: string, body?: unknown) =>
  control(server, method, `${path}?world=${world.name}`, body)
const edit = <Body = Record<string, unknown>>(world: TestWorld, path: string, body: unknown) =>
  succeed<Body>(server, 'PATCH', `${path}?world=${world.name}`, body)
const charged = async (world: TestWorld, productId = 1, body: object = CARD) =>
  read(await world.post(`/api/v1/products/${productId}/charges`, body))
const idsOf = async (world: TestWorld, query = 'limit=10000'): Promise<number[]> =>
  (await world.read<{ id: number }[]>(`/api/v1/products?${query}`)).map(({ id }) => id)
const orderOf = (world: TestWorld, change: object = {}) =>
  world.post('/api/v1/orders', { product_id: 1, ...CARD, ...change })

const PRODUCT_NOT_FOUND = notFound('Product not found')

describe('PATCH /_sandbox/products/{id}', () => {
  inWorld('gone between the catalog and the order: the product is in no list and cannot be ordered', async (world) => {
    expect((await charged(world)).status).toBe(200)
    const before = await idsOf(world)
    expect(await edit(world, '/products/1', { active: false })).toMatchObject({ id: 1, active: false })
    const response = await orderOf(world)
    expect([response.status, await response.json()]).toEqual([404, PRODUCT_NOT_FOUND])
    expect(await idsOf(world)).toEqual(before.filter((id) => id !== 1))
    expect((await world.get('/api/v1/products/1')).status).toBe(404)
    expect(await charged(world)).toMatchObject({ status: 404, body: { error: 'Product not found' } })
    const availability = await world.post('/api/v1/products/1/availability', CARD)
    expect([availability.status, await availability.json()]).toEqual([404, PRODUCT_NOT_FOUND])
    expect((await rowsOf(server, world.name)).orders).toEqual([])
  })

  inWorld('price changed between the quote and the order: the wallet pays the new one', async (world) => {
    expect((await charged(world)).body).toMatchObject({ discount: 2.5, total_payable: 230.1 })
    await edit(world, '/products/1', {
      denominations: [{ min_value: 100, max_value: 100, discount: 10 }],
      gst_percent: 5,
      handling_fee: { fixed: 3 },
    })
    expect(await (await orderOf(world)).json()).toMatchObject({ amount: 192, charges: { gst_amount: 9 } })
    const now = await charged(world)
    expect(now.headers.get('x-cache')).toBe('MISS')
    expect(now.body).toMatchObject({ discount: 10, gst_amount: 9, handling_fee_amount: 3, total_payable: 192 })
    const detail = await world.read<object>('/api/v1/products/1')
    expect(detail).toMatchObject({ available_denominations: [{ min_value: 100, max_value: 100, discount: 10 }] })
    const discount = await (await world.post('/api/v1/products/1/discount', CARD)).json()
    expect(discount).toMatchObject({ discount: 10, discount_amount: 20 })
  })

  inWorld('sold out between the quote and the order: what is left counts from now on', async (world) => {
    expect(await edit(world, '/products/1', { stock: 3 })).toMatchObject({ stock: 3 })
    await place(world, { product_id: 1, ...CARD })
    expect(await edit(world, '/products/1', {})).toMatchObject({ stock: 1 })
    expect(await (await orderOf(world)).json()).toMatchObject({ error: { message: 'Insufficient stock' } })
    expect(await edit(world, '/products/1', { stock: 2 })).toMatchObject({ stock: 2 })
    await place(world, { product_id: 1, ...CARD })
    expect(await edit(world, '/products/1', { stock: null })).toMatchObject({ stock: null })
    await place(world, { product_id: 1, ...CARD })
  })

  test('a cancelled order returns its codes to the stock, even if the stock was unlimited when it was placed', async () => {
    const world = await server.world()

    const before = await place(world, DELAYED)
    await edit(world, '/products/5', { stock: 10 })
    const after = await place(world, DELAYED)
    await world.post(`/api/v1/orders/${before.id}/cancel`)
    await world.post(`/api/v1/orders/${after.id}/cancel`)
    expect(await edit(world, '/products/5', {})).toMatchObject({ stock: 10 })
  })

  inWorld('a smaller maximum refuses the quantity that was allowed', async (world) => {
    await edit(world, '/products/1', { max_quantity: 1 })
    expect((await charged(world)).body).toEqual({ error: 'Quantity exceeds maximum allowed quantity of 1' })
  })

  inWorld('puts on sale what the catalog hides, in its place in every order and search', async (world) => {
    const shown = new Set(await idsOf(world))
    const hidden = [...Array(420).keys()].map((index) => index + 1).filter((id) => !shown.has(id))
    const [id = 0] = hidden
    const product = await edit<{ name: string }>(world, `/products/${id}`, { active: true })
    expect((await world.get(`/api/v1/products/${id}`)).status).toBe(200)
    expect(await idsOf(world, 'limit=10000&sort_by=id&sort_order=ASC')).toEqual([...shown, id].sort((a, b) => a - b))
    expect(await idsOf(world, `search=${encodeURIComponent(product.name)}`)).toContain(id)
    const response = await world.get('/api/v1/products?limit=10000&sort_by=name&sort_order=ASC')
    const listed = (await response.json()) as { id: number; name: string }[]
    expect(response.headers.get('x-total-count')).toBe(String(shown.size + 1))
    const keyed = listed.map(({ id, name }) => ({ key: `${name.toLowerCase()}\0${name}`, id }))
    const sorted = keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id - b.id))
    expect(listed.map((each) => each.id)).toEqual(sorted.map(({ id }) => id))
  })

  inWorld('agreed discounts hold on the changed product too', async (world) => {
    await edit(world, '/products/2', { denominations: [{ min_value: 50, max_value: 50, discount: 1 }] })
    const limited = await world.limited()
    expect(await (await limited.post('/api/v1/products/2/discount', {})).json()).toMatchObject({
      discounts: [{ min_value: 50, max_value: 50, discount: 6 }],
    })
  })

  test.each([
    [{ max_quantity: 0 }, validation('max_quantity', 'min', 'must be at least 1')],
    [{ gst_percent: 101 }, validation('gst_percent', 'max', 'must be at most 100')],
    [{ denominations: [] }, validation('denominations', 'min', 'must have at least 1 item')],
    [{ name: 'Mine' }, { error: { messages: { name: [{ rule: 'enum' }] } } }],
  ])('400 refuses %j and changes nothing', async (sent, body) => {
    const world = await server.world()
    expect(await ask(world, 'PATCH', '/products/1', sent)).toMatchObject({ status: 400, body })
    expect((await rowsOf(server, world.name)).product_changes).toEqual([])
  })

  inWorld('400 names every place that breaks a rule of catalog files', async (world) => {
    const { status, body } = await ask(world, 'PATCH', '/products/1', {
      gst_percent: 1.234,
      denominations: [{ min_value: 100, max_value: 50, discount: 2.555 }],
    })
    expect(status).toBe(400)
    const { messages } = (body as { error: { messages: Record<string, unknown> } }).error
    expect(Object.keys(messages)).toEqual(['gst_percent', 'denominations.0.discount', 'denominations.0.max_value'])
  })
})

describe('an edited world', () => {
  inWorld('goes with copies and snapshots, and a reset takes it back', async (world) => {
    await edit(world, '/products/1', { active: false })
    await succeed(server, 'PUT', `/rates?world=${world.name}`, { base: 'USD', rates: { EUR: '0.5' } })
    await edit(world, '/clients/1', { max_quantity: 7 })
    await succeed(server, 'PUT', `/snapshots/edited?world=${world.name}`)
    await succeed(server, 'PUT', '/worlds/copy-of-edited', { from: world.name })
    const copy = await TestWorld.open(server, 'copy-of-edited')
    const seen = async (viewed: TestWorld) => [
      (await viewed.get('/api/v1/products/1')).status,
      (await ask(viewed, 'GET', '/rates')).body,
      ((await ask(viewed, 'GET', '/clients')).body as { max_quantity: number | null }[])[0]?.max_quantity,
    ]
    const edited = [404, { base: 'USD', rates: { EUR: '0.5' } }, 7]
    expect(await seen(copy)).toEqual(edited)
    await ask(world, 'POST', '/reset')
    const again = await world.again()
    const [status, rates, quantityMax] = await seen(again)
    expect([status, quantityMax]).toEqual([200, null])
    expect(Object.keys((rates as { rates: object }).rates).length).toBeGreaterThan(20)
    await succeed(server, 'POST', `/snapshots/edited/restore?world=${world.name}`)
    expect(await seen(await world.again())).toEqual(edited)
  })
})

describe('/_sandbox/rates', () => {
  inWorld('GET returns all rates of the world, in the form of --rates', async (world) => {
    const { base, rates } = (await ask(world, 'GET', '/rates')).body as { base: string; rates: Record<string, string> }
    expect([base, rates.EUR]).toEqual(['USD', '0.92'])
    expect(await ask(world, 'PUT', '/rates', { base, rates })).toMatchObject({ status: 200, body: { base, rates } })
  })

  inWorld('the rate changed: the next price has the new one, also where a price was held', async (world) => {
    const purchase = { denomination: 50, quantity: 1, wallet_id: 2 }
    expect((await charged(world, 2, purchase)).body).toMatchObject({ charges_details: { forex_rate: 0.92 } })
    await ask(world, 'PUT', '/rates', { base: 'USD', rates: { EUR: '0.5' } })
    expect((await charged(world, 2, purchase)).body).toMatchObject({ charges_details: { forex_rate: 0.5 } })
    const order = await place(world, { product_id: 2, ...purchase })
    expect(order).toMatchObject({ charges: { charges_details: { forex_rate: 0.5 } } })
    const payout = await world.post('/api/v1/payouts', {
      reference_id: 'p',
      wallet_id: 2,
      amount: 100,
      currency: 'USD',
      ...PAYEE,
    })
    expect(payout.status).toBe(201)
    const [transaction] = await world.read<object[]>('/api/v1/transactions?limit=1')
    expect(transaction).toMatchObject({ forex_rate: 0.5 })
  })

  inWorld('PUT takes numbers by their digits, and refuses a currency that appears twice', async (world) => {
    const put = (body: string) => server.request(`/_sandbox/rates?world=${world.name}`, { method: 'PUT', body })
    const taken = await put('{"base":"USD","rates":{"EUR":0.92,"INR":12345678.12345678}}')
    expect([taken.status, await taken.json()]).toEqual([
      200,
      { base: 'USD', rates: { EUR: '0.92', INR: '12345678.12345678' } },
    ])
    const refused = await put('{"base":"USD","rates":{"EUR":1,"EUR":2}}')
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { messages: { 'rates.EUR': [{}] } } }])
  })

  inWorld('a currency that is left out has no rate', async (world) => {
    await ask(world, 'PUT', '/rates', { base: 'USD', rates: { INR: '80' } })
    expect((await charged(world, 2, { denomination: 50, quantity: 1, wallet_id: 2 })).body).toEqual({
      error: 'No exchange rate found for USD to EUR',
    })
  })

  inWorld('400 names every bad rate and changes nothing', async (world) => {
    const rates = { EUR: '0', XXX: '1', INR: '1.123456789' }
    const { status, body } = await ask(world, 'PUT', '/rates', { base: 'USD', rates })
    expect(status).toBe(400)
    const { messages } = (body as { error: { messages: Record<string, unknown> } }).error
    expect(Object.keys(messages)).toEqual(['rates.EUR', 'rates.INR'])
    const unknown = await ask(world, 'PUT', '/rates', { base: 'USD', rates: { XXX: '1' } })
    expect(unknown).toMatchObject({ status: 400, body: { error: { messages: { 'rates.XXX': [{}] } } } })
    expect((await rowsOf(server, world.name)).exchange_rates).toEqual([])
  })
})

interface Client {
  client_id: number
  username: string
  password: string
}

describe('/_sandbox/clients', () => {
  const added = (world: TestWorld, body: object) =>
    succeed<Client>(server, 'POST', `/clients?world=${world.name}`, body)
  const login = async ({ username, password }: Client): Promise<Response> =>
    server.request('/auth/login', { method: 'POST', body: JSON.stringify({ username, password }) })
  const opened = async (client: Client): Promise<TestWorld> => {
    const { access_token } = (await (await login(client)).json()) as { access_token: string }
    const [, name = ''] = /^sbx_([^.]+)/.exec(client.username) ?? []
    return TestWorld.of(server, name, access_token)
  }

  inWorld('GET lists the two that every world has, without passwords', async (world) => {
    expect((await ask(world, 'GET', '/clients')).body).toEqual([
      {
        client_id: 1,
        username: `sbx_${world.name}`,
        features: { vouchers: true },
        max_quantity: null,
        discounts: {},
        rate_limit: null,
        created_at: '2026-01-01T00:00:00.000Z',
      },
      {
        client_id: 2,
        username: `sbx_${world.name}.limited`,
        features: { vouchers: false },
        max_quantity: 10,
        discounts: { '2': 6 },
        rate_limit: null,
        created_at: '2026-01-01T00:00:00.000Z',
      },
    ])
    const names = (await succeed<Client[]>(server, 'GET', '/clients')).map(({ username }) => username)
    expect(names.slice(0, 2)).toEqual(['sandbox', 'limited'])
  })

  test('POST 201 returns a client that logs in, with a wallet once one was opened', async () => {
    const world = await server.world('2030-01-01T12:00:00Z')
    const response = await ask(world, 'POST', '/clients', { name: 'shop', max_quantity: 2, discounts: { '1': 7.5 } })
    const client = response.body as Client
    expect(response.status).toBe(201)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('location')).toBe('/_sandbox/clients')
    expect(response.body).toEqual({
      client_id: 3,
      username: `sbx_${world.name}.shop`,
      password: expect.stringMatching(/^[0-9a-z]{32}$/),
      features: { vouchers: true },
      max_quantity: 2,
      discounts: { '1': 7.5 },
      rate_limit: null,
      created_at: '2030-01-01T12:00:00.000Z',
    })
    const shop = await opened(client)
    expect(await (await shop.get('/api/v1/wallets')).json()).toEqual([])
    const { id } = await succeed<{ id: number }>(server, 'POST', `/wallets?world=${world.name}`, {
      currency: 'INR',
      client_id: client.client_id,
    })
    await succeed(server, 'POST', `/wallets/${id}/fund?world=${world.name}`, { amount: 500 })
    expect((await charged(shop)).body).toMatchObject({ discount: 7.5, max_quantity: 2, total_payable: 218.3 })
    expect(await place(shop, { product_id: 1, ...CARD })).toMatchObject({ status: 'DELIVERED', wallet_id: id })
    expect(await (await world.get('/api/v1/orders')).json()).toEqual([])
  })

  inWorld('feature taken away between two requests: orders are refused, with the same token', async (world) => {
    await place(world, INSTANT)
    expect(await edit(world, '/clients/1', { features: { vouchers: false } })).toMatchObject({
      features: { vouchers: false },
    })
    const refused = await world.post('/api/v1/orders', INSTANT)
    expect([refused.status, await refused.json()]).toEqual([403, FORBIDDEN])
    expect((await world.get('/api/v1/categories')).status).toBe(403)
    expect((await world.get('/api/v1/products/1')).status).toBe(200)
    await edit(world, '/clients/1', { features: { vouchers: true } })
    await place(world, INSTANT)
  })

  test('rate limits of one client hold for it alone, from now on, and can be lifted', async () => {
    const world = await server.world('2030-01-01T12:00:00Z')
    await edit(world, '/clients/1', { rate_limit: '100/h,3/m' })
    const statuses = [0, 0, 0, 0].map(async () => (await world.get('/api/v1/countries/1')).status)
    expect((await Promise.all(statuses)).sort()).toEqual([200, 200, 200, 429])
    const limited = await world.limited()
    expect((await limited.get('/api/v1/countries/1')).headers.get('x-ratelimit-limit')).toBeNull()
    await edit(world, '/clients/1', { rate_limit: null })
    expect((await world.get('/api/v1/countries/1')).status).toBe(200)
    await using strict = await startServer('--rate-limit', '1/h')
    const strictWorld = await strict.world()
    await succeed(strict, 'PATCH', `/clients/1?world=${strictWorld.name}`, { rate_limit: 'off' })
    for (let time = 0; time < 3; time++) expect((await strictWorld.get('/api/v1/countries/1')).status).toBe(200)
  })

  inWorld('a new password ends the tokens, and the old one does not log in', async (world) => {
    const client = await added(world, { name: 'shop', password: 'first' })
    const shop = await opened(client)
    await edit(world, `/clients/${client.client_id}`, { password: 'second' })
    expect((await shop.get('/api/v1/countries/1')).status).toBe(401)
    expect((await login(client)).status).toBe(401)
    expect((await login({ ...client, password: 'second' })).status).toBe(200)
  })

  test('its own password does not become that of the world', async () => {
    await succeed(server, 'PUT', '/worlds/unclaimed')
    const client = await succeed<Client>(server, 'POST', '/clients?world=unclaimed', { name: 'shop' })
    expect((await login(client)).status).toBe(200)
    const first = { client_id: 1, username: 'sbx_unclaimed', password: 'mine' }
    expect((await login(first)).status).toBe(200)
    expect((await login(client)).status).toBe(200)
    expect((await login({ ...first, password: client.password })).status).toBe(401)
  })

  test('a wrong name makes no world', async () => {
    const wrong = { client_id: 1, username: 'sbx_never-made.shop', password: 'x' }
    expect((await login(wrong)).status).toBe(401)
    const names = await succeed<{ name: string }[]>(server, 'GET', '/worlds')
    expect(names.map(({ name }) => name)).not.toContain('never-made')
  })

  test.each([
    ['a name in upper case', { name: 'Shop' }, 'name'],
    ['a name that is taken', { name: 'limited' }, 'name'],
    ['a limit that is none', { name: 'a', rate_limit: 'fast' }, 'rate_limit'],
    ['a discount above 100', { name: 'a', discounts: { '1': 101 } }, 'discounts.1'],
    ['a discount with three decimals', { name: 'a', discounts: { '1': 1.234 } }, 'discounts.1'],
    ['a discount on no product', { name: 'a', discounts: { '999999': 1 } }, 'discounts.999999'],
    ['a feature that there is not', { name: 'a', features: { payouts: true } }, 'features.payouts'],
    ['a quantity of none', { name: 'a', max_quantity: 0 }, 'max_quantity'],
    ['an empty password', { name: 'a', password: '' }, 'password'],
  ])('POST 400 refuses %s and writes nothing', async (_, body, field) => {
    const world = await server.world()
    const before = (await rowsOf(server, world.name)).clients
    const { status, body: response } = await ask(world, 'POST', '/clients', body)
    expect(status).toBe(400)
    expect(response).toMatchObject({ error: { messages: { [field]: [{ field }] } } })
    expect((await rowsOf(server, world.name)).clients).toEqual(before)
  })
})
