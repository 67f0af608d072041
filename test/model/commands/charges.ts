import fc from 'fast-check'
import type { Shape } from '../checks.ts'
import { amountTrouble, faultsIn, invalid, isPathId, unreadable } from '../expect.ts'
import type { Product } from '../goods.ts'
import { within } from '../model.ts'
import { offerOf, type Price, priceOf } from '../money.ts'
import type { At, Expected } from '../play.ts'
import {
  agreedOf,
  denominations,
  isDenomination,
  isId,
  isLeftOut,
  isQuantity,
  productIds,
  quantities,
  quantityMaxOf,
} from './catalog.ts'
import { command, whoever } from './command.ts'
import { ask } from './sessions.ts'

/** The price of a purchase, and the time for which it is held (contract C9). */

export const walletIds: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 0, 1.5, -1, '1', true, 2_147_483_648, {}) },
)

/** A purchase whose members are well formed. */
export interface Purchase {
  product: number
  denomination: number
  quantity: number
  wallet: number | undefined
}

/** The message and the status of a refusal, in the error format of the operation. */
const refused = (shape: Shape, status: 400 | 404, message: string): Expected => {
  if (shape === 'charges') return { status, body: { error: message } }
  const kind =
    status === 404 ? (['NotFoundError', 'NOT_FOUND'] as const) : (['BadRequestError', 'BAD_REQUEST'] as const)
  return { status, body: { error: { name: kind[0], code: kind[1], message } } }
}

/** The checks that are repeated for every purchase, whatever was priced before: product, denomination, quantity (contract C12). */
export const checkPurchase = (
  at: At,
  shape: Shape,
  purchase: Purchase,
): { product: Product; discount: bigint } | Expected => {
  const product = at.model.product(at.world, purchase.product)
  if (!product) return refused(shape, 404, 'Product not found')
  const discount = offerOf(product, purchase.denomination, agreedOf(at, product))
  if (discount === undefined) return refused(shape, 404, 'Denomination not found')
  const quantityMax = quantityMaxOf(at, product)
  if (purchase.quantity > quantityMax) {
    return refused(shape, 400, `Quantity exceeds maximum allowed quantity of ${quantityMax}`)
  }
  return { product, discount }
}

/** The price of a purchase and the wallet that pays it, or the refusal. */
export const priced = (at: At, shape: Shape, purchase: Purchase): { price: Price; wallet: number } | Expected => {
  const checked = checkPurchase(at, shape, purchase)
  if ('status' in checked) return checked
  const { product, discount } = checked
  const { model, world, client } = at
  const wallet =
    purchase.wallet === undefined
      ? model.payingWallet(world, client, product.currency)
      : model.wallet(world, client, purchase.wallet)
  if (!wallet) return refused(shape, 400, 'Wallet not found')
  const quantityMax = quantityMaxOf(at, product)
  const price = priceOf(
    world.state.rates,
    product,
    purchase.denomination,
    purchase.quantity,
    discount,
    wallet.currency,
    quantityMax,
  )
  if (!('trouble' in price)) return { price, wallet: wallet.id }
  if (price.trouble === 'no rate') return refused(shape, 400, `No exchange rate found for ${price.from} to ${price.to}`)
  return amountTrouble(shape, price.trouble)
}

export const keyOf = ({ client }: At, { product, denomination, quantity, wallet }: Purchase): string =>
  JSON.stringify([client, product, denomination, quantity, wallet ?? null])

export const chargeCommands = [
  command('ask what a purchase costs', ['calculateCharges'], 6, {
    args: fc.record({
      who: whoever,
      id: productIds,
      denomination: denominations,
      quantity: quantities,
      wallet: walletIds,
    }),
    run: async (play, { who, id, denomination, quantity, wallet }) => {
      const body = { denomination, quantity, wallet_id: wallet }
      await ask(play, who, { operation: 'calculateCharges', id, body }, (at): Expected => {
        if (!isPathId(id)) return { status: 400, body: { error: 'Invalid product ID' } }
        if (typeof denomination !== 'number' || typeof quantity !== 'number') return unreadable('charges')
        const bad = [
          ...(isDenomination(denomination) ? [] : ['denomination']),
          ...(isQuantity(quantity) ? [] : ['quantity']),
          ...(isLeftOut(wallet) || isId(wallet) ? [] : ['wallet_id']),
        ]
        if (bad.length > 0) return invalid('charges', bad)
        return charged(at, { product: Number(id), denomination, quantity, wallet: isId(wallet) ? wallet : undefined })
      })
    },
  }),
]

/** The price, or within the window the very bytes of the first response. */
export const charged = (at: At, purchase: Purchase): Expected => {
  const key = keyOf(at, purchase)
  const kept = at.world.charges.get(key)
  if (kept && within(kept.at, at.now, at.model.chargeTtlMs)) {
    return {
      status: 200,
      fault: ({ text, headers }) => faultsIn({ 'x-cache': [headers.get('x-cache'), 'HIT'], body: [text, kept.text] }),
    }
  }
  const fresh = priced(at, 'charges', purchase)
  if ('status' in fresh) return fresh
  const { payable, wire } = fresh.price
  at.world.charges.set(key, { text: at.response.text, payable, wire, wallet: fresh.wallet, at: at.now })
  return { status: 200, body: wire, fault: ({ headers }) => faultsIn({ 'x-cache': [headers.get('x-cache'), 'MISS'] }) }
}
