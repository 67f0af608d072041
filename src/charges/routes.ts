import { type Static, Type } from '@sinclair/typebox'
import { agreedDiscounts } from '../catalog/catalog.ts'
import { bandsWire, PRODUCT_NOT_FOUND, ProductPath } from '../catalog/contract.ts'
import { findOffer } from '../catalog/product.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import { Json, type JsonObject } from '../http/json.ts'
import { DomainError, type Failure, foundOr, invalid, type Violation, violation } from '../kernel/failure.ts'
import { percentOf, times, toMajor, toPercent } from '../kernel/money.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Session } from '../sessions/sessions.ts'
import { findHeldPrice, holdPrice } from './cache.ts'
import {
  type Charge,
  ChargeSchema,
  ChargesBody,
  chargeWire,
  DENOMINATION_NOT_OFFERED,
  DiscountBody,
  DiscountSchema,
  QUOTE_ERRORS,
} from './contract.ts'
import { type Pricing, quote } from './quote.ts'

/** The failure of an invalid body. A member that is missing or not a number makes the whole body invalid (contract C9). */
const chargesFailure = (violations: readonly Violation[], body: JsonObject): Failure =>
  violations.some(({ field }) => field !== 'wallet_id' && typeof body[field] !== 'number')
    ? BODY_UNREADABLE
    : invalid(violations)

/** Charges and discounts of a product (spec 4.2, contract C9). */
export const chargeRoutes = ({ guard, chargeTtlMs, ...pricing }: Pricing & { guard: Guard; chargeTtlMs: number }) =>
  guard
    .routes({ prefix: '/api/v1/products', tag: 'Products', errorShape: 'charges', names: 'charges.' })
    .post(
      '/:id/discount',
      ({ params, body, session }) => {
        session.checkAgain()
        return discountsOf(pricing, session, params.id, body)
      },
      {
        id: 'getDiscounts',
        unexpectedError: 'Failed to calculate discount',
        summary: 'Get the discounts of a product',
        description: 'Without a denomination the last four members are null.',
        names: 'discount.',
        params: ProductPath,
        body: DiscountBody,
        bodyFailure: chargesFailure,
        response: { description: 'The discounts', schema: DiscountSchema },
        refuses: {
          validation: violation('denomination', 'min', 'must be at least 0.01'),
          not_found: PRODUCT_NOT_FOUND,
          denomination_not_offered: DENOMINATION_NOT_OFFERED,
        },
      },
    )
    .post(
      '/:id/charges',
      ({ params, body: { denomination, quantity, wallet_id: walletId }, session, set }) => {
        session.checkAgain()
        const purchase = { productId: params.id, denomination, quantity, walletId }
        const { world, client } = session
        const heldPrice = findHeldPrice(world, client.id, purchase)
        if (heldPrice) {
          set.headers['X-Cache'] = 'HIT'
          return new Json<Charge>(heldPrice.json)
        }
        const fresh = quote(world.db.query, pricing, session, purchase)
        const json = Json.of<Charge>(chargeWire(fresh))
        const expiresAtMs = world.clock.nowMs() + chargeTtlMs
        if (!session.isDryRun) holdPrice(world, client.id, purchase, { json: json.text, quote: fresh, expiresAtMs })
        set.headers['X-Cache'] = 'MISS'
        return json
      },
      {
        id: 'calculateCharges',
        summary: 'Calculate the price of a purchase',
        description:
          'Without wallet_id the wallet in the currency of the product pays, else the default one. For five minutes the same request gets the same response, byte for byte.',
        params: ProductPath,
        body: ChargesBody,
        bodyFailure: chargesFailure,
        response: {
          description: 'The charges',
          schema: ChargeSchema,
          headers: Type.Object({
            'X-Cache': Type.Union([Type.Literal('HIT'), Type.Literal('MISS')], {
              description: 'HIT if the response was cached, else MISS',
            }),
          }),
        },
        refuses: {
          validation: violation('denomination', 'min', 'must be at least 0.01'),
          not_found: PRODUCT_NOT_FOUND,
          ...QUOTE_ERRORS,
        },
      },
    )

/** @throws DomainError not_found or denomination_not_offered */
const discountsOf = (
  { catalog }: Pricing,
  { world, client }: Session,
  productId: number,
  { denomination, quantity = 1 }: Static<typeof DiscountBody>,
): Static<typeof DiscountSchema> => {
  const product = foundOr(catalog.in(world).find(productId), PRODUCT_NOT_FOUND)
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
