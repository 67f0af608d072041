import { LRUCache } from 'lru-cache'
import { type World, worldPart } from '../work/world.ts'
import type { Purchase, Quote } from './quote.ts'

/** The most prices that one world holds; the least recently used are dropped. */
const PRICES_MAX = 5_000

/** The response as it was sent, and its quote. */
interface HeldPrice {
  json: string
  quote: Quote
  expiresAtMs: number
}

const prices = worldPart(() => new LRUCache<string, HeldPrice>({ maxSize: PRICES_MAX, sizeCalculation: () => 1 }))

/** A purchase with a named wallet differs from one without, even if the same wallet pays (contract C9). */
const keyOf = (clientId: number, { productId, denomination, quantity, walletId }: Purchase): string =>
  `${clientId} ${productId} ${denomination} ${quantity} ${walletId ?? ''}`

/** The price that was quoted to this client for the same purchase, while it is held. */
export const findHeldPrice = (world: World, clientId: number, purchase: Purchase): HeldPrice | undefined => {
  const price = world.of(prices).get(keyOf(clientId, purchase))
  return price && world.clock.nowMs() < price.expiresAtMs ? price : undefined
}

/** Called when the prices of a world have changed (contract C15). */
export const forgetPrices = (world: World): void => world.of(prices).clear()

/** Holds a price, so that the same request gets the same bytes (spec section 8). */
export const holdPrice = (world: World, clientId: number, purchase: Purchase, price: HeldPrice): void => {
  world.of(prices).set(keyOf(clientId, purchase), price)
}
