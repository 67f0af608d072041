import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { agreedDiscounts } from '../catalog/catalog.ts'
import { PRODUCT_NOT_FOUND } from '../catalog/errors.ts'
import { bandsWire, findOffer } from '../catalog/product.ts'
import { Json } from '../http/json.ts'
import { DomainError, found } from '../kernel/failure.ts'
import { percentOf, times, toMajor, toPercent } from '../kernel/money.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Session } from '../sessions/sessions.ts'
import { findHeldPrice, holdPrice } from './cache.ts'
import { DENOMINATION_NOT_OFFERED } from './errors.ts'
import type { DiscountBody, DiscountSchema } from './operations.ts'
import * as operations from './operations.ts'
import { chargeWire } from './price.ts'
import { type Pricing, quote } from './quote.ts'
import type { ChargeSchema } from './schemas.ts'

type Charge = Static<typeof ChargeSchema>

/** Charges and discounts of a product (spec 4.2, contract C9). Errors leave in the charges shape. */

export const chargeRoutes = ({ guard, chargeTtlMs, ...pricing }: Pricing & { guard: Guard; chargeTtlMs: number }) =>
  new Elysia({ name: 'charges', prefix: '/api/v1/products' })
    .use(guard.plugin({ ready: pricing.catalog.ready }))
    .post(
      '/:id/discount',
      ({ params, body, session }) => {
        session.checkAgain()
        return discountsOf(pricing, session, params.id, body)
      },
      operations.getDiscounts,
    )
    .post(
      '/:id/charges',
      ({ params, body: { denomination, quantity, wallet_id: walletId }, session, set }) => {
        session.checkAgain()
        const purchase = { productId: params.id, denomination, quantity, walletId }
        const { world, client } = session
        const held = findHeldPrice(world, client.id, purchase)
        if (held) {
          set.headers['X-Cache'] = 'HIT'
          return new Json<Charge>(held.json)
        }
        const fresh = quote(world.db.query, pricing, session, purchase)
        set.headers['X-Cache'] = 'MISS'
        const json = Json.of<Charge>(chargeWire(fresh))
        const expiresAtMs = world.clock.nowMs() + chargeTtlMs
        holdPrice(world, client.id, purchase, { json: json.text, quote: fresh, expiresAtMs })
        return json
      },
      operations.calculateCharges,
    )

/** @throws DomainError not_found or denomination_not_offered */
const discountsOf = (
  { catalog }: Pricing,
  { world, client }: Session,
  productId: number,
  { denomination, quantity = 1 }: Static<typeof DiscountBody>,
): Static<typeof DiscountSchema> => {
  const product = found(catalog.in(world).find(productId), PRODUCT_NOT_FOUND)
  const agreed = agreedDiscounts(world, client.id).get(productId) ?? 0
  const all = {
    product_id: productId,
    currency_code: product.currency.currency,
    discounts: bandsWire(product, agreed),
  }
  if (denomination === undefined) {
    return { ...all, denomination: null, quantity: null, discount: null, discount_amount: null }
  }
  const offer = findOffer(product, denomination, agreed)
  if (!offer) throw new DomainError(DENOMINATION_NOT_OFFERED)
  const discountMinor = percentOf(times(offer.denominationMinor, quantity), offer.discountBasisPoints)
  return {
    ...all,
    denomination,
    quantity,
    discount: toPercent(offer.discountBasisPoints),
    discount_amount: toMajor(discountMinor, product.currency.precision),
  }
}
