import { describe, expect, test } from 'bun:test'
import { validation } from '../errors.ts'
import { expectResponse, sharedServer, type TestWorld } from '../harness.ts'
import type { Transaction } from '../records.ts'
import { PAYEE, pageOf, START } from '../records.ts'
import { expectUnbrokenChain, movementsOf, transactionsOf } from './balances.ts'

const server = await sharedServer()

const PATH = '/api/v1/transactions'

const opening = (id: number, wallet_id: number, currency_id: number, amount: number) => ({
  id,
  wallet_id,
  currency_id,
  amount,
  transaction_type: 'CREDIT',
  status: 'COMPLETED',
  source_currency: null,
  destination_currency: null,
  forex_rate: null,
  conversion_charges: null,
  balance_after: amount,
  source_type: 'funding',
  source_id: null,
  remarks: 'Opening balance',
  created_at: '2026-01-01T00:00:00.000Z',
})
const OPENING = [
  opening(1, 1, 139, 100_000),
  opening(2, 2, 41, 100_000),
  opening(3, 3, 58, 5_000_000),
  opening(4, 4, 64, 10_000_000),
]

const idsOf = async (world: TestWorld, query: string): Promise<number[]> => {
  const response = await world.get(`${PATH}?${query}`)
  expect([query, response.status]).toEqual([query, 200])
  return ((await response.json()) as { id: number }[]).map(({ id }) => id)
}
const sort = (field: string, direction: string) => `sort=${encodeURIComponent(JSON.stringify({ field, direction }))}`

/**
 * A world with every kind of movement that a client can cause, a second apart: 6 an order from USD at 0 s, 7 a payout
 * from EUR in USD at 1 s, 8 a pending order from JPY at 2 s, 9 its refund at 3 s.
 */
const busyWorld = async (): Promise<TestWorld> => {
  const world = await server.world(START)
  const ask = async (path: string, body?: object): Promise<{ id: number }> => {
    const response = await world.post(path, body)
    if (response.status > 201) throw new Error(`${path}: ${await response.text()}`)
    await world.clock({ advance: 'PT1S' })
    return (await response.json()) as { id: number }
  }
  await ask('/api/v1/orders', { product_id: 2, denomination: 50, quantity: 1 })
  await ask('/api/v1/payouts', { reference_id: 'bonus', wallet_id: 2, amount: 10, currency: 'USD', ...PAYEE })
  const { id } = await ask('/api/v1/orders', { product_id: 3, denomination: 1_000, quantity: 6 })
  await ask(`/api/v1/orders/${id}/cancel`)
  return world
}

