import { describe, expect, test } from 'bun:test'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { badRequest } from '../errors.ts'
import { expectResponse, sharedServer, startServer, type TestWorld, testIn } from '../harness.ts'
import { getOrder, INSTANT, ORDERS, OVERNIGHT, PHYSICAL, place, START } from '../records.ts'
import { balanceOf, expectUnbrokenChain, movementsOf } from '../wallets/balances.ts'

const server = await sharedServer()

const atStart = testIn(() => server.world(START))
const SIX = { ...INSTANT, quantity: 6 }
const at = (time: string) => `2030-01-01T${time}Z`

/** A world in which this time has passed since it was opened. */
const later = async (world: TestWorld, time: string): Promise<TestWorld> => {
  await world.clock({ now: at(time) })
  return world
}

describe('at the pace of the sandbox', () => {
  atStart('an order is PROCESSING after 2 s and DELIVERED after 5 s, to the millisecond', async (world) => {
    const placed = await place(world, SIX)
    expect(placed.status).toBe('PENDING')
    expect(await getOrder(await later(world, '00:00:01.999'), 1)).toEqual(placed)
    const processing = { ...placed, status: 'PROCESSING' }
    expect(await getOrder(await later(world, '00:00:02.000'), 1)).toEqual(processing)
    expect(await getOrder(await later(world, '00:00:04.999'), 1)).toEqual(processing)
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_712, reserved: 288 })
    const delivered = await getOrder(await later(world, '00:00:05.000'), 1)
    expect(delivered).toEqual({
      ...placed,
      status: 'DELIVERED',
      delivered_at: at('00:00:05.000'),
      vouchers: expect.any(Array),
    })
    expect(delivered.vouchers.map(({ voucher_reference_number }) => voucher_reference_number)).toEqual([
      '1-1',
      '1-2',
      '1-3',
      '1-4',
      '1-5',
      '1-6',
    ])
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_712, reserved: 0 })
    expect(await movementsOf(world)).toHaveLength(1)
  })

  atStart('has its due time, however late the next request is', async (world) => {
    await place(world, { ...PHYSICAL, quantity: 2 })
    await later(world, '00:00:30')
    await place(world, OVERNIGHT)
    await world.clock({ advance: 'P31D' })
    const monthLater = await world.again()
    expect(await getOrder(monthLater, 1)).toMatchObject({ status: 'DELIVERED', delivered_at: at('00:00:05.000') })
    expect(await getOrder(monthLater, 2)).toMatchObject({ status: 'DELIVERED', delivered_at: at('00:00:35.000') })
    await expectUnbrokenChain(monthLater)
  })
})

describe('POST /api/v1/orders/{id}/cancel', () => {
  atStart('200 cancels a PENDING order and refunds it in full, at the recorded rate', async (world) => {
    const placed = await place(world, { ...SIX, wallet_id: 2 })
    await later(world, '00:00:01.999')
    const response = await world.post(`${ORDERS}/1/cancel`)
    expect(response.status).toBe(200)
    const cancelled = await response.json()
    expect(cancelled).toEqual({
      ...placed,
      status: 'CANCELLED',
      refunded_amount: placed.amount,
      cancelled_at: at('00:00:01.999'),
    })
    expect(await getOrder(world, 1)).toEqual(cancelled as typeof placed)
    const [paid, refund, ...others] = await movementsOf(world)
    expect(others).toEqual([])
    expect(refund).toEqual({
      ...paid,
      id: 7,
      transaction_type: 'CREDIT',
      balance_after: 100_000,
      source_type: 'refund',
      remarks: 'Cancelled',
      created_at: at('00:00:01.999'),
    } as typeof refund)
    expect(await balanceOf(world, 2)).toEqual({ amount: 100_000, reserved: 0 })
  })

  atStart('needs no body and reads none', async (world) => {
    await place(world, SIX)
    expect((await world.post(`${ORDERS}/1/cancel`, '{"status":')).status).toBe(200)
  })

  atStart('a cancelled order is never delivered', async (world) => {
    await place(world, SIX)
    const cancelled = await (await world.post(`${ORDERS}/1/cancel`)).json()
    await later(world, '00:10:00')
    expect(await getOrder(world, 1)).toEqual(cancelled as Awaited<ReturnType<typeof getOrder>>)
    expect(await (await world.get(`${ORDERS}/1/vouchers`)).json()).toEqual([])
    expect(await movementsOf(world)).toHaveLength(2)
  })

  test('returns the codes to the stock', async () => {
    const entry = catalogEntry({ delivery_time: '48 hours', stock: 3 })
    await using custom = await startServer('--catalog', fileOf({ products: [entry] }))
    const world = await custom.world(START)
    const sold = { product_id: 1, denomination: 10, quantity: 2 }
    const available = async () => {
      const response = await world.post('/api/v1/products/1/availability', { denomination: 10, quantity: 2 })
      return ((await response.json()) as { is_available: boolean }).is_available
    }
    expect(await available()).toBe(true)
    await place(world, sold)
    expect(await available()).toBe(false)
    expect((await world.post(ORDERS, sold)).status).toBe(400)
    expect((await world.post(`${ORDERS}/1/cancel`)).status).toBe(200)
    expect(await available()).toBe(true)
    await place(world, sold)
    expect((await world.post(ORDERS, sold)).status).toBe(400)
  })

  test.each([
    ['PROCESSING', '00:00:02', SIX],
    ['DELIVERED', '00:00:05', SIX],
    ['DELIVERED', '00:00:00', INSTANT],
  ])('400 refuses an order that is %s at %s, and refunds nothing', async (status, time, body) => {
    const world = await server.world(START)
    await place(world, body)
    await later(world, time)
    const before = await getOrder(world, 1)
    const response = await world.post(`${ORDERS}/1/cancel`)
    await expectResponse(response, 400, badRequest(`Order cannot be cancelled in status ${status}`))
    expect(await getOrder(world, 1)).toEqual(before)
    expect(await movementsOf(world)).toHaveLength(1)
  })

  atStart('400 refuses to cancel twice, and refunds once', async (world) => {
    await place(world, SIX)
    const responses = await Promise.all(Array.from({ length: 10 }, () => world.post(`${ORDERS}/1/cancel`)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
    const refused = responses.find(({ status }) => status === 400)
    expect(await refused?.json()).toEqual(badRequest('Order cannot be cancelled in status CANCELLED'))
    expect(await movementsOf(world)).toHaveLength(2)
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_000, reserved: 0 })
  })
})
