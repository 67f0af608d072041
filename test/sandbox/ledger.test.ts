import { afterAll, describe, expect, test } from 'bun:test'
import type { Static } from '@sinclair/typebox'
import type { EntrySchema } from '../../src/wallets/ledger-entry.ts'
import { validation } from '../errors.ts'
import { type Server, startServer, type TestWorld } from '../harness.ts'
import { DELAYED, INSTANT, NOON, pay, place } from '../records.ts'
import { amountIn } from '../wallets/balances.ts'
import { control, succeed } from './surface.ts'

const server: Server = await startServer('--rate-limit', 'off', '--seed', '11')
afterAll(() => server.stop())

const ledgerOf = (world: TestWorld, query = '') =>
  succeed<Static<typeof EntrySchema>[]>(server, 'GET', `/ledger?world=${world.name}${query}`)

/** In minor units of two decimals, so that sums are exact. */
const cents = (amount: number): number => Math.round(amount * 100)
const sumOf = (lines: { amount: number }[]): number => lines.reduce((sum, { amount }) => sum + cents(amount), 0)

describe('GET /_sandbox/ledger', () => {
  test('200 returns the entries of the seeded wallets', async () => {
    const entries = await ledgerOf(await server.world())
    expect(entries.map(({ source_type }) => source_type)).toEqual(Array(5).fill('funding'))
    expect(entries.at(-1)).toEqual({
      id: 1,
      source_type: 'funding',
      source_id: null,
      created_at: '2026-01-01T00:00:00.000Z',
      lines: expect.arrayContaining([
        { account: 'wallet', wallet_id: 1, currency: 'USD', amount: 100_000 },
        { account: 'funding', wallet_id: null, currency: 'USD', amount: -100_000 },
      ]),
    })
  })

  test('has every movement, the newest first; the lines of an entry sum to zero', async () => {
    const world = await server.world(NOON)
    const order = await place(world, INSTANT)
    await place(world, DELAYED)
    const payout = await pay(world)
    const entries = await ledgerOf(world)
    expect(entries[0]).toMatchObject({ source_type: 'payout', source_id: payout.id, created_at: NOON })
    expect(entries.map(({ id }) => id)).toEqual(entries.map((_, index) => entries.length - index))
    expect(entries.filter(({ source_id }) => source_id === String(order.id)).length).toBeGreaterThan(0)
    for (const { lines } of entries) {
      for (const currency of new Set(lines.map((line) => line.currency))) {
        expect(sumOf(lines.filter((line) => line.currency === currency))).toBe(0)
      }
    }
  })

  test('adds up to the balances of the wallets, after due work', async () => {
    const world = await server.world(NOON)
    await place(world, { ...INSTANT, wallet_id: 1 })
    await pay(world)
    await world.clock({ advance: 'PT1M' })
    const entries = await ledgerOf(world)
    expect(entries.some(({ lines }) => lines.some(({ account }) => account === 'payouts'))).toBe(true)
    for (const walletId of [1, 2, 3, 4]) {
      const lines = entries.flatMap((entry) => entry.lines).filter(({ wallet_id }) => wallet_id === walletId)
      const spendable = lines.filter(({ account }) => account === 'wallet')
      expect(sumOf(spendable)).toBe(cents((await amountIn(world, walletId)) ?? 0))
    }
  })

  test('returns at most the limit, whatever the number of entries', async () => {
    const world = await server.world()
    for (let count = 0; count < 600; count++) {
      await succeed(server, 'POST', `/wallets/1/fund?world=${world.name}`, { amount: 1 })
    }
    expect(await ledgerOf(world)).toHaveLength(605)
    for (const limit of [1, 500, 501]) {
      expect((await ledgerOf(world, `&limit=${limit}`)).map(({ id }) => id)).toEqual(
        Array.from({ length: limit }, (_, index) => 605 - index),
      )
    }
  })

  test.each<[string, number, object]>([
    ['?limit=0', 400, validation('limit', 'min', 'must be at least 1')],
    ['?limit=10001', 400, validation('limit', 'max', 'must be at most 10000')],
  ])('%s is refused with %d', async (query, status, body) => {
    expect(await control(server, 'GET', `/ledger${query}`)).toMatchObject({ status, body })
  })
})
