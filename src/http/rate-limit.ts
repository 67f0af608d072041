import { SECOND_MS } from '../kernel/clock.ts'

/** A bucket's size and how long it takes to fill: 1,000 an hour. */
export interface BucketSize {
  tokens: number
  refillMs: number
}

/** Levels are integers: one token is `refillMs` parts, of which `tokens` flow in each millisecond. */
interface Bucket extends BucketSize {
  levelParts: number
  /** By a clock that never goes back, like all times here. */
  filledAtMs: number
}

/** What the headers of spec section 8 say, for the tighter bucket. */
export interface RateLimitState {
  limit: number
  remaining: number
  /** How long until the bucket is full again. */
  fullInMs: number
}

/** The token buckets of one client (contract C6). */
export class TokenBuckets {
  readonly #buckets: Bucket[]

  constructor(sizes: readonly BucketSize[], steadyMs: number) {
    this.#buckets = sizes.map((size) => ({ ...size, levelParts: size.tokens * size.refillMs, filledAtMs: steadyMs }))
  }

  /** Takes one token of each bucket; or takes none and answers the seconds until there is one in each. */
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

  /** Lets flow in what has come since, and takes nothing. */
  refill(steadyMs: number): void {
    for (const bucket of this.#buckets) {
      const gainedParts = (steadyMs - bucket.filledAtMs) * bucket.tokens
      bucket.levelParts = Math.min(bucket.tokens * bucket.refillMs, bucket.levelParts + gainedParts)
      bucket.filledAtMs = steadyMs
    }
  }

  /** The state of the bucket with the fewest tokens left, as of the last time that it was filled. */
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
