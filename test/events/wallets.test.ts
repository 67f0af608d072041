import { describe, expect, test } from 'bun:test'
import { invalid, notFound } from '../errors.ts'
import { sharedServer, type TestWorld, testIn } from '../harness.ts'
import type { PublishedEvent } from '../records.ts'
import { INSTANT, NOON, place } from '../records.ts'
import { eventsOf, storyOf } from './events.ts'

const server = await sharedServer()

const atNoon = testIn(() => server.world(NOON))
const patch = (world: TestWorld, id: number, body: object): Promise<Response> =>
  server.request(`/_sandbox/wallets/${id}?world=${world.name}`, { method: 'PATCH', body: JSON.stringify(body) })
const fund = async (world: TestWorld, amount: number): Promise<void> => {
  expect((await world.control('/wallets/1/fund', { amount })).status).toBe(200)
}
const lowOf = (world: TestWorld) => storyOf(world, '&type=wallet.low')

describe('A wallet', () => {
  test('of a new world has no events', async () => {
    expect(await eventsOf(await server.world(NOON))).toEqual([])
  })

  atNoon('that is funded is credited, and the event has the wallet as its GET returns it', async (world) => {
    await fund(world, 12.5)
    expect(await eventsOf(world)).toEqual([
      {
        id: expect.any(String),
        type: 'wallet.credited',
        created_at: NOON,
        data: await world.read<PublishedEvent['data']>('/api/v1/wallets/1'),
      },
    ])
  })
})

describe('PATCH /_sandbox/wallets/{id}', () => {
  atNoon('sets the threshold of a wallet', async (world) => {
    const response = await patch(world, 1, { threshold: 500.25 })
    expect([response.status, await response.json()]).toEqual([
      200,
      { id: 1, currency: 'USD', amount: 100_000, threshold: 500.25 },
    ])
    expect(await eventsOf(world)).toEqual([])
  })

  atNoon('reports a wallet once that falls below it, and again after it has recovered', async (world) => {
    const { amount } = await place(world, INSTANT)
    await patch(world, 1, { threshold: 100_000 - amount })
    expect(await lowOf(world)).toEqual([])
    await place(world, INSTANT)
    await place(world, INSTANT)
    expect(await lowOf(world)).toEqual([`wallet.low ${100_000 - 2 * amount}`])
    await fund(world, 2 * amount)
    await place(world, INSTANT)
    expect(await lowOf(world)).toHaveLength(2)
  })

  test('reports a wallet at once that is below it already, and once for all thresholds until it has recovered', async () => {
    const world = await server.world(NOON)

    for (const threshold of [100_000.01, 200_000]) await patch(world, 1, { threshold })
    await place(world, INSTANT)
    expect(await lowOf(world)).toEqual(['wallet.low 100000'])
  })

  atNoon('takes the threshold away with null', async (world) => {
    await patch(world, 1, { threshold: 99_999 })
    const response = await patch(world, 1, { threshold: null })
    expect(await response.json()).toMatchObject({ threshold: null })
    await place(world, { ...INSTANT, quantity: 5 })
    expect(await lowOf(world)).toEqual([])
  })

  test.each([
    [{ threshold: '5' }, 'number', 'must be a number'],
    [{ threshold: 0.001 }, 'format', 'must have at most the 2 decimals of USD'],
    [{ threshold: -0.01 }, 'min', 'must be at least 0'],
    [{ threshold: 1e12 }, 'max', 'must be at most 1000000000'],
  ])('400 refuses %p', async (body, rule, problem) => {
    const world = await server.world(NOON)
    const response = await patch(world, 1, body)
    const message = `The threshold field ${problem}.`
    expect([response.status, await response.json()]).toEqual([
      400,
      invalid({ threshold: [{ rule, field: 'threshold', message }] }),
    ])
  })

  test('404 for an unknown wallet', async () => {
    const response = await patch(await server.world(NOON), 99, { threshold: 1 })
    expect([response.status, await response.json()]).toEqual([404, notFound('Wallet not found')])
  })
})
