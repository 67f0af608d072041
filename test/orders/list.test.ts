import { describe, expect, test } from 'bun:test'
import { validation } from '../errors.ts'
import { expectResponse, sharedServer, type TestWorld, testIn } from '../harness.ts'
import { getOrder, INSTANT, ORDERS, type Order, pageOf, place, START } from '../records.ts'

const server = await sharedServer()
const inWorld = testIn(() => server.world())

const listed = async (world: TestWorld, query = ''): Promise<Order[]> => {
  const response = await world.get(`${ORDERS}${query}`)
  if (response.status !== 200) throw new Error(`${query}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Order[]
}
const idsOf = async (world: TestWorld, query: string) => (await listed(world, query)).map(({ id }) => id)

/** Four orders: 1 delivered, 2 pending and then cancelled, 3 delivered of another product, 4 pending. */
const shelf = async (): Promise<TestWorld> => {
  const world = await server.world(START)
  await place(world, { ...INSTANT, ref: 'first' })
  await place(world, { ...INSTANT, quantity: 6, ref: 'second' })
  await world.post(`${ORDERS}/2/cancel`)
  await place(world, { product_id: 1, denomination: 100, quantity: 1, ref: 'third' })
  await place(world, { ...INSTANT, quantity: 7, ref: 'Second' })
  return world
}

describe('GET /api/v1/orders', () => {
  test('lists complete orders with their vouchers, the newest first', async () => {
    const world = await shelf()
    const response = await world.get(ORDERS)
    const orders = (await response.json()) as Order[]
    expect(orders).toEqual(await Promise.all([4, 3, 2, 1].map((id) => getOrder(world, id))))
    expect(orders.map(({ status, vouchers }) => [status, vouchers.length])).toEqual([
      ['PENDING', 0],
      ['DELIVERED', 1],
      ['CANCELLED', 0],
      ['DELIVERED', 1],
    ])
    expect(pageOf(response)).toEqual(['1', '10', '4', '1', null, null])
  })

  test('combines filters by status in either case, product_id and client_reference', async () => {
    const world = await shelf()
    expect(await idsOf(world, '?status=DELIVERED')).toEqual([3, 1])
    expect(await idsOf(world, '?status=delivered')).toEqual([3, 1])
    expect(await idsOf(world, '?status=Pending')).toEqual([4])
    expect(await idsOf(world, '?status=cancelled')).toEqual([2])
    expect(await idsOf(world, '?status=PROCESSING')).toEqual([])
    expect(await idsOf(world, '?status=partially_delivered')).toEqual([])
    expect(await idsOf(world, '?status=failed')).toEqual([])
    expect(await idsOf(world, '?product_id=2')).toEqual([4, 2, 1])
    expect(await idsOf(world, '?product_id=2147483647')).toEqual([])
    expect(await idsOf(world, '?client_reference=second')).toEqual([2])
    expect(await idsOf(world, '?client_reference=Second')).toEqual([4])
    expect(await idsOf(world, '?client_reference=sec')).toEqual([])
    expect(await idsOf(world, '?client_reference=')).toEqual([])
    expect(await idsOf(world, '?ref=second')).toEqual([2])
    expect(await idsOf(world, '?ref=nothing')).toEqual([])
    expect(await idsOf(world, '?ref=second&client_reference=second')).toEqual([2])
    expect(await idsOf(world, '?ref=second&client_reference=first')).toEqual([])
    expect(await idsOf(world, '?ref=first&status=pending')).toEqual([])
    expect(await idsOf(world, '?product_id=2&status=delivered')).toEqual([1])
    expect(await idsOf(world, '?product_id=1&client_reference=first')).toEqual([])
    expect(await idsOf(world, '?colour=red')).toEqual([4, 3, 2, 1])
  })

  test('finds an order by its current status', async () => {
    const world = await shelf()
    await world.clock({ advance: 'PT2S' })
    expect(await idsOf(world, '?status=processing')).toEqual([4])
    await world.clock({ advance: 'PT3S' })
    expect(await idsOf(world, '?status=delivered')).toEqual([4, 3, 1])
  })

  inWorld('has 10 per page by default and at most 100, and pages neither overlap nor skip', async (world) => {
    for (let count = 0; count < 12; count++) await place(world, INSTANT)
    const first = await world.get(ORDERS)
    expect(((await first.json()) as object[]).length).toBe(10)
    expect(pageOf(first)).toEqual(['1', '10', '12', '2', null, null])
    expect(await idsOf(world, '?page=2')).toEqual([2, 1])
    expect(await idsOf(world, '?limit=100')).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    expect(await idsOf(world, '?limit=5&page=3')).toEqual([2, 1])
    const past = await world.get(`${ORDERS}?limit=5&page=4`)
    expect(await past.json()).toEqual([])
    expect(pageOf(past)).toEqual(['4', '5', '12', '3', null, null])
  })

  test.each([
    ['limit=101', 'limit', 'max', 'must be at most 100'],
    [
      'status=done',
      'status',
      'enum',
      'must be one of PENDING, PROCESSING, DELIVERED, PARTIALLY_DELIVERED, FAILED, CANCELLED',
    ],
    ['product_id=x', 'product_id', 'integer', 'must be a positive whole number'],
    ['client_reference=%00', 'client_reference', 'format', 'must not contain NUL'],
  ])('400 refuses %s', async (query, field, rule, problem) => {
    const world = await server.world()
    const response = await world.get(`${ORDERS}?${query}`)
    await expectResponse(response, 400, validation(field, rule, problem))
  })
})

describe('GET /api/v1/orders/{id} and its vouchers', () => {
  inWorld('200 returns only the vouchers, in order of delivery', async (world) => {
    const { id, vouchers } = await place(world, { ...INSTANT, quantity: 3 })
    await expectResponse(world.get(`${ORDERS}/${id}/vouchers`), 200, vouchers)
    expect(vouchers.map(({ voucher_reference_number }) => voucher_reference_number)).toEqual(['1-1', '1-2', '1-3'])
  })

  test('200 returns no vouchers before delivery, and all of them after', async () => {
    const world = await server.world(START)
    await place(world, { ...INSTANT, quantity: 6 })
    expect(await (await world.get(`${ORDERS}/1/vouchers`)).json()).toEqual([])
    await world.clock({ advance: 'PT5S' })
    const vouchers = await world.read<Order['vouchers']>(`${ORDERS}/1/vouchers`)
    expect(vouchers).toHaveLength(6)
    for (const { card_number, claim_url } of vouchers) {
      expect(card_number).toMatch(/^TEST[0-9A-Z]{12}$/)
      expect(claim_url).toBe(`https://claim.example/${card_number}`)
    }
    expect((await getOrder(world, 1)).vouchers).toEqual(vouchers)
  })
})
