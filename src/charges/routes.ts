import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { agreedDiscounts } from '../catalog/catalog.ts'
import { bandsWire, PRODUCT_NOT_FOUND, ProductPath } from '../catalog/contract.ts'
import { findOffer } from '../catalog/product.ts'
import { BODY_UNREADABLE, invalidId } from '../http/failures.ts'
import { Json, type JsonObject } from '../http/json.ts'
import { operationsOf } from '../http/operation.ts'
import { DomainError, type Failure, found, invalid, type Violation, violation } from '../kernel/failure.ts'
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
  quoteErrors,
} from './contract.ts'
import { type Pricing, quote } from './quote.ts'

const operation = operationsOf({ tag: 'Products', errorShape: 'charges' })

/** A missing member or one that is not a number makes the whole body invalid (contract C9). */
const chargesFailure = (violations: readonly Violation[], body: JsonObject): Failure =>
  violations.some(({ field }) => field !== 'wallet_id' && typeof body[field] !== 'number')
    ? BODY_UNREADABLE
    : invalid(violations)

const getDiscounts = operation({
  id: 'getDiscounts',
  unexpectedError: 'Failed to calculate discount',
  summary: 'Get the discounts of a product',
  description: 'Without a denomination the last four members are null.',
  params: ProductPath,
  body: DiscountBody,
  bodyFailure: chargesFailure,
  success: { status: 200, description: 'The discounts', schema: DiscountSchema },
  errors: {
    'discount.invalid_id': invalidId('product'),
    'discount.body_unreadable': BODY_UNREADABLE,
    'discount.validation': violation('denomination', 'min', 'must be at least 0.01'),
    'discount.not_found': PRODUCT_NOT_FOUND,
    'discount.denomination_not_offered': DENOMINATION_NOT_OFFERED,
  },
})
const calculateCharges = operation({
  id: 'calculateCharges',
  summary: 'Calculate what a purchase costs',
  description:
    'Without wallet_id the wallet in the currency of the product pays, else the default one. For five minutes the same request gets the same response, byte for byte.',
  params: ProductPath,
  body: ChargesBody,
  bodyFailure: chargesFailure,
  success: {
    status: 200,
    description: 'The charges',
    schema: ChargeSchema,
    headers: Type.Object({
      'X-Cache': Type.Union([Type.Literal('HIT'), Type.Literal('MISS')], {
        description: 'HIT if the response was cached, else MISS',
      }),
    }),
  },
  errors: {
    'charges.invalid_id': invalidId('product'),
    'charges.body_unreadable': BODY_UNREADABLE,
    'charges.validation': violation('denomination', 'min', 'must be at least 0.01'),
    'charges.not_found': PRODUCT_NOT_FOUND,
    ...quoteErrors('charges'),
  },
})

/** Charges and discounts of a product (spec 4.2, contract C9). */
export const chargeRoutes = ({ guard, chargeTtlMs, ...pricing }: Pricing & { guard: Guard; chargeTtlMs: number }) =>
  new Elysia({ name: 'charges', prefix: '/api/v1/products' })
    .use(guard.plugin())
    .post(
      '/:id/discount',
      ({ params, body, session }) => {
        session.checkAgain()
        return discountsOf(pricing, session, params.id, body)
      },
      getDiscounts,
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
        const json = Json.of<Charge>(chargeWire(fresh))
        const expiresAtMs = world.clock.nowMs() + chargeTtlMs
        if (!session.isRehearsal) holdPrice(world, client.id, purchase, { json: json.text, quote: fresh, expiresAtMs })
        set.headers['X-Cache'] = 'MISS'
        return json
      },
      calculateCharges,
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
