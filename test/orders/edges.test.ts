import { describe, expect, test } from 'bun:test'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { forFile, startServer, testIn } from '../harness.ts'
import { countOf, getPayout, ORDERS, PAYEE, pay, place } from '../records.ts'
import { balanceOf, expectUnbrokenChain, movementsOf, transactionsOf } from '../wallets/balances.ts'

/** Money at its edges: the last card, the last cent, the smallest unit. */

const band = (min_value: number, max_value: number) => ({ denominations: [{ min_value, max_value, discount: 0 }] })

const products = [
  catalogEntry({ id: 1, max_quantity: 1_000_000, ...band(0.01, 1_000_000) }),
  catalogEntry({ id: 2, stock: 1, ...band(10, 10) }),
  catalogEntry({ id: 3, stock: 7, delivery_time: '24 hours', ...band(10, 10) }),
  catalogEntry({ id: 4, currency: 'KWD', ...band(0.01, 10) }),
  catalogEntry({ id: 5, currency: 'JPY', ...band(1, 1_000) }),
]
const rates = { base: 'USD', rates: { EUR: '0.92', INR: '83.5', JPY: '152.35', KWD: '0.3068', VND: '25000' } }
const server = forFile(
  await startServer('--rate-limit', 'off', '--catalog', fileOf({ products }), '--rates', fileOf(rates)),
)
const inWorld = testIn(() => server.world())

const messageOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { message: string } }).error.message

describe('the last code in stock', () => {
  inWorld('goes to one of 200 simultaneous orders, and the others have no effect', async (world) => {
    const bodies = Array.from({ length: 200 }, (_, index) => ({ product_id: 2, denomination: 10, quantity: 1, index }))
    const responses = await Promise.all(
      bodies.map((body) =>
        world.post(ORDERS, body, body.index % 2 === 0 ? { 'idempotency-key': `last card ${body.index}` } : {}),
      ),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = responses.filter(({ status }) => status === 400)
    expect(new Set(await Promise.all(refused.map(messageOf)))).toEqual(new Set(['Insufficient stock']))
    expect(refused).toHaveLength(199)
    expect(await countOf(world, ORDERS)).toBe(1)
    expect(await movementsOf(world)).toMatchObject([{ amount: 10, balance_after: 99_990 }])
  })

  inWorld('is delivered or cancelled if both are requested at once', async (world) => {
    const { id } = await place(world, { product_id: 3, denomination: 10, quantity: 1 })
    const [delivered, cancelled] = await Promise.all([
      world.control(`/orders/${id}/deliver`),
      world.post(`${ORDERS}/${id}/cancel`),
    ])
    expect([delivered.status, cancelled.status].toSorted()).toEqual([200, 400])
    const paid = delivered.status === 200 ? 10 : 0
    expect(await balanceOf(world, 1)).toEqual({ amount: 100_000 - paid, reserved: 0 })
    await expectUnbrokenChain(world)
  })
})

describe('the smallest unit', () => {
  test.each([
    ['0.01 KWD in USD', 4, 0.01, 1, 0.03],
    ['0.01 KWD in yen', 4, 0.01, 4, 5],
    ['1 yen in EUR', 5, 1, 2, 0.01],
    ['0.01 USD in yen', 1, 0.01, 4, 2],
    ['0.01 USD in EUR', 1, 0.01, 2, 0.01],
  ])('of an order: %s', async (_, product_id, denomination, wallet_id, amount) => {
    const world = await server.world()
    expect(await place(world, { product_id, denomination, quantity: 1, wallet_id })).toMatchObject({ amount })
    await expectUnbrokenChain(world)
  })

  test.each([
    ['0.001 KWD from EUR', 'KWD', 0.001, 2, 0.01],
    ['0.001 KWD from yen', 'KWD', 0.001, 4, 1],
    ['0.01 USD from yen', 'USD', 0.01, 4, 2],
    ['1 yen from USD', 'JPY', 1, 1, 0.01],
  ])('of a payout is returned as a credit above zero: %s', async (_, currency, amount, wallet_id, back) => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const { id } = await pay(world, { reference_id: 'least', wallet_id, amount, currency, ...PAYEE })
    await world.clock({ advance: 'PT5S' })
    expect((await world.control(`/payouts/${id}/return`)).status).toBe(200)
    expect((await getPayout(world, id)).status).toBe('completed')
    expect((await transactionsOf(world)).filter(({ source_type }) => source_type === 'refund')).toMatchObject([
      { amount: back, transaction_type: 'CREDIT' },
    ])
    await expectUnbrokenChain(world)
  })
})
