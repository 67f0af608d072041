import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { agreedDiscounts } from '../catalog/catalog.ts'
import { bandsWire, findOffer } from '../catalog/product.ts'
import { BandSchema, Denomination, ProductPath, Quantity } from '../catalog/schemas.ts'
import { readObject } from '../http/body.ts'
import type { JsonObject } from '../http/json.ts'
import { documented } from '../http/operation.ts'
import { JSON_TYPE } from '../http/prepared.ts'
import { pathId } from '../http/query.ts'
import { Id } from '../http/schemas.ts'
import { bodyCheck } from '../http/validation.ts'
import { DomainError, found } from '../kernel/failure.ts'
import { percentOf, times, toMajor, toPercent } from '../kernel/money.ts'
import type { Guard } from '../sessions/guard.ts'
import { keepCharge, recallCharge } from './cache.ts'
import { chargeWire } from './price.ts'
import { type Pricing, quote } from './quote.ts'
import { CHARGE_EXAMPLE, ChargeSchema, nullableNumber } from './schemas.ts'

/** Charges and discounts of a product (spec 4.2, contract C9). Errors leave in the charges shape. */

const ChargesBody = Type.Object(
  {
    denomination: Denomination,
    quantity: Quantity,
    wallet_id: Type.Optional(Id),
  },
  { title: 'ChargesRequest' },
)
const DiscountBody = Type.Object(
  { denomination: Type.Optional(Denomination), quantity: Type.Optional(Quantity) },
  { title: 'DiscountRequest' },
)
const checkCharges = bodyCheck(ChargesBody)
const checkDiscount = bodyCheck(DiscountBody)

const DiscountSchema = Type.Object(
  {
    product_id: Type.Integer(),
    currency_code: Type.String(),
    discounts: Type.Array(BandSchema),
    denomination: nullableNumber('As asked'),
    quantity: nullableNumber('As asked; 1 when left out'),
    discount: nullableNumber('Discount percentage of that denomination'),
    discount_amount: nullableNumber('Discount on denomination multiplied by quantity'),
  },
  { title: 'Discount' },
)
const CACHE_HEADERS = Type.Object({
  'X-Cache': Type.Union([Type.Literal('HIT'), Type.Literal('MISS')], {
    description: 'HIT when the answer was given before, else MISS',
  }),
})

const DISCOUNT_EXAMPLE = {
  product_id: 1,
  currency_code: 'INR',
  discounts: [
    { min_value: 100, max_value: 100, discount: 2.5 },
    { min_value: 250, max_value: 250, discount: 2.5 },
    { min_value: 500, max_value: 500, discount: 2.5 },
    { min_value: 1000, max_value: 1000, discount: 2.5 },
  ],
  denomination: 100,
  quantity: 2,
  discount: 2.5,
  discount_amount: 5,
}

export interface ChargeRoutesOptions extends Pricing {
  guard: Guard
  chargeTtlMs: number
}

