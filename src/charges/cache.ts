import { LRUCache } from 'lru-cache'
import { type World, worldPart } from '../worlds/world.ts'
import type { Purchase, Quote } from './quote.ts'

/** The prices that one world holds; the least recently used make room. */
const ANSWERS_MAX = 5_000

/** The response as it was sent, and its quote. */
export interface KeptCharge {
  json: string
  quote: Quote
}

interface Answer extends KeptCharge {
  expiresAtMs: number
}

const answers = worldPart(() => new LRUCache<string, Answer>({ maxSize: ANSWERS_MAX, sizeCalculation: () => 1 }))

/** The wallet counts as it was named, or not named (contract C9). */
const keyOf = (clientId: number, { productId, denomination, quantity, walletId }: Purchase): string =>
  `${clientId} ${productId} ${denomination} ${quantity} ${walletId ?? ''}`

/** The price that was quoted to this client for the same purchase, while it is held. */
export const recallCharge = (world: World, clientId: number, purchase: Purchase): KeptCharge | undefined => {
  const answer = world.of(answers).get(keyOf(clientId, purchase))
  return answer && world.clock.nowMs() < answer.expiresAtMs ? answer : undefined
}

/** Holds a price, so that the same request gets the same bytes (spec section 8). */
export const keepCharge = (
  world: World,
  clientId: number,
  purchase: Purchase,
  { json, quote }: KeptCharge,
  ttlMs: number,
): void => {
  world.of(answers).set(keyOf(clientId, purchase), { json, quote, expiresAtMs: world.clock.nowMs() + ttlMs })
}