describe('GET /api/v1/transactions', () => {
  test('200 returns the opening balances, the newest first, with six headers', async () => {
    const world = await server.world()
    const response = await world.get(PATH)
    await expectResponse(response, 200, [...OPENING].reverse())
    expect(pageOf(response)).toEqual(['1', '50', '4', '1', '4', 'false'])
  })

  test('writes one transaction for each payment and refund', async () => {
    const world = await busyWorld()
    const [order, payout, pending, refund, ...others] = await movementsOf(world)
    expect(others).toEqual([])
    const exchangeless = {
      source_currency: null,
      destination_currency: null,
      forex_rate: null,
      conversion_charges: null,
    }
    expect(order).toEqual({
      id: 6,
      wallet_id: 1,
      currency_id: 139,
      amount: 48,
      transaction_type: 'DEBIT',
      status: 'COMPLETED',
      ...exchangeless,
      balance_after: 99_952,
      source_type: 'order',
      source_id: '1',
      remarks: 'Lumen Books USA',
      created_at: '2030-01-01T00:00:00.000Z',
    })
    // 10 and 1.5 % in fees are 10.15 USD; at 0.92 that is 9.34 EUR, and 0.5 % of it 0.05.
    expect(payout).toEqual({
      id: 7,
      wallet_id: 2,
      currency_id: 41,
      amount: 9.39,
      transaction_type: 'DEBIT',
      status: 'COMPLETED',
      source_currency: 'USD',
      destination_currency: 'EUR',
      forex_rate: 0.92,
      conversion_charges: 0.05,
      balance_after: 99_990.61,
      source_type: 'payout',
      source_id: expect.stringMatching(/^pyt_[0-9a-z]{20,}$/),
      remarks: 'bonus',
      created_at: '2030-01-01T00:00:01.000Z',
    })
    expect(pending).toEqual({
      id: 8,
      wallet_id: 4,
      currency_id: 64,
      amount: 6_600,
      transaction_type: 'DEBIT',
      status: 'COMPLETED',
      ...exchangeless,
      balance_after: 9_993_400,
      source_type: 'order',
      source_id: '2',
      remarks: 'Pixelforge Games Japan',
      created_at: '2030-01-01T00:00:02.000Z',
    })
    expect(refund).toEqual({
      id: 9,
      wallet_id: 4,
      currency_id: 64,
      amount: 6_600,
      transaction_type: 'CREDIT',
      status: 'COMPLETED',
      ...exchangeless,
      balance_after: 10_000_000,
      source_type: 'refund',
      source_id: '2',
      remarks: 'Cancelled',
      created_at: '2030-01-01T00:00:03.000Z',
    })
    await expectUnbrokenChain(world)
  })

  test('filters', async () => {
    const world = await busyWorld()
    expect(await idsOf(world, 'wallet_id=1')).toEqual([6, 1])
    expect(await idsOf(world, 'wallet_id=4')).toEqual([9, 8, 4])
    expect(await idsOf(world, 'wallet_id=5')).toEqual([])
    expect(await idsOf(world, 'wallet_id=2147483647')).toEqual([])
    expect(await idsOf(world, 'transaction_type=DEBIT')).toEqual([8, 7, 6])
    expect(await idsOf(world, 'transaction_type=credit')).toEqual([9, 4, 3, 2, 1])
    expect(await idsOf(world, 'status=COMPLETED')).toEqual([9, 8, 7, 6, 4, 3, 2, 1])
    expect(await idsOf(world, 'status=PENDING')).toEqual([])
    expect(await idsOf(world, 'status=failed')).toEqual([])
    expect(await idsOf(world, 'source_type=order')).toEqual([8, 6])
    expect(await idsOf(world, 'source_type=payout')).toEqual([7])
    expect(await idsOf(world, 'source_type=refund')).toEqual([9])
    expect(await idsOf(world, 'source_type=FUNDING')).toEqual([4, 3, 2, 1])
    expect(await idsOf(world, 'source_type=adjustment')).toEqual([])
    expect(await idsOf(world, 'wallet_id=4&transaction_type=CREDIT&source_type=refund')).toEqual([9])
    expect(await idsOf(world, 'wallet_id=1&source_type=refund')).toEqual([])
    expect(await idsOf(world, 'colour=red&limit=1')).toEqual([9])
  })

  test('filters by currency and a part of source_id or remarks, in either case', async () => {
    const world = await busyWorld()
    expect(await idsOf(world, 'currency=JPY')).toEqual([9, 8, 4])
    expect(await idsOf(world, 'currency=KWD')).toEqual([])
    expect(await idsOf(world, 'currency=ZZZ')).toEqual([])
    expect(await idsOf(world, 'currency=JPY&wallet_id=4&source_type=refund')).toEqual([9])
    expect(await idsOf(world, 'currency=JPY&wallet_id=1')).toEqual([])
    expect(await idsOf(world, 'search=BALANCE')).toEqual([4, 3, 2, 1])
    expect(await idsOf(world, 'search=opening&currency=EUR')).toEqual([2])
    expect(await idsOf(world, 'search=pyt_')).toEqual([7])
    expect(await idsOf(world, 'search=Bonus')).toEqual([7])
    expect(await idsOf(world, 'search=lumen%20books')).toEqual([6])
    expect(await idsOf(world, 'search=%25')).toEqual([])
    expect(await idsOf(world, 'search=')).toEqual([9, 8, 7, 6, 4, 3, 2, 1])
    expect(await idsOf(world, 'search=books&transaction_type=credit')).toEqual([])
    expect(await idsOf(world, 'search=opening&sort_by=amount&sort_order=asc&limit=2')).toEqual([1, 2])
    await world.control('/wallets/3/fund', { amount: 1, remarks: 'ÉCOLE Ὀδυσσεύς' })
    expect(await idsOf(world, `search=${encodeURIComponent('école')}`)).toEqual([10])
    expect(await idsOf(world, `search=${encodeURIComponent('ὈΔΥΣΣΕΎΣ')}`)).toEqual([10])
    expect(await idsOf(await world.limited(), 'search=opening')).toEqual([5])
  })

  test('created_from and created_to are inclusive, to the millisecond, in any offset', async () => {
    const world = await busyWorld()
    expect(await idsOf(world, 'created_from=2030-01-01T00:00:02Z')).toEqual([9, 8])
    expect(await idsOf(world, 'created_from=2030-01-01t00:00:02z')).toEqual([9, 8])
    expect(await idsOf(world, 'created_from=2030-01-01T00:00:02.001Z')).toEqual([9])
    expect(await idsOf(world, 'created_to=2030-01-01T00:00:00.000Z')).toEqual([6, 4, 3, 2, 1])
    expect(await idsOf(world, 'created_to=2029-12-31T23:59:59.999Z')).toEqual([4, 3, 2, 1])
    expect(await idsOf(world, 'created_from=2030-01-01T00:00:01Z&created_to=2030-01-01T00:00:02Z')).toEqual([8, 7])
    expect(await idsOf(world, `created_from=${encodeURIComponent('2030-01-01T05:30:02+05:30')}`)).toEqual([9, 8])
    expect(await idsOf(world, 'created_from=2030-01-01T00:00:02Z&created_to=2030-01-01T00:00:01Z')).toEqual([])
  })

  test('sorts by id, amount and created_at, in both directions', async () => {
    const world = await busyWorld()
    expect(await idsOf(world, sort('id', 'ASC'))).toEqual([1, 2, 3, 4, 6, 7, 8, 9])
    expect(await idsOf(world, sort('id', 'DESC'))).toEqual([9, 8, 7, 6, 4, 3, 2, 1])
    // 9.39 EUR, 48 USD, 6,600 JPY twice, 100,000 USD and EUR, 5,000,000 INR, 10,000,000 JPY
    expect(await idsOf(world, sort('amount', 'ASC'))).toEqual([7, 6, 8, 9, 1, 2, 3, 4])
    expect(await idsOf(world, sort('amount', 'desc'))).toEqual([4, 3, 2, 1, 9, 8, 6, 7])
    expect(await idsOf(world, sort('created_at', 'ASC'))).toEqual([1, 2, 3, 4, 6, 7, 8, 9])
    expect(await idsOf(world, sort('created_at', 'DESC'))).toEqual([9, 8, 7, 6, 4, 3, 2, 1])
    expect(await idsOf(world, 'sort={"field":"amount"}&limit=2')).toEqual([4, 3])
    expect(await idsOf(world, 'sort={"direction":"asc"}&limit=2')).toEqual([1, 2])
  })

  test.each([
    ['limit=10001', 'limit', 'max', 'must be at most 10000'],
    ['currency=usd', 'currency', 'format', 'must be three letters in upper case'],
    ['sort={}&sort_by=amount', 'sort', 'format', 'cannot be combined with sort_by or sort_order'],
    ['transaction_type=PREPAID', 'transaction_type', 'enum', 'must be one of CREDIT, DEBIT'],
    ['status=done', 'status', 'enum', 'must be one of PENDING, COMPLETED, FAILED'],
    ['source_type=gift', 'source_type', 'enum', 'must be one of order, payout, refund, funding, adjustment'],
    ['created_from=', 'created_from', 'format', 'must be an RFC 3339 time'],
    ['created_from=2030-01-01T00:00:00', 'created_from', 'format', 'must be an RFC 3339 time'],
    ['created_from=2030-02-30T00:00:00Z', 'created_from', 'format', 'must be an RFC 3339 time'],
    ['created_from=1893456000', 'created_from', 'format', 'must be an RFC 3339 time'],
    ['created_to=2030-01-01T24:00:00Z', 'created_to', 'format', 'must be an RFC 3339 time'],
    ['created_to=2030-01-01T00:00:00+05:30', 'created_to', 'format', 'must be an RFC 3339 time'], // an unescaped +
    ['sort={"field":"balance_after"}', 'sort', 'enum', 'must name a field that is one of id, amount, created_at'],
  ])('400 refuses %s', async (query, field, rule, problem) => {
    const world = await server.world()
    const response = await world.get(`${PATH}?${query}`)
    await expectResponse(response, 400, validation(field, rule, problem))
  })

  test('400 names all invalid parameters', async () => {
    const world = await server.world()
    const response = await world.get(`${PATH}?wallet_id=x&status=x&source_type=x&created_from=x&created_to=x&sort=x`)
    const { error } = (await response.json()) as { error: { messages: object } }
    expect(Object.keys(error.messages)).toEqual([
      'wallet_id',
      'status',
      'source_type',
      'created_from',
      'created_to',
      'sort',
    ])
  })
})

describe('GET /api/v1/transactions/{id}', () => {
  test('200 returns the entry of the list', async () => {
    const world = await busyWorld()
    for (const transaction of await transactionsOf(world)) {
      const response = await world.get(`${PATH}/${transaction.id}`)
      expect(response.status).toBe(200)
      expect((await response.json()) as Transaction).toEqual(transaction)
    }
  })
})
