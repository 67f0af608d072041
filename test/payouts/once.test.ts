import { describe, expect, test } from 'bun:test'
import { fileOf } from '../catalog/entry.ts'
import { type Server, sharedServer, startServer, testIn } from '../harness.ts'
import { temporaryFolder } from '../program.ts'
import type { Transaction } from '../records.ts'
import { countOf, HUNDRED, PAYOUTS, type Payout } from '../records.ts'
import { balanceOf, movementsOf } from '../wallets/balances.ts'

/** Nothing is paid twice or without balance, and a refund equals the payment. */

const server = await sharedServer()
const inWorld = testIn(() => server.world())

const KEY = { 'idempotency-key': 'payout-4711' }
const badRequest = (message: string) => ({ error: 'BadRequest', message })

describe('Idempotency-Key on payouts', () => {
  test('returns the same payout with status 201 and the same bytes, and pays nothing', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const first = await world.post(PAYOUTS, HUNDRED, KEY)
    const bytes = await first.text()
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
    await world.clock({ advance: 'PT10S' })
    const second = await world.post(PAYOUTS, HUNDRED, KEY)
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(await second.text()).toBe(bytes)
    expect(second.headers.get('location')).toBe(String(first.headers.get('location')))
    expect(await countOf(world, PAYOUTS)).toBe(1)
    expect(await balanceOf(world, 1)).toEqual({ amount: 99_898.5, reserved: 0 })
  })

  inWorld('without it the reference_id prevents a duplicate payout', async (world) => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => world.post(PAYOUTS, HUNDRED)))
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(400)])
    const refused = responses.find(({ status }) => status === 400)
    expect(await refused?.json()).toEqual(badRequest('Duplicate reference_id'))
    expect(await movementsOf(world)).toHaveLength(1)
  })
})

describe('after the rates have changed', () => {
  test('a refund equals the payment, and new payouts use the new rates', async () => {
    using temporary = temporaryFolder()
    const folder = temporary.path
    const started = (rate: string) =>
      startServer('--data-dir', folder, '--rates', fileOf({ base: 'USD', rates: { EUR: rate } }))
    const loggedIn = async (running: Server) => {
      const credentials = JSON.stringify({ username: 'sandbox', password: 'sandbox' })
      const login = await running.request('/auth/login', { method: 'POST', body: credentials })
      const { access_token } = (await login.json()) as { access_token: string }
      const ask = async <Body>(path: string, init?: RequestInit): Promise<Body> => {
        const response = await running.request(path, { ...init, headers: { authorization: `Bearer ${access_token}` } })
        return (await response.json()) as Body
      }
      const send = <Body>(path: string, body?: object) =>
        ask<Body>(path, { method: 'POST', ...(body && { body: JSON.stringify(body) }) })
      return { ask, send }
    }

    const before = await started('0.92')
    // Far ahead, so that no work is due once the clock runs again.
    const ahead = JSON.stringify({ now: '2090-01-01T00:00:00Z', frozen: true })
    await before.request('/_sandbox/clock', { method: 'POST', body: ahead })
    const then = await loggedIn(before)
    const payout = await then.send<Payout>(PAYOUTS, { ...HUNDRED, wallet_id: 2 })
    const purchase = { product_id: 2, denomination: 50, quantity: 6, wallet_id: 2 }
    const order = await then.send<{ id: number; amount: number }>('/api/v1/orders', purchase)
    expect([payout.status, order.amount]).toEqual(['created', 266.28])
    await before.stop()

    const after = await started('0.55')
    const now = await loggedIn(after)
    expect(await now.send(`${PAYOUTS}/${payout.id}/cancel`)).toMatchObject({ status: 'cancelled' })
    expect(await now.send(`/api/v1/orders/${order.id}/cancel`)).toMatchObject({ status: 'CANCELLED' })
    const movements = await now.ask<Transaction[]>('/api/v1/transactions?wallet_id=2')
    expect(movements.map(({ transaction_type, amount, forex_rate }) => [transaction_type, amount, forex_rate])).toEqual(
      [
        ['CREDIT', 266.28, 0.92],
        ['CREDIT', 93.85, 0.92],
        ['DEBIT', 266.28, 0.92],
        ['DEBIT', 93.85, 0.92],
        ['CREDIT', 100_000, null],
      ],
    )
    expect(await now.ask('/api/v1/wallets/2')).toMatchObject({ amount: 100_000, reserved_amount: 0 })
    // 101.5 USD at 0.55 are 55.83 EUR (55.825), and 0.28 for converting.
    await now.send(PAYOUTS, { ...HUNDRED, reference_id: 'later', wallet_id: 2 })
    expect(await now.ask('/api/v1/wallets/2')).toMatchObject({ amount: 99_943.89, reserved_amount: 56.11 })
    await after.stop()
  })
})
