import { afterEach, describe, expect, test } from 'bun:test'
import { parseDuration } from '../../src/sandbox/worlds/movable-clock.ts'
import { clockOf } from '../../src/sandbox/worlds/state.ts'
import type { World } from '../../src/work/world.ts'
import { forFile, openProgram, sharedServer } from '../harness.ts'
import { ADA, getOrder, getPayout, HUNDRED, INSTANT, OVERNIGHT, pay, place, START } from '../records.ts'
import { expectSoundBooks, lastEntryOf } from '../wallets/books.ts'

/** Due work is done once, in order of due time, before anything later can be seen. */

const START_MS = Date.parse(START)
const at = (second: number) => new Date(START_MS + second * 1_000).toISOString()

/** The movements of the ledger in their order, each with its time and its record. */
const doneIn = (world: World, since: number) =>
  world.db.sqlite
    .query<{ source: string; at: number }, [number]>(
      "SELECT source_type || ' ' || source_id AS source, created_at_ms AS at FROM journal_entries WHERE id > ? ORDER BY id",
    )
    .all(since)
    .map(({ source, at: atMs }) => [source, (atMs - START_MS) / 1_000] as const)

/** Lets time pass without a request, which would do the due work. */
const pass = (world: World, time: string): void =>
  clockOf(world).set(world.clock.nowMs() + (parseDuration(time) ?? Number.NaN))

describe('in process', () => {
  const logged: string[] = []
  const program = forFile(openProgram({ write: (line) => logged.push(line) }))
  afterEach(() => expect(logged.splice(0)).toEqual([]))

  test('orders and payouts are processed in order of their due times', async () => {
    const { client, world } = await program.open(START)
    // Due to end at 5, 5.5, 6 and 6.5 s, orders and payouts in turn.
    const { id: first } = await pay(client, { ...HUNDRED, reference_id: 'first' })
    await client.clock({ advance: 'PT0.5S' })
    await place(client, { ...INSTANT, quantity: 6 })
    await client.clock({ advance: 'PT0.5S' })
    const { id: second } = await pay(client, { ...HUNDRED, reference_id: 'second' })
    await client.clock({ advance: 'PT0.5S' })
    await place(client, OVERNIGHT)
    const last = lastEntryOf(world.db.sqlite)
    await client.clock({ advance: 'PT30M' })
    await client.get('/api/v1/wallets')
    expect(doneIn(world, last)).toEqual([
      [`payout ${first}`, 5],
      ['order 1', 5.5],
      [`payout ${second}`, 6],
      ['order 2', 6.5],
    ])
    expectSoundBooks(world.db.sqlite)
  })

  test('a step that fails is set aside and logged, and neither reads nor the steps of others stop', async () => {
    const { client, world } = await program.open(START)
    const { id: broken } = await pay(client, { ...HUNDRED, reference_id: 'broken' })
    const { id: sound } = await pay(client, { ...HUNDRED, reference_id: 'sound' })
    world.db.sqlite.run("UPDATE payouts SET due_event = 'x', due_at_ms = 0 WHERE id = ?", [broken])
    pass(world, 'PT30M')
    const list = await client.get('/api/v1/payouts')
    expect(list.status).toBe(200)
    expect(logged.splice(0)).toEqual([expect.stringContaining(broken)])
    expect((await getPayout(client, sound)).status).toBe('completed')
    expect((await client.post('/api/v1/beneficiaries', ADA)).status).toBe(201)
    expect((await getPayout(client, broken)).status).toBe('created')
  })

  test('a write whose body arrives late follows the work that became due', async () => {
    const { client, world } = await program.open(START)
    const { id } = await pay(client)
    const last = lastEntryOf(world.db.sqlite)
    const arrives = Promise.withResolvers<void>()
    const body = new ReadableStream({
      start: async (controller) => {
        await arrives.promise
        controller.enqueue(new TextEncoder().encode(JSON.stringify({ ...INSTANT, quantity: 6 })))
        controller.close()
      },
    })
    const response = client.request('/api/v1/orders', { method: 'POST', body })
    pass(world, 'PT10S')
    arrives.resolve()
    expect((await response).status).toBe(200)
    expect(doneIn(world, last)).toEqual([
      [`payout ${id}`, 5],
      ['order 1', 10],
    ])
  })

  test('two thousand transitions in one jump each happen once, at their due times', async () => {
    const { client, world } = await program.open(START)
    const COUNT = 400
    const ids: string[] = []
    for (let index = 0; index < COUNT; index++) {
      const { id } = await pay(client, { ...HUNDRED, amount: 1, reference_id: `r${index}` })
      ids.push(id)
      if (index % 100 === 99) pass(world, 'PT0.01S')
    }
    const last = lastEntryOf(world.db.sqlite)
    pass(world, 'P30D')
    const awake = await client.again()
    // All of these wait for the same steps, and none does one again.
    const responses = await Promise.all(ids.slice(0, 20).map((id) => getPayout(awake, id)))
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill('completed'))
    const events = world.db.sqlite
      .query<{ event: string; n: number; payouts: number; first: number; last: number }, []>(
        `SELECT event_type AS event, count(*) AS n, count(DISTINCT payout_id) AS payouts,
           min(created_at_ms) AS first, max(created_at_ms) AS last FROM payout_events GROUP BY event_type ORDER BY first`,
      )
      .all()
      .map(({ event, n, payouts, first, last: lastMs }) => [event, n, payouts, first - START_MS, lastMs - START_MS])
    expect(events).toEqual([
      ['created', COUNT, COUNT, 0, 30],
      ['queued', COUNT, COUNT, 1_000, 1_030],
      ['processing', COUNT, COUNT, 2_000, 2_030],
      ['submitted', COUNT, COUNT, 3_000, 3_030],
      ['settling', COUNT, COUNT, 4_000, 4_030],
      ['completed', COUNT, COUNT, 5_000, 5_030],
    ])
    // Events are kept in the order in which they happened, across all payouts.
    const disorder = world.db.sqlite
      .query(
        'SELECT a.id FROM payout_events a JOIN payout_events b ON b.id = a.id + 1 WHERE b.created_at_ms < a.created_at_ms',
      )
      .all()
    expect(disorder).toEqual([])
    const done = doneIn(world, last)
    expect(done.map(([source]) => source)).toEqual(ids.map((id) => `payout ${id}`))
    expectSoundBooks(world.db.sqlite)
  })
})

const server = await sharedServer()

describe('over HTTP', () => {
  test('any request triggers due work, also a refused one, one of another client and an unknown route', async () => {
    for (const wake of ['/api/v1/wallets/x', '/api/v1/orders', '/api/v1/nowhere']) {
      const world = await server.world(START)
      await place(world, { ...INSTANT, quantity: 6 })
      await world.clock({ advance: 'PT5S' })
      expect((await (await world.limited()).get(wake)).status).toBeGreaterThanOrEqual(400)
      expect(await getOrder(world, 1)).toMatchObject({ status: 'DELIVERED', delivered_at: at(5) })
    }
  })
})
