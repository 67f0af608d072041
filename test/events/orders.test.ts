import { describe, expect, test } from 'bun:test'
import { sharedServer, type TestWorld, testIn } from '../harness.ts'
import { getOrder, INSTANT, NONE_LEFT, NOON, ORDERS, PHYSICAL, place } from '../records.ts'
import { eventsOf, storyOf } from './events.ts'

const server = await sharedServer()

const atNoon = testIn(() => server.world(NOON))
const control = async (world: TestWorld, path: string, body?: object): Promise<void> => {
  const response = await world.control(path, body)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

describe('An order', () => {
  test('that is delivered at once is created PENDING and then delivered, each with the order at that moment', async () => {
    const world = await server.world(NOON)

    const order = await place(world, { ...INSTANT, quantity: 2 })
    const [debited, created, delivered, ...others] = await eventsOf(world)
    expect(others).toEqual([])
    const wallet = await world.read<object>('/api/v1/wallets/1')
    const shown = { id: expect.stringMatching(/^evt_[0-9a-z]{25}$/), created_at: NOON }
    expect(debited).toEqual({ ...shown, type: 'wallet.debited', data: { ...wallet, reserved_amount: order.amount } })
    expect(created).toEqual({
      ...shown,
      type: 'order.created',
      data: { ...order, status: 'PENDING', delivered_at: null, vouchers: [] },
    })
    const vouchers = order.vouchers.map(({ voucher_reference_number, expires_at }) => ({
      voucher_reference_number,
      expires_at,
    }))
    expect(vouchers).toHaveLength(2)
    expect(delivered).toEqual({ ...shown, type: 'order.delivered', data: { ...order, vouchers } })
  })

  atNoon('that the clock moves is processed and delivered at its due times', async (world) => {
    const { id } = await place(world, PHYSICAL)
    await world.clock({ advance: 'PT30M' })
    const events = await eventsOf(world, '&type=order.*')
    expect(events.map(({ type, created_at, data }) => [type, created_at, data.status])).toEqual([
      ['order.created', NOON, 'PENDING'],
      ['order.processing', '2030-01-01T12:00:02.000Z', 'PROCESSING'],
      ['order.delivered', '2030-01-01T12:00:05.000Z', 'DELIVERED'],
    ])
    const { vouchers, ...rest } = await getOrder(world, id)
    const [voucher] = vouchers
    expect(events.at(-1)?.data).toEqual({
      ...rest,
      vouchers: [
        { voucher_reference_number: voucher?.voucher_reference_number, expires_at: voucher?.expires_at ?? null },
      ],
    })
  })

  atNoon('that is cancelled is refunded', async (world) => {
    const { id, amount } = await place(world, PHYSICAL)
    expect((await world.post(`${ORDERS}/${id}/cancel`)).status).toBe(200)
    expect(await storyOf(world)).toEqual([
      `wallet.debited ${100_000 - amount}`,
      'order.created PENDING',
      'wallet.credited 100000',
      'order.cancelled CANCELLED',
      'order.refunded CANCELLED',
    ])
  })

  atNoon('that fails is refunded', async (world) => {
    const { id } = await place(world, PHYSICAL)
    await control(world, `/orders/${id}/fail`)
    expect(await storyOf(world, '&type=order.*')).toEqual([
      'order.created PENDING',
      'order.failed FAILED',
      'order.refunded FAILED',
    ])
  })

  atNoon('whose rest is refunded keeps its status', async (world) => {
    const { id } = await place(world, { ...PHYSICAL, quantity: 3 })
    await control(world, `/orders/${id}/deliver`, { quantity: 1 })
    await control(world, `/orders/${id}/fail`)
    expect(await storyOf(world, '&type=order.*')).toEqual([
      'order.created PENDING',
      'order.partially_delivered PARTIALLY_DELIVERED',
      'order.refunded PARTIALLY_DELIVERED',
    ])
  })

  atNoon('that is refused is not an event', async (world) => {
    expect((await world.post(ORDERS, NONE_LEFT)).status).toBe(400)
    expect(await eventsOf(world)).toEqual([])
  })

  atNoon('that is repeated with its Idempotency-Key is not a new event', async (world) => {
    const headers = { 'idempotency-key': 'once and no more' }
    for (let time = 0; time < 2; time++) await world.post(ORDERS, INSTANT, headers)
    expect(await storyOf(world, '&type=order.*')).toEqual(['order.created PENDING', 'order.delivered DELIVERED'])
  })

  atNoon('shows no code of a voucher in any event', async (world) => {
    const { vouchers } = await place(world, { ...INSTANT, quantity: 3 })
    const text = JSON.stringify(await eventsOf(world))
    expect(text).not.toContain('TEST')
    for (const { pin_code } of vouchers) expect(text).not.toContain(`"${pin_code}"`)
  })
})
