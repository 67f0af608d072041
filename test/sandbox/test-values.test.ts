import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { type Server, startServer, type TestWorld, testIn } from '../harness.ts'
import { getPayout, HUNDRED, NOON, type Payout, pay, save } from '../records.ts'
import { amountIn } from '../wallets/balances.ts'
import { read, succeed } from './surface.ts'

/** Test values have the documented effects (contract C15). */

interface Values {
  products: { case: string; product_id: number; about: string }[]
  payouts: { outcome: string; email: string; about: string }[]
  amounts: { case: string; amount: number; about: string }[]
}

const server: Server = await startServer('--rate-limit', 'off', '--seed', '50')
const atNoon = testIn(() => server.world(NOON))
afterAll(() => server.stop())
const values = await succeed<Values>(server, 'GET', '/test-values')

const post = async (world: TestWorld, path: string, body: object) => read(await world.post(`/api/v1/${path}`, body))

describe('GET /_sandbox/test-values', () => {
  test('200 returns products, payees and amounts', () => {
    expect(values.products.map((each) => [each.case, each.product_id])).toEqual([
      ['instant', 1],
      ['delayed', 4],
      ['small_stock', 9],
      ['sold_out', 8],
      ['no_rate', 10],
      ['inactive', 7],
    ])
    expect(values.payouts.map(({ outcome, email }) => [outcome, email])).toEqual([
      ['completed', 'completed@payouts.example'],
      ['failed', 'failed@payouts.example'],
      ['action_required', 'action_required@payouts.example'],
      ['returned', 'returned@payouts.example'],
      ['expired', 'expired@payouts.example'],
    ])
    expect(values.amounts.map((each) => [each.case, each.amount])).toEqual([
      ['smallest', 0.01],
      ['too_many_decimals', 10.001],
      ['zero', 0],
      ['insufficient_balance', 200_000],
    ])
  })

  test('leaves out values that the current catalog does not have', async () => {
    const product = catalogEntry({
      id: 70,
      max_quantity: 5,
      denominations: [{ min_value: 1, max_value: 1, discount: 0 }],
    })
    const custom = await startServer('--catalog', fileOf({ products: [product] }))
    const { products } = await succeed<Values>(custom, 'GET', '/test-values')
    await custom.stop()
    expect(products.map((each) => [each.case, each.product_id])).toEqual([['instant', 70]])
  })
})

describe('The product', () => {
  let world: TestWorld
  beforeAll(async () => {
    world = await server.world()
  })
  const idOf = (name: string): number => values.products.find((each) => each.case === name)?.product_id ?? 0
  const denominationOf = async (id: number): Promise<number> => {
    const product = await world.read<{ available_denominations: { min_value: number }[] }>(`/api/v1/products/${id}`)
    return product.available_denominations[0]?.min_value ?? 0
  }
  const order = async (id: number, quantity: number) =>
    post(world, 'orders', { product_id: id, denomination: await denominationOf(id), quantity })

  test('instant is delivered in the response', async () => {
    expect(await order(idOf('instant'), 1)).toMatchObject({ status: 200, body: { status: 'DELIVERED' } })
  })

  atNoon('delayed is delivered 5 s later', async (delayedWorld) => {
    const id = idOf('delayed')
    const placed = await post(delayedWorld, 'orders', {
      product_id: id,
      denomination: await denominationOf(id),
      quantity: 1,
    })
    expect(placed).toMatchObject({ status: 200, body: { status: 'PENDING', vouchers: [] } })
    await delayedWorld.clock({ advance: 'PT5S' })
    const path = `/api/v1/orders/${(placed.body as { id: number }).id}`
    expect((await read(await delayedWorld.get(path))).body).toMatchObject({ status: 'DELIVERED' })
  })

  test('small_stock is sold until it is empty', async () => {
    const id = idOf('small_stock')
    expect((await order(id, 10)).status).toBe(400)
    const statuses: number[] = []
    while (statuses.length < 10 && statuses.at(-1) !== 400) statuses.push((await order(id, 1)).status)
    expect(statuses.length).toBeGreaterThan(1)
    expect(statuses.at(-1)).toBe(400)
  })

  test('sold_out is not available, and not sold', async () => {
    const id = idOf('sold_out')
    const purchase = { denomination: await denominationOf(id), quantity: 1 }
    expect((await post(world, `products/${id}/availability`, purchase)).body).toEqual({ is_available: false })
    expect(await order(id, 1)).toMatchObject({ status: 400, body: { error: { message: 'Insufficient stock' } } })
  })

  test('no_rate has no rate to the currency of the default wallet', async () => {
    const id = idOf('no_rate')
    const purchase = { denomination: await denominationOf(id), quantity: 1, wallet_id: 1 }
    const { status, body } = await post(world, `products/${id}/charges`, purchase)
    expect(status).toBe(400)
    expect((body as { error: string }).error).toStartWith('No exchange rate found for ')
  })

  test('inactive is not found', async () => {
    expect((await world.get(`/api/v1/products/${idOf('inactive')}`)).status).toBe(404)
  })
})

