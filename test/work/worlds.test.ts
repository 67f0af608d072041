import { describe, expect, test } from 'bun:test'
import { structured } from '../errors.ts'
import { expectResponse, forFile, startServer, type TestWorld } from '../harness.ts'
import { ADA, countOf, NOON } from '../records.ts'
import { loggedIn, login, post, statusWith } from '../sessions/requests.ts'

const INVALID_CREDENTIALS = structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid credentials')

const server = forFile(await startServer())

const exists = async (world: string): Promise<boolean> => {
  const response = await server.request(`/_sandbox/clock?world=${encodeURIComponent(world)}`)
  if (response.status !== 404) return response.status === 200
  expect(await response.json()).toEqual(structured('NotFoundError', 'NOT_FOUND', `No world is called ${world}`))
  return false
}

/** A purchase of product 1 that is offered. */
const purchase = async (world: TestWorld): Promise<object> => {
  const { available_denominations: bands } = await world.read<{ available_denominations: { min_value: number }[] }>(
    '/api/v1/products/1',
  )
  return { denomination: bands[0]?.min_value, quantity: 2 }
}

describe('Logging in as sbx_<name>', () => {
  test('creates the world; the first password becomes the password of both clients', async () => {
    expect(await exists('first')).toBe(false)
    expect((await loggedIn(server, 'sbx_first', 'the first')).client_id).toBe(1)
    expect(await exists('first')).toBe(true)
    for (const [name, password] of [
      ['sbx_first', 'another'],
      ['sbx_first', 'sandbox'],
      ['sbx_first.limited', 'another'],
      ['sbx_first.limited', 'limited'],
    ]) {
      await expectResponse(login(server, name, password), 401, INVALID_CREDENTIALS)
    }
    expect((await login(server, 'sbx_first', 'the first')).status).toBe(200)
    expect((await login(server, 'sbx_first.limited', 'the first')).status).toBe(200)
    expect((await login(server, 'sandbox', 'the first')).status).toBe(401)
  })

  test('two simultaneous logins create one world', async () => {
    const responses = await Promise.all([login(server, 'sbx_twins', 'one'), login(server, 'sbx_twins', 'two')])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test.each(['a', '0', '-', '_', 'a-b_c-9', 'x'.repeat(64)])('%s is a valid name', async (name) => {
    expect((await login(server, `sbx_${name}`)).status).toBe(200)
    expect(await exists(name)).toBe(true)
  })

  test.each([
    '',
    'Upper',
    'a b',
    ' a',
    'a.b',
    'a/b',
    'ü',
    'x'.repeat(65),
    'a\n',
    'a.LIMITED',
    'a.limited.limited',
    '.limited',
    '../a',
  ])('%j is invalid: an unknown client, and creates no world', async (name) => {
    await expectResponse(login(server, `sbx_${name}`), 401, INVALID_CREDENTIALS)
    expect(await exists(name.replace(/\.limited$/, ''))).toBe(false)
  })

  test.each([
    ['without a password', { username: 'sbx_unmade' }],
    ['with an empty one', { username: 'sbx_unmade', password: '' }],
    ['with a number as one', { username: 'sbx_unmade', password: 1 }],
  ])('%s creates no world', async (_, body) => {
    expect((await post(server, '/auth/login', body)).status).toBe(400)
    expect(await exists('unmade')).toBe(false)
  })

  test('the default world cannot be logged in to by its name', async () => {
    expect((await login(server, 'sbx_default', 'mine now')).status).toBe(401)
    expect((await login(server, 'sandbox', 'sandbox')).status).toBe(200)
  })
})

describe('Worlds share nothing', () => {
  test('rate limits, cached charges, idempotency keys and failed logins are separate', async () => {
    const [one, other] = [await server.world(NOON), await server.world(NOON)]
    const bought = await purchase(one)
    const cache = async (world: TestWorld) =>
      (await world.post('/api/v1/products/1/charges', bought)).headers.get('x-cache')
    expect([await cache(one), await cache(one), await cache(other)]).toEqual(['MISS', 'HIT', 'MISS'])
    const key = { 'idempotency-key': 'shared by chance' }
    await one.post('/api/v1/beneficiaries', ADA, key)
    const saved = await other.post('/api/v1/beneficiaries', { ...ADA, first_name: 'Augusta' }, key)
    expect([saved.status, saved.headers.get('idempotent-replayed')]).toEqual([201, null])
    while ((await one.get('/api/v1/countries/1')).status !== 429);
    expect((await other.get('/api/v1/countries/1')).status).toBe(200)
    for (let i = 0; i < 11; i++) await login(server, `sbx_${one.name}`, 'wrong')
    expect((await login(server, `sbx_${one.name}`, 'wrong')).status).toBe(429)
    expect((await login(server, `sbx_${other.name}`, 'wrong')).status).toBe(401)
    expect(await statusWith(server, (await loggedIn(server, 'sandbox', 'sandbox')).access_token)).toBe(200)
  })

  test("clocks are separate: only the world's own tokens expire", async () => {
    const [one, other] = [await server.world(), await server.world()]
    await one.clock({ now: NOON, frozen: true })
    expect(await statusWith(server, one.token)).toBe(401)
    expect(await statusWith(server, other.token)).toBe(200)
  })

  test('a token acts in its own world, whatever world is named', async () => {
    const [one, other] = [await server.world(), await server.world()]
    await one.post(`/api/v1/beneficiaries?world=${other.name}`, ADA)
    expect([await countOf(one), await countOf(other)]).toEqual([1, 0])
  })
})
