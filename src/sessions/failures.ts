import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { networkOf } from '../http/client-address.ts'
import { MINUTE_MS, SECOND_MS } from '../kernel/clock.ts'
import { type World, worldPart } from '../worlds/world.ts'

/** Failed logins per minute, of one username from one address or IPv6 network; further ones are refused. */
const FAILURES_MAX = 10
const FAILURE_WINDOW_MS = MINUTE_MS
/** Pairs of username and address, of all worlds: some 4 MB. The least recently seen are dropped. */
const WATCHED_MAX = 10_000

let worldCount = 0
/** A reset world starts again. */
const worldNumber = worldPart(() => ++worldCount)

/** Failed logins of the last minute, by the world's clock (contract C3). */
export class LoginFailures {
  readonly #times = new LRUCache<string, number[]>({ maxSize: WATCHED_MAX, sizeCalculation: () => 1 })

  /** Counts a failure, or returns the seconds until the next one counts. */
  add(world: World, username: string, address: string): { retryAfterSeconds: number } | undefined {
    const nowMs = world.clock.steadyMs()
    const key = digestOf(`${world.of(worldNumber)} ${networkOf(address)} ${username}`)
    const recent = (this.#times.get(key) ?? []).filter((timeMs) => timeMs > nowMs - FAILURE_WINDOW_MS)
    const [oldest = nowMs] = recent
    if (recent.length >= FAILURES_MAX) {
      return { retryAfterSeconds: Math.ceil((oldest + FAILURE_WINDOW_MS - nowMs) / SECOND_MS) }
    }
    this.#times.set(key, [...recent, nowMs])
    return undefined
  }
}

/** The key has a fixed size, whatever was sent. */
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')
