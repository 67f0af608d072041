import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Command } from 'commander'
import fc from 'fast-check'
import { withServeOptions } from '../../src/config/options.ts'
import { TokenBuckets } from '../../src/http/rate-limit.ts'
import { tooMany } from '../errors.ts'
import { forFile, type Server, startServer, type TestWorld, testIn } from '../harness.ts'
import { NOON } from '../records.ts'

const NOON_S = 1_893_499_200

const server = forFile(await startServer())
const atNoon = testIn(() => server.world(NOON))

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Limit, remaining, and the number of seconds after noon at which it is full again. */
const limitOf = ({ headers }: Response): (number | null)[] => {
  const [limit, remaining, reset] = HEADERS.map((name) => headers.get(name))
  return [limit, remaining, reset].some((value) => value === null || value === undefined)
    ? [null, null, null]
    : [Number(limit), Number(remaining), Number(reset) - NOON_S]
}

const ask = (world: TestWorld) => world.get('/api/v1/countries/1')

const askTimes = async (world: TestWorld, times: number): Promise<number[]> => {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) statuses.push((await ask(world)).status)
  return statuses
}

const expectTooMany = async (response: Response, seconds: number): Promise<void> => {
  expect(response.status).toBe(429)
  expect(response.headers.get('retry-after')).toBe(String(seconds))
  expect(await response.json()).toEqual(tooMany(seconds))
}

describe('The documented limits', () => {
  atNoon('each request takes one of 100 tokens a minute, which refill every 0.6 seconds', async (world) => {
    expect(limitOf(await ask(world))).toEqual([100, 99, 1])
    expect(limitOf(await ask(world))).toEqual([100, 98, 2])
    expect(limitOf(await ask(world))).toEqual([100, 97, 2])
    expect(limitOf(await ask(world))).toEqual([100, 96, 3])
  })

  atNoon('the 101st request in a minute is 429 and takes no token', async (world) => {
    await askTimes(world, 99)
    expect(limitOf(await ask(world))).toEqual([100, 0, 60])
    for (let i = 0; i < 5; i++) {
      const refused = await ask(world)
      expect(limitOf(refused)).toEqual([100, 0, 60])
      await expectTooMany(refused, 1)
    }
    await world.clock({ advance: 'PT0.599S' })
    expect((await ask(world)).status).toBe(429)
    await world.clock({ advance: 'PT0.001S' })
    expect(await askTimes(world, 2)).toEqual([200, 429])
  })

  atNoon('a minute later there are 100 tokens again, and never more', async (world) => {
    await askTimes(world, 100)
    await world.clock({ advance: 'PT1M' })
    expect(await askTimes(world, 101)).toEqual([...Array(100).fill(200), 429])
    await world.clock({ advance: 'PT50M' })
    expect(limitOf(await ask(world))).toEqual([100, 99, 51 * 60 + 1])
  })

  atNoon('the hourly limit is reached if every minute is used up', async (world) => {
    let served = 0
    let refused: Response | undefined
    for (let minute = 0; minute < 13 && !refused; minute++) {
      for (let i = 0; i < 100 && !refused; i++) {
        const response = await ask(world)
        if (response.status === 200) served += 1
        else refused = response
      }
      if (!refused) await world.clock({ advance: 'PT1M' })
    }
    // 1,000 at first, and 16.67 back in each of the eleven minutes that pass: 1,183 and a third.
    expect(served).toBe(1_183)
    if (!refused) throw new Error('the hour did not run out')
    // A third of a token is there; two thirds take 2.4 seconds.
    expect(limitOf(refused)).toEqual([1_000, 0, 11 * 60 + 3_599])
    await expectTooMany(refused, 3)
  })
})

describe('Two buckets with other sizes', () => {
  let small: Server
  beforeAll(async () => {
    small = await startServer('--rate-limit', '10/h,5/m')
  })
  afterAll(() => small.stop())

  test('the headers describe the bucket with fewer tokens', async () => {
    const world = await small.world(NOON)
    await askTimes(world, 4)
    expect(limitOf(await ask(world))).toEqual([5, 0, 60])
    await world.clock({ advance: 'PT1M' })
    // The minute is full with 5; of the hour 5 and a sixth are left.
    expect(limitOf(await ask(world))).toEqual([5, 4, 60 + 12])
    await askTimes(world, 4)
    await world.clock({ advance: 'PT1M' })
    // The hour has a third of a token, two thirds short of one: 240 seconds.
    const refused = await ask(world)
    expect(limitOf(refused)).toEqual([10, 0, 120 + 3_480])
    await expectTooMany(refused, 240)
    await world.clock({ advance: 'PT4M' })
    expect(limitOf(await ask(world))).toEqual([10, 0, 360 + 3_600])
  })
})

