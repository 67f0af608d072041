import { describe, expect, test } from 'bun:test'
import { sharedServer, startServer, type TestWorld, testIn } from '../harness.ts'
import { NOON } from '../records.ts'

const server = await sharedServer()

const atNoon = testIn(() => server.world(NOON))
const PURCHASE = { denomination: 100, quantity: 2 }

/** The header about the cache, and the body. */
const ask = async (client: TestWorld, body: unknown = PURCHASE, id = 1) => {
  const response = await client.post(`/api/v1/products/${id}/charges`, body)
  return { status: response.status, cache: response.headers.get('x-cache'), text: await response.text() }
}

describe('the cache of charges', () => {
  atNoon('returns the same bytes for 5 minutes, then calculates again', async (world) => {
    const first = await ask(world)
    expect(first).toMatchObject({ status: 200, cache: 'MISS' })
    expect(await ask(world)).toEqual({ ...first, cache: 'HIT' })
    await world.clock({ advance: 'PT4M59.999S' })
    expect(await ask(world)).toEqual({ ...first, cache: 'HIT' })
    await world.clock({ advance: 'PT0.001S' })
    expect(await ask(world)).toEqual({ ...first, cache: 'MISS' })
    expect(await ask(world)).toEqual({ ...first, cache: 'HIT' })
  })

  atNoon('a repeated request does not extend the 5 minutes', async (world) => {
    await ask(world)
    await world.clock({ advance: 'PT3M' })
    expect(await ask(world)).toMatchObject({ cache: 'HIT' })
    await world.clock({ advance: 'PT2M' })
    expect(await ask(world)).toMatchObject({ cache: 'MISS' })
  })

  atNoon('the same amount written differently gets the same response', async (world) => {
    expect(await ask(world, '{"denomination":100,"quantity":2}')).toMatchObject({ cache: 'MISS' })
    expect(await ask(world, '{ "quantity": 2.0, "denomination": 1e2 }')).toMatchObject({ cache: 'HIT' })
    expect(await ask(world, { ...PURCHASE, wallet_id: null, colour: 'red' })).toMatchObject({ cache: 'HIT' })
  })

  test.each<[string, object, number]>([
    ['another denomination', { denomination: 250, quantity: 2 }, 1],
    ['another quantity', { denomination: 100, quantity: 3 }, 1],
    ['a named wallet, even the one that pays anyway', { ...PURCHASE, wallet_id: 3 }, 1],
    ['another wallet', { ...PURCHASE, wallet_id: 1 }, 1],
    ['another product', PURCHASE, 6],
  ])('%s is a different request', async (_, body, id) => {
    const world = await server.world(NOON)
    const first = await ask(world)
    expect(await ask(world, body, id)).toMatchObject({ status: 200, cache: 'MISS' })
    expect(await ask(world, body, id)).toMatchObject({ status: 200, cache: 'HIT' })
    expect(await ask(world)).toEqual({ ...first, cache: 'HIT' })
  })

  atNoon('clients and worlds do not share cached charges', async (world) => {
    await ask(world)
    const limited = await world.limited()
    const theirs = await ask(limited)
    expect(theirs).toMatchObject({ status: 200, cache: 'MISS' })
    expect(JSON.parse(theirs.text)).toMatchObject({ charges_details: { destination_currency: 'USD' } })
    expect(await ask(world)).toMatchObject({ cache: 'HIT' })
    expect(await ask(await server.world(NOON))).toMatchObject({ cache: 'MISS' })
  })

  test.each<[string, object, number]>([
    ['an unknown wallet', { ...PURCHASE, wallet_id: 999 }, 400],
    ['a denomination that is not offered', { denomination: 101, quantity: 1 }, 404],
    ['a quantity above the maximum', { denomination: 100, quantity: 51 }, 400],
  ])('an error is never cached: %s', async (_, body, status) => {
    const world = await server.world(NOON)
    for (let times = 0; times < 2; times++) {
      const response = await ask(world, body)
      expect(response.status).toBe(status)
      expect(response.cache).not.toBe('HIT')
    }
  })
})

test('--charge-ttl sets the duration', async () => {
  const brief = await startServer('--rate-limit', 'off', '--charge-ttl', '1m')
  try {
    const world = await brief.world(NOON)
    await ask(world)
    await world.clock({ advance: 'PT59.999S' })
    expect(await ask(world)).toMatchObject({ cache: 'HIT' })
    await world.clock({ advance: 'PT0.001S' })
    expect(await ask(world)).toMatchObject({ cache: 'MISS' })
  } finally {
    await brief.stop()
  }
})
