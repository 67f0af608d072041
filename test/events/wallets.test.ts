import { describe, expect, test } from 'bun:test'
import { sharedServer, structured, type TestWorld } from '../harness.ts'
import { INSTANT, place } from '../orders/orders.ts'
import { type EventBody, eventsOf, storyOf } from './events.ts'

const server = await sharedServer()

const NOON = '2030-01-01T12:00:00.000Z'
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

  test('that is funded is credited, and the event has the wallet as its GET returns it', async () => {
    const world = await server.world(NOON)
    await fund(world, 12.5)
    expect(await eventsOf(world)).toEqual([
      {
        id: expect.any(String),
        type: 'wallet.credited',
        created_at: NOON,
        data: (await (await world.get('/api/v1/wallets/1')).json()) as EventBody['data'],
      },
    ])
  })
})

describe('PATCH /_sandbox/wallets/{id}', () => {
  test('sets the threshold of a wallet', async () => {
    const world = await server.world(NOON)
    const response = await patch(world, 1, { threshold: 500.25 })
    expect([response.status, await response.json()]).toEqual([
      200,
      { id: 1, currency: 'USD', amount: 100_000, threshold: 500.25 },
    ])
    expect(await eventsOf(world)).toEqual([])
  })

  test('reports a wallet once that falls below it, and again after it has recovered', async () => {
    const world = await server.world(NOON)
    const { amount } = await place(world, { ...INSTANT, quantity: 1 })
    await patch(world, 1, { threshold: 100_000 - amount })
    expect(await lowOf(world)).toEqual([])
    await place(world, { ...INSTANT, quantity: 1 })
    await place(world, { ...INSTANT, quantity: 1 })
    expect(await lowOf(world)).toEqual([`wallet.low ${100_000 - 2 * amount}`])
    await fund(world, 2 * amount)
    await place(world, { ...INSTANT, quantity: 1 })
    expect(await lowOf(world)).toHaveLength(2)
  })

  test('reports a wallet at once that is below it already, and once for all thresholds until it has recovered', async () => {
    const world = await server.world(NOON)
    for (const threshold of [100_000.01, 200_000]) await patch(world, 1, { threshold })
    await place(world, { ...INSTANT, quantity: 1 })
    expect(await lowOf(world)).toEqual(['wallet.low 100000'])
  })

  test('takes the threshold away with null', async () => {
    const world = await server.world(NOON)
    await patch(world, 1, { threshold: 99_999 })
    const response = await patch(world, 1, { threshold: null })
    expect(await response.json()).toMatchObject({ threshold: null })
    await place(world, { ...INSTANT, quantity: 5 })
    expect(await lowOf(world)).toEqual([])
  })

  test.each([
    [{ threshold: '5' }, 'number', 'must be a number'],
    [{ threshold: 0.001 }, 'format', 'must have at most the 2 decimals of USD'],
    [{ threshold: 1e12 }, 'max', 'must be at most 1000000000'],
  ])('400 refuses %p', async (body, rule, problem) => {
    const world = await server.world(NOON)
    const response = await patch(world, 1, body)
    const message = `The threshold field ${problem}.`
    expect([response.status, await response.json()]).toEqual([
      400,
      structured('ValidationException', 'VALIDATION_FAILURE', 'Input validation failed.', {
        threshold: [{ rule, field: 'threshold', message }],
      }),
    ])
  })

  test('404 for an unknown wallet', async () => {
    const response = await patch(await server.world(NOON), 99, { threshold: 1 })
    expect([response.status, await response.json()]).toEqual([
      404,
      structured('NotFoundError', 'NOT_FOUND', 'Wallet not found'),
    ])
  })
})
