import { SECOND_MS, UNITS_MS } from '../kernel/clock.ts'

/** The size of a bucket, for example 1,000 tokens in an hour. */
export interface BucketSize {
  tokens: number
  refillMs: number
}

const BUCKETS_MAX = 10

/** Reads `1000/h,100/m` or `off`. Undefined if the text is neither. */
export const readLimits = (text: string): readonly BucketSize[] | 'off' | undefined => {
  if (text === 'off') return 'off'
  const sizes: BucketSize[] = []
  for (const part of text.split(',')) {
    const [, tokens, unit = ''] = /^([1-9]\d{0,7})\/([smhd])$/.exec(part.trim()) ?? []
    const refillMs = UNITS_MS[unit]
    if (refillMs === undefined || sizes.push({ tokens: Number(tokens), refillMs }) > BUCKETS_MAX) return undefined
  }
  return sizes
}

/** Levels are integers: a token has `refillMs` parts, and `tokens` parts are added each millisecond. */
interface Bucket extends BucketSize {
  levelParts: number
  /** The time of the last refill on a monotonic clock, like all times here (decision 28). */
  filledAtMs: number
}

/** The values of the rate-limit headers (spec section 8), for the bucket with fewer tokens. */
interface RateLimitState {
  limit: number
  remaining: number
  fullInMs: number
}

export class TokenBuckets {
  readonly #buckets: Bucket[]

  constructor(sizes: readonly BucketSize[], steadyMs: number) {
    this.#buckets = sizes.map((size) => ({ ...size, levelParts: size.tokens * size.refillMs, filledAtMs: steadyMs }))
  }

  /** Takes a token from each bucket, or takes none and returns the seconds until each has one. */
  take(steadyMs: number): { retryAfterSeconds: number } | undefined {
    this.refill(steadyMs)
    let waitMs = 0
    for (const bucket of this.#buckets) {
      waitMs = Math.max(waitMs, (bucket.refillMs - bucket.levelParts) / bucket.tokens)
    }
    if (waitMs > 0) return { retryAfterSeconds: Math.ceil(waitMs / SECOND_MS) }
    for (const bucket of this.#buckets) bucket.levelParts -= bucket.refillMs
    return undefined
  }

  refill(steadyMs: number): void {
    for (const bucket of this.#buckets) {
      const gainedParts = (steadyMs - bucket.filledAtMs) * bucket.tokens
      bucket.levelParts = Math.min(bucket.tokens * bucket.refillMs, bucket.levelParts + gainedParts)
      bucket.filledAtMs = steadyMs
    }
  }

  /** The state of the bucket with the fewest tokens, as of the last refill. */
  get tighter(): RateLimitState {
    const bucket = this.#buckets.reduce((least, other) => (tokensIn(other) < tokensIn(least) ? other : least))
    const missingParts = bucket.tokens * bucket.refillMs - bucket.levelParts
    return {
      limit: bucket.tokens,
      remaining: Math.floor(tokensIn(bucket)),
      fullInMs: missingParts / bucket.tokens,
    }
  }
}

const tokensIn = (bucket: Bucket): number => bucket.levelParts / bucket.refillMs