describe('A payout to', () => {
  const payoutTo = (email: string) => ({ ...HUNDRED, reference_id: `to ${email}`, beneficiary_email: email })
  const paid = async (world: TestWorld, email: string): Promise<Payout> => {
    const payout = await pay(world, payoutTo(email))
    expect(payout.status).toBe('created')
    return payout
  }
  const payoutOf = (world: TestWorld, { id }: Payout) => getPayout(world, id)
  const emailOf = (outcome: string): string => values.payouts.find((each) => each.outcome === outcome)?.email ?? ''
  const BALANCE = 100_000

  test.each<[string, string, string, string, number]>([
    ['completed', 'PT5S', 'completed', 'completed', BALANCE - 101.5],
    ['failed', 'PT4S', 'settling', 'settling', BALANCE - 101.5],
    ['failed', 'PT5S', 'failed', 'failed', BALANCE],
    ['action_required', 'PT5S', 'action_required', 'action_required', BALANCE - 101.5],
    ['action_required', 'P30D', 'action_required', 'action_required', BALANCE - 101.5],
    ['returned', 'PT9S', 'completed', 'completed', BALANCE - 101.5],
    ['returned', 'PT10S', 'completed', 'returned', BALANCE - 1.5],
    ['expired', 'P6D', 'created', 'created', BALANCE - 101.5],
    ['expired', 'P7D', 'expired', 'expired', BALANCE],
  ])('%s, after %s: %s', async (outcome, advance, status, event, balance) => {
    const world = await server.world(NOON)
    const payout = await paid(world, emailOf(outcome))
    await world.clock({ advance })
    const again = await world.again()
    const now = await payoutOf(again, payout)
    expect([now.status, now.events.at(-1)?.event_type]).toEqual([status, event])
    expect(await amountIn(again, 1)).toBe(balance)
    await again.clock({ advance: 'PT1H' })
    const { events } = await payoutOf(await again.again(), payout)
    expect(events.filter((each) => each.event_type === event)).toHaveLength(1)
  })

  atNoon('failed may be written in either case, and be a saved beneficiary', async (world) => {
    const { id: beneficiary_id } = await save(world, { email: emailOf('failed').toUpperCase() })
    const saved = { reference_id: 'saved', wallet_id: 1, amount: 100, currency: 'USD', beneficiary_id }
    const created = await pay(world, saved)
    await world.clock({ advance: 'PT5S' })
    expect(await payoutOf(world, created)).toMatchObject({ status: 'failed', failure_code: 'payout_failed' })
  })

  atNoon('action_required can be cancelled, or advanced to its completion', async (world) => {
    const cancelled = await paid(world, emailOf('action_required'))
    await world.clock({ advance: 'PT5S' })
    expect((await post(world, `payouts/${cancelled.id}/cancel`, {})).status).toBe(200)
    const other = await server.world(NOON)
    const payout = await paid(other, emailOf('action_required'))
    await other.clock({ advance: 'PT5S' })
    const path = `/payouts/${payout.id}/advance?world=${other.name}`
    expect(await succeed<object>(server, 'POST', path, { to: 'completed' })).toMatchObject({ status: 'completed' })
  })

  test.each<[string, number, number, object]>([
    ['smallest', 0.01, 201, { amount: 0.01, fees: 0.01 }],
    ['too_many_decimals', 10.001, 400, { error: 'ValidationException' }],
    ['zero', 0, 400, { error: 'ValidationException' }],
    ['insufficient_balance', 200_000, 400, { message: 'Insufficient wallet balance' }],
  ])('anybody of the amount %s', async (name, amount, status, body) => {
    expect(values.amounts).toContainEqual(expect.objectContaining({ case: name, amount }))
    const world = await server.world()
    expect(await post(world, 'payouts', { ...HUNDRED, amount })).toMatchObject({ status, body })
  })
})
