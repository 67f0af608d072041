import { LRUCache } from 'lru-cache'
import { type World, worldPart } from '../worlds/world.ts'
import type { Purchase, Quote } from './quote.ts'

/** How many answers one world keeps; the longest unasked makes room. */
const ANSWERS_MAX = 5_000

/** What was answered, byte for byte, and the quote that it tells. */
export interface KeptCharge {
  json: string
  quote: Quote
}

interface Answer extends KeptCharge {
  expiresAtMs: number
}

const answers = worldPart(() => new LRUCache<string, Answer>({ maxSize: ANSWERS_MAX, sizeCalculation: () => 1 }))

/** One client asking for one purchase; the wallet as it was named, or not named (contract C9). */
const keyOf = (clientId: number, { productId, denomination, quantity, walletId }: Purchase): string =>
  `${clientId} ${productId} ${denomination} ${quantity} ${walletId ?? ''}`

/** The answer that this client was given to the same purchase, while it holds. */
export const recallCharge = (world: World, clientId: number, purchase: Purchase): KeptCharge | undefined => {
  const answer = world.of(answers).get(keyOf(clientId, purchase))
  return answer && world.clock.nowMs() < answer.expiresAtMs ? answer : undefined
}

/** Keeps an answer, so that it is given again byte for byte for as long as charges hold (spec section 8). */
export const keepCharge = (
  world: World,
  clientId: number,
  purchase: Purchase,
  { json, quote }: KeptCharge,
  ttlMs: number,
): void => {
  world.of(answers).set(keyOf(clientId, purchase), { json, quote, expiresAtMs: world.clock.nowMs() + ttlMs })
}
