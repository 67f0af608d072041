import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { badRequest } from '../errors.ts'
import { type Server, sharedServer, startServer, testIn } from '../harness.ts'
import { temporaryFolder } from '../program.ts'
import { countOf, getOrder, INSTANT, ORDERS, type Order, place } from '../records.ts'
import { balanceOf, expectUnbrokenChain, movementsOf } from '../wallets/balances.ts'

/** Nothing is bought twice, no card is sold twice, and no code is stored in plain text. */

const server = await sharedServer()
const inWorld = testIn(() => server.world())

const KEY = { 'idempotency-key': 'order-4711' }

describe('Idempotency-Key on orders', () => {
  inWorld('returns the same order with status 200 and the same bytes, and buys nothing', async (world) => {
    const first = await world.post(ORDERS, INSTANT, KEY)
    const bytes = await first.text()
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
    const second = await world.post(ORDERS, { quantity: 1, denomination: 50.0, product_id: 2 }, KEY)
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(await second.text()).toBe(bytes)
    expect(await countOf(world, ORDERS)).toBe(1)
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_952, reserved: 0 })
  })

  test('replays a pending order unchanged, whatever its status is now', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const sent = { ...INSTANT, quantity: 6 }
    const placed = (await (await world.post(ORDERS, sent, KEY)).json()) as Order
    await world.clock({ advance: 'PT10S' })
    expect((await getOrder(world, 1)).status).toBe('DELIVERED')
    expect(await (await world.post(ORDERS, sent, KEY)).json()).toEqual(placed)
    expect(await movementsOf(world)).toHaveLength(1)
  })
})

describe('a wallet that covers exactly k of many orders at once', () => {
  inWorld('pays for k, refuses the rest, and ends at zero', async (world) => {
    // 98 USD are left: two cards of 48 and 2 USD over.
    await place(world, { product_id: 2, denomination: 500, quantity: 100, wallet_id: 1 })
    await place(world, { product_id: 2, denomination: 500, quantity: 100, wallet_id: 1 })
    await place(world, { product_id: 2, denomination: 400, quantity: 9, wallet_id: 1 })
    expect((await balanceOf(world, 1)).amount).toBe(544)
    const responses = await Promise.all(Array.from({ length: 200 }, () => world.post(ORDERS, INSTANT)))
    const bought = responses.filter(({ status }) => status === 200)
    expect(bought).toHaveLength(11)
    for (const response of responses.filter(({ status }) => status !== 200)) {
      expect([response.status, await response.json()]).toEqual([400, badRequest('Insufficient wallet balance')])
    }
    expect((await balanceOf(world, 1)).amount).toBe(16)
    expect(await countOf(world, ORDERS)).toBe(3 + 11)
    await expectUnbrokenChain(world)
  })
})

describe('a voucher at rest', () => {
  test('is encrypted: no file of the data folder contains its code, and it can be decrypted after a restart', async () => {
    using temporary = temporaryFolder()
    const folder = temporary.path
    const started = () => startServer('--rate-limit', 'off', '--data-dir', folder)
    const loggedIn = async (from: Server) => {
      const login = await from.request('/auth/login', {
        method: 'POST',
        body: JSON.stringify({ username: 'sandbox', password: 'sandbox' }),
      })
      const { access_token } = (await login.json()) as { access_token: string }
      return (path: string, init?: RequestInit) =>
        from.request(path, { ...init, headers: { ...init?.headers, authorization: `Bearer ${access_token}` } })
    }
    const filesHolding = (text: string) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && readFileSync(join(folder, entry.name)).includes(text))
        .map(({ name }) => name)

    const first = await started()
    const ask = await loggedIn(first)
    const purchase = {
      method: 'POST',
      headers: { 'idempotency-key': 'sealed-too' },
      body: JSON.stringify({ ...INSTANT, quantity: 5, ref: 'in-clear' }),
    }
    const placed = await ask(ORDERS, purchase)
    const order = (await placed.json()) as Order
    expect(order.vouchers).toHaveLength(5)
    const secrets = order.vouchers.flatMap(({ card_number, claim_url }) => [card_number ?? '', claim_url ?? ''])
    expect(filesHolding('in-clear').length).toBeGreaterThan(0)
    for (const secret of secrets) expect(filesHolding(secret)).toEqual([])
    await first.stop()
    expect(filesHolding('in-clear').length).toBeGreaterThan(0)
    for (const secret of secrets) expect(filesHolding(secret)).toEqual([])

    const second = await started()
    const askAgain = await loggedIn(second)
    expect(await (await askAgain(`${ORDERS}/${order.id}`)).json()).toEqual(order)
    expect(await (await askAgain(ORDERS, purchase)).json()).toEqual(order)
    await second.stop()
  })
})
