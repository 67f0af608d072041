import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { SERVE_OPTIONS } from '../../src/config/option-table.ts'
import { type BucketSize, TokenBuckets } from '../../src/http/rate-limit.ts'

const SEED = 8
const MINUTE: BucketSize = { tokens: 5, refillMs: 60_000 }

describe('TokenBuckets', () => {
  test('the documented limits are 1,000 an hour and 100 a minute', () => {
    const { read, default: documented } = SERVE_OPTIONS.rateLimit
    expect(read(documented)).toEqual([
      { tokens: 1_000, refillMs: 3_600_000 },
      { tokens: 100, refillMs: 60_000 },
    ])
  })

  const sizes = fc.array(
    fc.record({ tokens: fc.integer({ min: 1, max: 50 }), refillMs: fc.constantFrom(1_000, 60_000, 3_600_000) }),
    { minLength: 1, maxLength: 3 },
  )
  const pauses = fc.array(
    fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100 }), fc.integer({ max: 90_000, min: 0 })),
    { minLength: 1, maxLength: 120 },
  )

  test(`in any period they give at most their size plus the refill (seed ${SEED})`, () => {
    fc.assert(
      fc.property(sizes, pauses, (buckets, gaps) => {
        const given = timesGiven(buckets, gaps)
        for (const [first, from] of given.entries()) {
          for (const [last, to] of given.entries()) {
            if (last < first) continue
            for (const { tokens, refillMs } of buckets) {
              // In parts of a token, so that nothing is rounded.
              expect((last - first + 1 - tokens) * refillMs).toBeLessThanOrEqual((to - from) * tokens)
            }
          }
        }
      }),
      { seed: SEED, numRuns: 60 },
    )
  })

  test(`a client that waits for Retry-After is admitted, and one that waits a second less is not (seed ${SEED})`, () => {
    fc.assert(
      fc.property(sizes, pauses, (buckets, gaps) => {
        const limiter = new TokenBuckets(buckets, 0)
        let nowMs = 0
        for (const gap of gaps) {
          nowMs += gap
          const refused = limiter.take(nowMs)
          if (!refused) continue
          const { retryAfterSeconds } = refused
          expect(retryAfterSeconds).toBeGreaterThanOrEqual(1)
          if (retryAfterSeconds > 1) expect(limiter.take(nowMs + (retryAfterSeconds - 1) * 1_000)).toBeDefined()
          nowMs += retryAfterSeconds * 1_000
          expect(limiter.take(nowMs)).toBeUndefined()
        }
      }),
      { seed: SEED, numRuns: 100 },
    )
  })

  test(`it is full at the reset time, and not a second earlier (seed ${SEED})`, () => {
    fc.assert(
      fc.property(sizes, pauses, ([size = MINUTE], gaps) => {
        const limiter = new TokenBuckets([size], 0)
        let nowMs = 0
        for (const gap of gaps) {
          nowMs += gap
          limiter.take(nowMs)
        }
        const resetSeconds = Math.ceil((nowMs + limiter.tighter.fullInMs) / 1_000)
        expect(burstAt(size, gaps, resetSeconds * 1_000)).toBe(size.tokens)
        const before = (resetSeconds - 1) * 1_000
        if (before >= nowMs) expect(burstAt(size, gaps, before)).toBeLessThan(size.tokens)
      }),
      { seed: SEED, numRuns: 100 },
    )
  })
})

/** When requests were let in, of those that came after each pause. */
const timesGiven = (sizes: readonly BucketSize[], gaps: readonly number[]): number[] => {
  const limiter = new TokenBuckets(sizes, 0)
  const given: number[] = []
  let nowMs = 0
  for (const gap of gaps) {
    nowMs += gap
    if (!limiter.take(nowMs)) given.push(nowMs)
  }
  return given
}

/** How many requests are let in at once at a later time. */
const burstAt = (size: BucketSize, gaps: readonly number[], timeMs: number): number => {
  const limiter = new TokenBuckets([size], 0)
  let nowMs = 0
  for (const gap of gaps) {
    nowMs += gap
    limiter.take(nowMs)
  }
  let count = 0
  while (!limiter.take(timeMs)) count += 1
  return count
}