const SEED = 8

describe(`Buckets of any size (seed ${SEED})`, () => {
  type Sizes = { tokens: number; refillMs: number }[]
  const size = fc.record({
    tokens: fc.integer({ min: 1, max: 50 }),
    refillMs: fc.constantFrom(1_000, 60_000, 3_600_000),
  })
  const pause = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100 }), fc.nat(90_000))
  const cases = fc.tuple(fc.array(size, { minLength: 1, maxLength: 3 }), fc.array(pause, { maxLength: 120 }))
  /** Tests a property of buckets with requests that arrive after random pauses. */
  const hold = (holds: (sizes: Sizes, arrivedMs: number[], buckets: TokenBuckets) => void): void =>
    fc.assert(
      fc.property(cases, ([sizes, pauses]) => {
        let nowMs = 0
        const arrivedMs = pauses.map((pauseMs) => (nowMs += pauseMs))
        holds(sizes, arrivedMs, new TokenBuckets(sizes, 0))
      }),
      { seed: SEED, numRuns: 60 },
    )

  test('give in any period at most their size plus the refill', () =>
    hold((sizes, arrivedMs, buckets) => {
      const admitted = arrivedMs.filter((timeMs) => buckets.take(timeMs) === undefined)
      for (const [first, fromMs] of admitted.entries()) {
        for (const [last, toMs] of admitted.entries()) {
          // In parts of a token, so that nothing is rounded.
          for (const { tokens, refillMs } of last < first ? [] : sizes)
            expect((last - first + 1 - tokens) * refillMs).toBeLessThanOrEqual((toMs - fromMs) * tokens)
        }
      }
    }))

  test('admit a client that waits for Retry-After, and not one that waits a second less', () =>
    hold((_, arrivedMs, buckets) => {
      let waitedMs = 0
      for (const timeMs of arrivedMs) {
        const { retryAfterSeconds = 0 } = buckets.take(timeMs + waitedMs) ?? {}
        if (retryAfterSeconds === 0) continue
        const early = timeMs + waitedMs + (retryAfterSeconds - 1) * 1_000
        if (retryAfterSeconds > 1) expect(buckets.take(early)).toBeDefined()
        waitedMs += retryAfterSeconds * 1_000
        expect(buckets.take(timeMs + waitedMs)).toBeUndefined()
      }
    }))

  test('are full at the reset time, and not a second earlier', () =>
    hold(([one = { tokens: 5, refillMs: 60_000 }], arrivedMs) => {
      const after = (): TokenBuckets => {
        const bucket = new TokenBuckets([one], 0)
        for (const timeMs of arrivedMs) bucket.take(timeMs)
        return bucket
      }
      const burstAt = (timeMs: number): number => {
        const bucket = after()
        let count = 0
        while (!bucket.take(timeMs)) count += 1
        return count
      }
      const lastMs = arrivedMs.at(-1) ?? 0
      const resetMs = Math.ceil((lastMs + after().tighter.fullInMs) / 1_000) * 1_000
      expect(burstAt(resetMs)).toBe(one.tokens)
      if (resetMs - 1_000 >= lastMs) expect(burstAt(resetMs - 1_000)).toBeLessThan(one.tokens)
    }))
})

