// Runs in process alone: it reads what no response tells.

import { describe, expect, test } from 'bun:test'
import { memoryOf } from '../../src/sandbox/worlds/memory.ts'
import { forFile, openProgram } from '../harness.ts'
import { ADA, getOrder, getPayout, INSTANT, pay, place, START } from '../records.ts'
import { expectSoundBooks } from '../wallets/books.ts'

/** A world that nobody asks goes to sleep, and nobody who asks it then can tell. */

/** More ticks than a world stays awake for. */
const LONG = 11

describe('A suspended world', () => {
  const program = forFile(openProgram())

  /** Ticks until the worlds of the program have all had the time to fall asleep. */
  const rest = (): void => {
    for (let tick = 0; tick < LONG; tick++) program.worlds.rest()
  }

  test('works as before: rows, tokens, cached charges, due work, faults and request log', async () => {
    const { client, world } = await program.open(START)
    const charge = () => client.post('/api/v1/products/1/charges', { denomination: 100, quantity: 1 })
    const { id } = await pay(client)
    await place(client, { ...INSTANT, quantity: 6 })
    await client.control('/faults', { error: 'countries.not_found', times: 1 })
    const first = await (await charge()).text()
    const image = world.db.image()
    rest()
    const again = await charge()
    expect(again.headers.get('x-cache')).toBe('HIT')
    expect(await again.text()).toBe(first)
    expect(Buffer.compare(world.db.image(), image)).toBe(0)
    rest()
    expect((await client.get('/api/v1/countries/1')).status).toBe(404)
    await client.clock({ advance: 'PT30M' })
    rest()
    expect(await getPayout(client, id)).toMatchObject({ status: 'completed' })
    expect(await getOrder(client, 1)).toMatchObject({ status: 'DELIVERED' })
    const requests = (await (await client.request(`/_sandbox/requests?world=${client.name}`)).json()) as {
      path: string
      changes: unknown[]
    }[]
    expect(requests.map(({ path }) => path)).toContain('/api/v1/payouts')
    expectSoundBooks(world.db.sqlite)
  })

  test('logs row changes as before', async () => {
    const { client } = await program.open(START)
    const save = async () => (await (await client.post('/api/v1/beneficiaries', ADA)).json()) as { id: string }
    await save()
    rest()
    const { id } = await save()
    const requests = (await (await client.request(`/_sandbox/requests?world=${client.name}`)).json()) as {
      changes: { key: string }[]
    }[]
    expect(requests[0]?.changes.map(({ key }) => key)).toEqual([id])
  })

  test('can be copied, restored and deleted', async () => {
    const { client } = await program.open(START)
    await client.post('/api/v1/beneficiaries', ADA)
    rest()
    const control = (method: string, path: string, body?: object) =>
      client.request(`/_sandbox${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
    expect((await control('PUT', '/worlds/of-the-sleeper', { from: client.name })).status).toBe(200)
    rest()
    expect((await control('POST', `/reset?world=${client.name}`)).status).toBe(200)
    rest()
    expect((await control('DELETE', `/worlds/${client.name}`)).status).toBe(204)
    expect((await control('DELETE', '/worlds/of-the-sleeper')).status).toBe(204)
  })
})

describe('A world with occasional requests', () => {
  test('is not suspended, and neither is the default world', async () => {
    await using program = openProgram()
    const { client, world } = await program.open(START)
    const connections = () => [world, program.worlds.default].map(({ db }) => db)
    const awake = connections()
    for (let tick = 0; tick < 2 * LONG; tick++) {
      program.worlds.rest()
      if (tick % 5 === 0) await client.get('/api/v1/wallets')
    }
    expect(connections()).toEqual(awake)
  })

  test('has a new connection after it was suspended', async () => {
    await using program = openProgram()
    const { world } = await program.open(START)
    const awake = world.db
    for (let tick = 0; tick < LONG; tick++) program.worlds.rest()
    expect(world.db).not.toBe(awake)
  })
})

describe('Many idle worlds', () => {
  test('are all suspended soon, some of them with each tick, between which requests are served', async () => {
    await using program = openProgram()
    const opened = await Promise.all(Array.from({ length: 60 }, () => program.open()))
    const memoryBytes = () => opened.reduce((sum, { world }) => sum + memoryOf(world), 0)
    const [awakeBytes, used] = [memoryBytes(), opened[59]]
    for (let tick = 0; tick < LONG; tick++) program.worlds.rest()
    const awake = used?.world.db // used again before its turn has come
    for (let tick = 0; tick < 3; tick++) program.worlds.rest()
    expect(memoryBytes()).toBeLessThan(awakeBytes / 10)
    expect(used?.world.db).toBe(awake as never)
    for (const { client } of opened.slice(0, 3)) expect((await client.get('/api/v1/wallets')).status).toBe(200)
  })
})
