import { describe, expect, test } from 'bun:test'
import { validation } from '../errors.ts'
import { expectResponse, forFile, startServer, testIn } from '../harness.ts'
import { pageOf } from '../records.ts'
import { walletsOf } from './balances.ts'

const server = forFile(await startServer())
const inWorld = testIn(() => server.world())

const PATH = '/api/v1/wallets'
const SEEDED_AT = '2026-01-01T00:00:00.000Z'

/** A wallet of the sandbox as it is seeded (contract C2). */
const seeded = (id: number, currency_id: number, currency_code: string, amount: number, is_default = false) => ({
  id,
  currency_id,
  currency_code,
  amount,
  reserved_amount: 0,
  type: 'PREPAID' as const,
  credit_limit: 0,
  is_default,
  is_active: true,
  created_at: SEEDED_AT,
  updated_at: SEEDED_AT,
})
const USD = seeded(1, 139, 'USD', 100_000, true)
const EUR = seeded(2, 41, 'EUR', 100_000)
const INR = seeded(3, 58, 'INR', 5_000_000)
const JPY = seeded(4, 64, 'JPY', 10_000_000)
const LIMITED_USD = seeded(5, 139, 'USD', 5, true)

const sorted = (sort: object | string) =>
  `?sort=${encodeURIComponent(typeof sort === 'string' ? sort : JSON.stringify(sort))}`

describe('GET /api/v1/wallets', () => {
  inWorld('200 lists the four seeded wallets, the newest first, with six headers', async (world) => {
    const response = await world.get(PATH)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.json()).toEqual([JPY, INR, EUR, USD])
    expect(pageOf(response)).toEqual(['1', '50', '4', '1', '4', 'false'])
  })

  inWorld('lists the one wallet of the limited client, and none of another client', async (world) => {
    const response = await (await world.limited()).get(PATH)
    expect(await response.json()).toEqual([LIMITED_USD])
    expect(pageOf(response)).toEqual(['1', '50', '1', '1', '1', 'false'])
  })

  test.each([
    ['id ascending', { field: 'id', direction: 'ASC' }, [1, 2, 3, 4]],
    ['id descending', { field: 'id', direction: 'DESC' }, [4, 3, 2, 1]],
    ['amount in major units ascending, ties by id', { field: 'amount', direction: 'ASC' }, [1, 2, 3, 4]],
    ['amount descending, ties by id in the same direction', { field: 'amount', direction: 'DESC' }, [4, 3, 2, 1]],
    ['the direction in lower case', { field: 'id', direction: 'asc' }, [1, 2, 3, 4]],
    ['the field alone', { field: 'amount' }, [4, 3, 2, 1]],
    ['the direction alone', { direction: 'ASC' }, [1, 2, 3, 4]],
    ['neither', {}, [4, 3, 2, 1]],
  ])('sorts by %s', async (_, sort, ids) => {
    const world = await server.world()
    const response = await world.get(PATH + sorted(sort))
    expect(((await response.json()) as { id: number }[]).map(({ id }) => id)).toEqual(ids)
  })

  inWorld('compares amounts in major units', async (world) => {
    // 100,000.00 USD are 10,000,000 minor units, and more than 9,946,100 JPY in those.
    const spent = await world.post('/api/v1/orders', { product_id: 3, denomination: 10_000, quantity: 5, wallet_id: 4 })
    expect(spent.status).toBe(200)
    const response = await world.get(PATH + sorted({ field: 'amount', direction: 'ASC' }))
    const wallets = (await response.json()) as { id: number; amount: number }[]
    expect(wallets.map(({ id }) => id)).toEqual([1, 2, 3, 4])
    expect(wallets[3]?.amount).toBe(9_946_100)
  })

  test.each([
    ['currency_id=58', [INR]],
    ['currency_id=1', []],
    ['currency_id=2147483647', []],
    ['type=PREPAID', [JPY, INR, EUR, USD]],
    ['type=prepaid', [JPY, INR, EUR, USD]],
    ['type=POSTPAID', []],
    ['currency_id=139&type=PREPAID', [USD]],
    ['currency_id=139&type=POSTPAID', []],
    ['colour=red', [JPY, INR, EUR, USD]],
  ])('filters by %s', async (query, wallets) => {
    const world = await server.world()
    const response = await world.get(`${PATH}?${query}`)
    await expectResponse(response, 200, wallets)
    expect(response.headers.get('x-total-count')).toBe(String(wallets.length))
    expect(response.headers.get('x-total-pages')).toBe(wallets.length === 0 ? '0' : '1')
  })

  inWorld('a page past the end is empty and has the right totals', async (world) => {
    const response = await world.get(`${PATH}?page=9007199254740991&limit=10000`)
    expect(await response.json()).toEqual([])
    expect(pageOf(response)).toEqual(['9007199254740991', '10000', '4', '1', '0', 'false'])
  })

  test.each([
    ['limit=10001', 'limit', 'max', 'must be at most 10000'],
    ['currency_id=USD', 'currency_id', 'integer', 'must be a positive whole number'],
    ['type=CREDIT', 'type', 'enum', 'must be one of PREPAID, POSTPAID'],
    ['sort=id', 'sort', 'object', 'must be a JSON object with the members field and direction'],
    ['sort={"field":"created_at"}', 'sort', 'enum', 'must name a field that is one of id, amount'],
    ['sort={"direction":"UP"}', 'sort', 'enum', 'must have a direction that is ASC or DESC'],
  ])('400 refuses %s', async (query, field, rule, problem) => {
    const world = await server.world()
    const response = await world.get(`${PATH}?${query}`)
    await expectResponse(response, 400, validation(field, rule, problem))
  })

  inWorld('400 names all invalid parameters', async (world) => {
    const response = await world.get(`${PATH}?page=0&limit=0&type=x&currency_id=x&sort=x`)
    const { error } = (await response.json()) as { error: { messages: object } }
    expect(Object.keys(error.messages)).toEqual(['page', 'limit', 'currency_id', 'type', 'sort'])
  })
})