export const chargeRoutes = ({ guard, chargeTtlMs, ...pricing }: ChargeRoutesOptions) =>
  new Elysia({ name: 'charges', prefix: '/api/v1/products' })
    .use(guard.plugin())
    .post(
      '/:id/discount',
      async ({ params, request, session }) => {
        const id = pathId(params.id, 'product')
        const sent = await readObject(request)
        session.checkAgain()
        refuseNonNumbers(sent, ['denomination', 'quantity'])
        const { denomination, quantity = 1 } = checkDiscount(sent)
        const product = found(pricing.catalog.find(id), 'product')
        const agreed = agreedDiscounts(session.world, session.client.id).get(id) ?? 0
        const all = {
          product_id: id,
          currency_code: product.currency.currency,
          discounts: bandsWire(product, agreed),
        }
        if (denomination === undefined) {
          return { ...all, denomination: null, quantity: null, discount: null, discount_amount: null }
        }
        const offer = findOffer(product, denomination, agreed)
        if (!offer) throw new DomainError({ code: 'denomination_not_offered' })
        const discountMinor = percentOf(times(offer.denominationMinor, quantity), offer.discountBasisPoints)
        return {
          ...all,
          denomination,
          quantity,
          discount: toPercent(offer.discountBasisPoints),
          discount_amount: toMajor(discountMinor, product.currency.precision),
        }
      },
      documented({
        id: 'getDiscounts',
        tag: 'Products',
        summary: 'Get the discounts of a product',
        description: 'Without a denomination the last four members are null.',
        path: ProductPath,
        body: { schema: DiscountBody, example: { denomination: 100, quantity: 2 } },
        success: { status: 200, description: 'The discounts', schema: DiscountSchema, example: DISCOUNT_EXAMPLE },
        refusals: {
          'discount.invalid_id': { code: 'invalid_id', resource: 'product' },
          'discount.body_unreadable': { code: 'body_unreadable' },
          'discount.validation': {
            code: 'validation',
            violations: [{ field: 'denomination', rule: 'min', problem: 'must be at least 0.01' }],
          },
          'discount.not_found': { code: 'not_found', resource: 'product' },
          'discount.denomination_not_offered': { code: 'denomination_not_offered' },
        },
      }),
    )
    .post(
      '/:id/charges',
      async ({ params, request, session, set }) => {
        const productId = pathId(params.id, 'product')
        const sent = await readObject(request)
        session.checkAgain()
        requireNumbers(sent, ['denomination', 'quantity'])
        const { denomination, quantity, wallet_id: walletId } = checkCharges(sent)
        const purchase = { productId, denomination, quantity, walletId }
        const { world, client } = session
        set.headers['content-type'] = JSON_TYPE
        const kept = recallCharge(world, client.id, purchase)
        if (kept !== undefined) {
          set.headers['X-Cache'] = 'HIT'
          return kept.json
        }
        const fresh = quote(session.world.db.query, pricing, session, purchase)
        set.headers['X-Cache'] = 'MISS'
        const json = JSON.stringify(chargeWire(fresh))
        keepCharge(world, client.id, purchase, { json, quote: fresh }, chargeTtlMs)
        return json
      },
      documented({
        id: 'calculateCharges',
        fast: true,
        tag: 'Products',
        summary: 'Calculate what a purchase costs',
        description:
          'Without wallet_id the wallet in the currency of the product pays, else the default one. The same question is answered with the same bytes for five minutes.',
        path: ProductPath,
        body: { schema: ChargesBody, example: { denomination: 100, quantity: 2 } },
        success: {
          status: 200,
          description: 'The charges',
          schema: ChargeSchema,
          example: CHARGE_EXAMPLE,
          headers: CACHE_HEADERS,
        },
        refusals: {
          'charges.invalid_id': { code: 'invalid_id', resource: 'product' },
          'charges.body_unreadable': { code: 'body_unreadable' },
          'charges.validation': {
            code: 'validation',
            violations: [{ field: 'denomination', rule: 'min', problem: 'must be at least 0.01' }],
          },
          'charges.not_found': { code: 'not_found', resource: 'product' },
          'charges.denomination_not_offered': { code: 'denomination_not_offered' },
          'charges.quantity_exceeded': { code: 'quantity_exceeded', quantityMax: 50 },
          'charges.wallet_not_found': { code: 'paying_wallet_not_found' },
          'charges.rate_missing': { code: 'rate_missing', from: 'USD', to: 'KES' },
          'charges.rate_failed': { code: 'rate_failed' },
          'charges.amount_too_large': { code: 'amount_too_large' },
          'charges.amount_too_small': { code: 'amount_too_small' },
        },
      }),
    )

/** What is missing or no number makes the whole body invalid here (contract C9). */
const requireNumbers = (sent: JsonObject, fields: readonly string[]): void => {
  for (const field of fields) {
    if (typeof sent[field] !== 'number') throw new DomainError({ code: 'body_unreadable' })
  }
}

const refuseNonNumbers = (sent: JsonObject, fields: readonly string[]): void => {
  requireNumbers(
    sent,
    fields.filter((field) => sent[field] !== undefined && sent[field] !== null),
  )
}