describe('The tokens of the rate limit', () => {
  let few: Server
  beforeAll(async () => {
    few = await startServer('--rate-limit', '20/h')
  })
  afterAll(() => few.stop())

  test('every request with a valid token takes one and has the headers, also errors', async () => {
    const world = await few.world(NOON)
    const ADA = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
    const created = await world.post('/api/v1/beneficiaries', ADA)
    const { id } = (await created.clone().json()) as { id: string }
    const responses = [
      created,
      await world.get(`/api/v1/beneficiaries/${id}`),
      await world.delete(`/api/v1/beneficiaries/${id}`),
      await world.get(`/api/v1/beneficiaries/${id}`),
      await world.post('/api/v1/beneficiaries', {}),
      await world.post('/api/v1/beneficiaries', 'not JSON'),
      await world.get('/api/v1/products?page=0'),
      await world.get('/api/v1/products/x'),
      await world.post('/api/v1/products/1/charges', ''),
      await world.get('/api/v1/nowhere'),
      await world.request('/api/v1/products', { method: 'PUT' }),
      await world.get('/api/v1/categories'),
      await world.post('/auth/logout'),
    ]
    expect(responses.map((response) => [response.status, ...limitOf(response).slice(0, 2)])).toEqual([
      [201, 20, 19],
      [200, 20, 18],
      [204, 20, 17],
      [404, 20, 16],
      [400, 20, 15],
      [400, 20, 14],
      [400, 20, 13],
      [400, 20, 12],
      [400, 20, 11],
      [404, 20, 10],
      [404, 20, 9],
      [200, 20, 8],
      // Logging out takes none.
      [200, 20, 8],
    ])
  })

  test('a 403 takes one and has the headers', async () => {
    const limited = await (await few.world(NOON)).limited()
    const response = await limited.get('/api/v1/categories')
    expect(response.status).toBe(403)
    expect(limitOf(response)).toEqual([20, 19, 180])
  })

  test('a request without a valid token takes none and has no headers', async () => {
    const world = await few.world(NOON)
    const signature = world.token.split('.')[2] ?? ''
    for (const authorization of [undefined, 'Bearer a.b.c', `Bearer ${world.token.replace(signature, 'x')}`]) {
      for (const path of ['/api/v1/countries/1', '/api/v1/nowhere', '/auth/logout']) {
        const method = path === '/auth/logout' ? 'POST' : 'GET'
        const response = await few.request(path, { method, ...(authorization && { headers: { authorization } }) })
        expect(response.status).toBe(401)
        expect(limitOf(response)).toEqual([null, null, null])
      }
    }
    expect(limitOf(await ask(world))).toEqual([20, 19, 180])
  })

  test('public operations and paths outside /api/v1 take none, even with a token', async () => {
    const world = await few.world(NOON)
    for (const path of ['/status', '/livez', '/readyz', '/openapi.json', '/cards/1', '/nowhere', '/_sandbox/clock']) {
      expect(limitOf(await world.get(path))).toEqual([null, null, null])
    }
    expect(limitOf(await ask(world))).toEqual([20, 19, 180])
  })

  test('all access tokens of a client share its limit', async () => {
    const world = await few.world(NOON)
    await ask(world)
    expect(limitOf(await ask(await world.again()))).toEqual([20, 18, 360])
    expect(limitOf(await ask(await world.limited()))).toEqual([20, 19, 180])
    expect(limitOf(await ask(await few.world(NOON)))).toEqual([20, 19, 180])
  })

  test('a client can log out at its limit', async () => {
    const world = await few.world(NOON)
    await askTimes(world, 21)
    const response = await world.post('/auth/logout')
    expect(response.status).toBe(200)
    expect(limitOf(response)).toEqual([20, 0, 3_600])
    expect(response.headers.get('retry-after')).toBeNull()
    expect((await ask(world)).status).toBe(401)
  })
})

describe('--rate-limit', () => {
  test('off removes limits and headers', async () => {
    await using open = await startServer('--rate-limit', 'off')
    const world = await open.world(NOON)
    for (let i = 0; i < 110; i++) {
      const response = await ask(world)
      expect(response.status).toBe(200)
      expect(limitOf(response)).toEqual([null, null, null])
    }
  })

  test.each(['', '5', '/m', '0/m', '-5/m', '5/x', '5/mm', '1.5/m', '5/m,', 'none', 'OFF', '1000/h;100/m'])(
    '%p is refused',
    (limits) => {
      const command = withServeOptions(new Command('serve'))
        .exitOverride()
        .configureOutput({ writeErr: () => {} })
      expect(() => command.parse(['--rate-limit', limits], { from: 'user' })).toThrow(
        'Limits look like 1000/h,100/m, or off.',
      )
    },
  )
})