describe('filters of wallets', () => {
  test.each<[string, number[]]>([
    ['currency=EUR', [2]],
    ['currency=KWD', []],
    ['currency=ZZZ', []],
    ['is_active=true', [4, 3, 2, 1]],
    ['is_active=false', []],
    ['is_active=false&currency=EUR', []],
    ['currency=EUR&currency_id=41', [2]],
    ['currency=EUR&currency_id=139', []],
    ['currency=USD&type=prepaid&is_active=TRUE', [1]],
    ['currency=USD&type=postpaid', []],
    ['is_active=true&sort_by=id&sort_order=asc&limit=2', [1, 2]],
  ])('%s returns and counts the matches', async (query, ids) => {
    const response = await (await server.world()).get(`${PATH}?${query}`)
    expect(response.status).toBe(200)
    expect(((await response.json()) as { id: number }[]).map(({ id }) => id)).toEqual(ids)
    expect(Number(response.headers.get('x-total-count'))).toBe(query.includes('limit') ? 4 : ids.length)
  })

  test.each([
    ['currency=eur', 'currency', 'format', 'must be three letters in upper case'],
    ['currency=', 'currency', 'format', 'must be three letters in upper case'],
    ['currency=EURO', 'currency', 'format', 'must be three letters in upper case'],
    ['is_active=1', 'is_active', 'enum', 'must be one of true, false'],
    ['sort_by=ID', 'sort_by', 'enum', 'must be one of id, amount'],
    ['sort={"field":"id"}&sort_by=id', 'sort', 'format', 'cannot be combined with sort_by or sort_order'],
  ])('400 refuses %s', async (query, field, rule, problem) => {
    const response = await (await server.world()).get(`${PATH}?${query}`)
    await expectResponse(response, 400, validation(field, rule, problem))
  })
})

describe('GET /api/v1/wallets/{id}', () => {
  test.each([USD, EUR, INR, JPY])('200 returns the seeded wallet $id', async (wallet) => {
    const world = await server.world()
    await expectResponse(world.get(`${PATH}/${wallet.id}`), 200, wallet)
  })

  test('returns the reserved amount and the time of the last change', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const placed = await world.post('/api/v1/orders', { product_id: 2, denomination: 100, quantity: 6 })
    expect(placed.status).toBe(200)
    expect(await (await world.get(`${PATH}/1`)).json()).toEqual({
      ...USD,
      amount: 99_424,
      reserved_amount: 576,
      updated_at: '2030-01-01T00:00:00.000Z',
    })
    await world.clock({ advance: 'PT1M' })
    expect(await (await world.get(`${PATH}/1`)).json()).toEqual({
      ...USD,
      amount: 99_424,
      reserved_amount: 0,
      updated_at: '2030-01-01T00:00:05.000Z',
    })
    expect((await walletsOf(world)).slice(1)).toEqual([EUR, INR, JPY])
  })
})
