import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bearer, inFolder, login, type Pair, type Running, run, start } from '../program.ts'
import type { Order } from './live.ts'

/** Kills a sandbox while named worlds are written, copied, replaced and dropped, and checks every acknowledged write. */

/** More of them: `TEST_ROUNDS=50 npm test -- crash`. */
const ROUNDS = Number(process.env.TEST_ROUNDS ?? 2)
/** The number of acknowledged writes before the kill: another one each round, so that the kill hits elsewhere. */
const acknowledgedBeforeKill = (round: number): number => 15 + round * 11

const open = async (program: Running, name: string): Promise<Pair> => {
  const response = await login(program, `sbx_${name}`, 'a password')
  expect(response.status).toBe(200)
  return (await response.json()) as Pair
}

/** The writes that each of the two worlds has acknowledged. */
class Acknowledged {
  readonly orders: Order[] = []
  readonly people: string[] = []
}

const write = async (program: Running, pair: Pair, acknowledged: Acknowledged): Promise<void> => {
  const post = (path: string, body: object) =>
    program.request(`/api/v1/${path}`, { method: 'POST', ...bearer(pair), body: JSON.stringify(body) })
  const order = await post('orders', { product_id: 1, denomination: 100, quantity: 1 })
  expect(order.status).toBe(200)
  acknowledged.orders.push((await order.json()) as Order)
  const person = await post('beneficiaries', { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
  expect(person.status).toBe(201)
  const { id: beneficiary_id } = (await person.json()) as { id: string }
  acknowledged.people.push(beneficiary_id)
  const payout = { reference_id: beneficiary_id, wallet_id: 1, amount: 1.5, currency: 'EUR', beneficiary_id }
  expect((await post('payouts', payout)).status).toBe(201)
}

/** Makes, copies, saves, restores, resets and drops other worlds until the server is gone. */
const disturb = async (program: Running, round: number): Promise<void> => {
  const control = (method: string, path: string, body?: object) =>
    program.request(`/_sandbox${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
  for (let step = 0; ; step++) {
    const name = `scratch-${step % 3}`
    const responses = [
      await control('PUT', `/worlds/${name}`, { from: 'one' }),
      await control('PUT', `/snapshots/saved-${step % 2}?world=two`),
      await control('POST', `/snapshots/saved-${step % 2}/restore?world=${name}`),
      await control('POST', `/reset?world=${name}`),
      await control('PUT', `/worlds/round-${round}-${step}`),
      await control('DELETE', `/worlds/${name}`),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 204])
  }
}

/** Resolves when the server is gone. @throws an assertion that failed before */
const untilGone = async (work: Promise<void>): Promise<void> => {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && /^(?:ECONN|Connection)/.test(String(error.code)))) throw error
  }
}

const storm = async (program: Running, round: number, worlds: Map<string, Acknowledged>): Promise<void> => {
  const opened = await Promise.all(
    [...worlds].map(async ([name, acknowledged]) => [await open(program, name), acknowledged] as const),
  )
  const count = () => [...worlds.values()].reduce((sum, { people }) => sum + people.length, 0)
  const killAt = count() + acknowledgedBeforeKill(round)
  const writers = opened.map(async ([pair, acknowledged]) => {
    for (;;) {
      await write(program, pair, acknowledged)
      if (count() >= killAt) program.signal('SIGKILL')
    }
  })
  await Promise.all([...writers, disturb(program, round)].map(untilGone))
  await program.ended()
}

const expectAllKept = async (program: Running, name: string, { orders, people }: Acknowledged): Promise<void> => {
  const client = bearer(await open(program, name))
  const cards = new Set<string>()
  for (const order of orders) {
    const kept = await program.request(`/api/v1/orders/${order.id}`, client)
    expect((await kept.json()) as Order).toMatchObject({ ...order })
    for (const { card_number } of order.vouchers) cards.add(card_number)
  }
  expect(cards.size).toBe(orders.length)
  for (const id of people) {
    expect((await program.request(`/api/v1/beneficiaries/${id}`, client)).status).toBe(200)
  }
  // Due work that the kill has interrupted is done.
  const advance = JSON.stringify({ advance: 'PT10S' })
  expect((await program.request(`/_sandbox/clock?world=${name}`, { method: 'POST', body: advance })).status).toBe(200)
  for (const status of ['created', 'processing']) {
    const open = await program.request(`/api/v1/payouts?status=${status}`, client)
    expect(open.headers.get('x-total-count')).toBe('0')
  }
}

test(
  'kill -9 while named worlds are written and replaced loses no acknowledged write, and every file is sound',
  () =>
    inFolder(async (folder) => {
      const dataDir = join(folder, 'data')
      const flags = ['--data-dir', dataDir, '--rate-limit', 'off', '--log-level', 'error']
      const worlds = new Map([
        ['one', new Acknowledged()],
        ['two', new Acknowledged()],
      ])
      for (let round = 0; round < ROUNDS; round++) {
        await storm(await start(flags), round, worlds)
        const program = await start(flags)
        expect(readdirSync(join(dataDir, 'worlds')).filter((file) => file.startsWith('.staged'))).toEqual([])
        const listed = (await (await program.request('/_sandbox/worlds')).json()) as { name: string }[]
        expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(['default', 'one', 'two']))
        for (const [name, acknowledged] of worlds) await expectAllKept(program, name, acknowledged)
        for (const { name } of (await (await program.request('/_sandbox/snapshots')).json()) as { name: string }[]) {
          const restored = await program.request(`/_sandbox/snapshots/${name}/restore?world=round`, { method: 'POST' })
          expect([200, 404]).toContain(restored.status)
        }
        const { exitCode, stderr } = await program.stop()
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
        const verified = await run(['verify', '--data-dir', dataDir])
        expect(verified).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('is sound') })
      }
    }),
  120_000,
)
