import { describe, expect, test } from 'bun:test'
import { sharedServer, type TestWorld, testIn } from '../harness.ts'
import type { PublishedEvent } from '../records.ts'
import { INSTANT, NOON, pay, place } from '../records.ts'
import { EVENTS, eventsOf } from './events.ts'

const server = await sharedServer()

const atNoon = testIn(() => server.world(NOON))
const busy = async (): Promise<TestWorld> => {
  const world = await server.world(NOON)
  await place(world, INSTANT)
  await pay(world)
  await world.clock({ advance: 'PT10S' })
  return world
}

describe('GET /api/v1/events', () => {
  test('lists the events of the client, the newest first, 20 a page', async () => {
    const world = await busy()
    const all = (await eventsOf(world)).reverse()
    expect(all).toHaveLength(10)
    const response = await world.get(`${EVENTS}?page=2&limit=4`)
    expect(await response.json()).toEqual(all.slice(4, 8))
    const headers = ['x-page', 'x-per-page', 'x-total-count', 'x-total-pages']
    expect(headers.map((name) => response.headers.get(name))).toEqual(['2', '4', '10', '3'])
    expect((await world.get(EVENTS)).headers.get('x-per-page')).toBe('20')
  })

  test.each([
    ['order.*', ['order.delivered', 'order.created']],
    ['wallet.debited', ['wallet.debited', 'wallet.debited']],
    ['payout.c*', undefined],
    ['ping', []],
    ['order.returned', undefined],
    ['', undefined],
  ])('filters by type %p', async (type, expected) => {
    const world = await busy()
    const response = await world.get(`${EVENTS}?type=${encodeURIComponent(type)}`)
    expect(response.status).toBe(expected ? 200 : 400)
    if (!expected) return
    expect(((await response.json()) as PublishedEvent[]).map((event) => event.type)).toEqual(expected)
    expect(response.headers.get('x-total-count')).toBe(String(expected.length))
  })

  test('filters by time, both ends included', async () => {
    const world = await busy()
    const [from, to] = ['2030-01-01T12:00:02.000Z', '2030-01-01T12:00:04.000Z']
    const events = await eventsOf(world, `&created_from=${from}&created_to=${to}`)
    expect(events.map(({ type }) => type)).toEqual(['payout.processing', 'payout.submitted', 'payout.settling'])
  })
})

describe('GET /api/v1/events/{id}', () => {
  test('200 is the event as it is listed', async () => {
    const world = await busy()
    for (const event of await eventsOf(world)) {
      expect(await (await world.get(`${EVENTS}/${event.id}`)).json()).toEqual(event)
    }
  })
})

describe('Events', () => {
  test('are kept for 30 days by the clock of the world', async () => {
    const world = await busy()
    await world.clock({ now: '2030-01-31T12:00:00.000Z' })
    const kept = await (await world.again()).get(EVENTS)
    expect(kept.headers.get('x-total-count')).toBe('5')
    await world.clock({ advance: 'PT5S' })
    const gone = await (await world.again()).get(EVENTS)
    expect([gone.headers.get('x-total-count'), await gone.json()]).toEqual(['0', []])
  })

  atNoon('are taken back with the change that they report', async (world) => {
    const response = await world.post('/api/v1/payouts', {
      reference_id: 'x',
      wallet_id: 1,
      amount: 1e8,
      currency: 'USD',
    })
    expect(response.status).toBe(400)
    expect(await eventsOf(world)).toEqual([])
  })
})

describe('POST /_sandbox/clock', () => {
  const move = async (world: TestWorld, body: object) => {
    const response = await world.control('/clock', body)
    return (await response.json()) as { now: string; frozen: boolean; happened: PublishedEvent[] }
  }

  atNoon('returns the events of due work', async (world) => {
    await pay(world)
    const { happened, ...clock } = await move(world, { advance: 'PT3S' })
    expect(clock).toEqual({ now: '2030-01-01T12:00:03.000Z', frozen: true })
    expect(happened).toEqual((await eventsOf(world)).slice(2))
    expect(happened.map(({ type }) => type)).toEqual(['payout.queued', 'payout.processing', 'payout.submitted'])
  })

  atNoon('and those that the same jump has deleted after 30 days', async (world) => {
    await pay(world)
    const { happened } = await move(world, { advance: 'P60D' })
    expect(happened.map(({ type }) => type).at(-1)).toBe('payout.completed')
    expect(await eventsOf(await world.again())).toEqual([])
  })

  atNoon('returns none without due work, and GET never does due work', async (world) => {
    expect((await move(world, { advance: 'PT3S' })).happened).toEqual([])
    await pay(world)
    const read = await server.request(`/_sandbox/clock?world=${world.name}`)
    expect(await read.json()).toMatchObject({ happened: [] })
  })
})
