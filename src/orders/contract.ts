import { type Static, Type } from '@sinclair/typebox'
import { Denomination, Quantity } from '../catalog/contract.ts'
import { ChargeSchema } from '../charges/contract.ts'
import type { Purchase } from '../charges/quote.ts'
import { secretMember } from '../http/dry-run.ts'
import type { JsonObject } from '../http/json.ts'
import { eitherCaseFilter, idFilter, idPath, pageQuery, textFilter } from '../http/parameters.ts'
import { getExample, Id, nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { bodyCheck, Text } from '../http/validation.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { badRequest, notFound, violated } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import { storedObject } from '../kernel/unreadable.ts'
import type { Reference } from '../reference/reference.ts'
import type { VoucherCode } from './cipher.ts'
import { ORDER_STATUSES, type Order, type Voucher } from './tables.ts'

/** Orders and vouchers in the API (contract C12). */

export const ORDER_NOT_FOUND = notFound('Order')
export const INSUFFICIENT_STOCK = badRequest('insufficient_stock', 'Insufficient stock')
export const DUPLICATE_CLIENT_REFERENCE = badRequest('duplicate_order_reference', 'Duplicate client_reference')
export const orderNotCancellable = (status: string) =>
  badRequest('order_not_cancellable', `Order cannot be cancelled in status ${status}`)

const REFERENCE_EXAMPLE = 'welcome-42'
const OwnReference = Text({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e]*$',
  description: 'printable ASCII characters',
})
export const OrderBody = Type.Object(
  {
    product_id: { ...Id, example: 1 },
    denomination: { ...Denomination, example: 100 },
    quantity: { ...Quantity, example: 2 },
    wallet_id: Type.Optional(Id),
    ref: Type.Optional(OwnReference),
    client_reference: Type.Optional({ ...OwnReference, example: REFERENCE_EXAMPLE }),
    email: Type.Optional(Text({ format: 'email', maxLength: 254, example: 'ada@example.com' })),
  },
  { title: 'OrderRequest' },
)
const checkOrder = bodyCheck(OrderBody)

export interface OrderRequest extends Purchase {
  /** The client's own name for the order; generated if undefined. */
  reference: string | undefined
  email: string | null
}

/** @throws DomainError validation */
export const readOrder = (sent: JsonObject): OrderRequest => {
  const body = checkOrder(sent)
  if (body.ref !== undefined && body.client_reference !== undefined && body.ref !== body.client_reference) {
    throw violated('ref', 'format', 'must be the same as client_reference')
  }
  return {
    productId: body.product_id,
    denomination: body.denomination,
    quantity: body.quantity,
    walletId: body.wallet_id,
    reference: body.client_reference ?? body.ref,
    email: body.email ?? null,
  }
}

export const OrderPath = idPath('order')
export const OrderListQuery = Type.Object({
  ...pageQuery({ limitDefault: 10, limitMax: 100 }),
  status: eitherCaseFilter(ORDER_STATUSES, 'Only with this status, in either case'),
  product_id: idFilter('product'),
  client_reference: textFilter('Your name for the order, in full', REFERENCE_EXAMPLE),
  ref: textFilter('The same as client_reference', REFERENCE_EXAMPLE),
})

/** The codes of vouchers in the response of a dry run (contract C19). */
const CODE_IN_DRY_RUN = 'XXXX'
const voucherExample = (reference: string, code: string, pin: string) => ({
  voucher_reference_number: reference,
  card_number: code,
  pin_code: pin,
  claim_url: `https://claim.example/${code}`,
  expires_at: '2027-01-01T00:00:00.000Z',
})
export const VouchersSchema = Type.Array(
  Type.Object(
    {
      voucher_reference_number: Type.String(),
      card_number: secretMember(
        nullable(Type.String({ description: 'null, like pin_code and claim_url, when it cannot be opened' })),
        CODE_IN_DRY_RUN,
      ),
      pin_code: secretMember(nullable(Type.String()), CODE_IN_DRY_RUN),
      claim_url: secretMember(nullable(Type.String()), null),
      expires_at: nullable(Timestamp),
    },
    { title: 'Voucher' },
  ),
  {
    example: [voucherExample('1-1', 'TESTA7F3K9Q2XZ0M', '4K2P'), voucherExample('1-2', 'TESTEKDRT7DJ419F', 'B9TY')],
  },
)
export const OrderSchema = Type.Object(
  {
    id: Type.Integer({ example: 1 }),
    ref: Type.String({ description: 'The same as client_reference', example: REFERENCE_EXAMPLE }),
    client_reference: Type.String({
      description: 'Your name for the order; made up when left out',
      example: REFERENCE_EXAMPLE,
    }),
    transaction_id: Type.Integer({ example: 6 }),
    product_id: Type.Integer({ example: 1 }),
    product_name: Type.String({ example: 'Kettle & Crumb India' }),
    denomination: Type.Number({ example: 100 }),
    quantity: Type.Integer({ example: 2 }),
    currency_code: Type.String({ example: 'INR' }),
    amount: Type.Number({ description: 'Amount that the wallet paid', example: 230.1 }),
    refunded_amount: Type.Number({ description: 'Refunded amount', example: 0 }),
    discount: Type.Number({ description: 'The discount as an amount', example: 5 }),
    charges: ChargeSchema,
    wallet_id: Type.Integer({ example: 3 }),
    status: oneOf(ORDER_STATUSES, { example: 'DELIVERED' }),
    email: nullable(Type.String({ example: 'ada@example.com' })),
    vouchers: VouchersSchema,
    placed_at: Timestamp,
    delivered_at: nullable({ ...Timestamp, example: '2026-01-01T00:00:00.000Z' }),
    failed_at: nullable(Timestamp),
    cancelled_at: nullable(Timestamp),
    failure_reason: nullable(Type.String()),
  },
  { title: 'Order' },
)
export const ORDER_EXAMPLE = getExample(OrderSchema)
/** A product that is not instant, because a delivered order cannot be cancelled. */
export const CANCELLED_EXAMPLE = {
  ...ORDER_EXAMPLE,
  product_id: 5,
  product_name: 'Northwind Outdoor Germany',
  denomination: 25,
  quantity: 1,
  currency_code: 'EUR',
  amount: 33.76,
  refunded_amount: 33.76,
  discount: 0.75,
  charges: {
    non_discounted_total: 25,
    discount_amount: 0.75,
    total_amount: 24.25,
    discount: 3,
    gst_amount: 4.61,
    total_payable: 33.76,
    max_quantity: 5,
    net_amount: 24.25,
    handling_fee_amount: 4.9,
    charges_details: { source_currency: 'EUR', destination_currency: 'EUR', forex_rate: null, conversion_fee: null },
  },
  wallet_id: 2,
  status: 'CANCELLED' as const,
  vouchers: [],
  delivered_at: null,
  cancelled_at: '2026-01-01T00:00:01.000Z',
}

/** An order as its events show it: vouchers without codes (contract C16). */
export const OrderEventSchema = Type.Object(
  {
    ...OrderSchema.properties,
    vouchers: Type.Array(
      Type.Object(
        { voucher_reference_number: Type.String(), expires_at: nullable(Timestamp) },
        { title: 'VoucherWithoutCodes' },
      ),
    ),
  },
  { title: 'OrderEventData' },
)

const PENDING: Static<typeof OrderEventSchema> = {
  ...ORDER_EXAMPLE,
  status: 'PENDING',
  vouchers: [],
  delivered_at: null,
}
const vouchers = ORDER_EXAMPLE.vouchers.map(({ voucher_reference_number, expires_at }) => ({
  voucher_reference_number,
  expires_at,
}))
const FAILED = {
  ...PENDING,
  status: 'FAILED',
  refunded_amount: PENDING.amount,
  failed_at: PENDING.placed_at,
  failure_reason: 'Out of stock',
} as const

export const ORDER_EVENT_EXAMPLES = {
  created: PENDING,
  processing: { ...PENDING, status: 'PROCESSING' },
  delivered: { ...ORDER_EXAMPLE, vouchers },
  partially_delivered: { ...PENDING, status: 'PARTIALLY_DELIVERED', vouchers: vouchers.slice(0, 1) },
  failed: FAILED,
  cancelled: {
    ...PENDING,
    status: 'CANCELLED',
    refunded_amount: PENDING.amount,
    cancelled_at: PENDING.placed_at,
  },
  refunded: FAILED,
} satisfies Record<string, Static<typeof OrderEventSchema>>
export type OrderChange = keyof typeof ORDER_EVENT_EXAMPLES

/** An order with its vouchers, which an event shows without their codes. */
export const orderWire = <Voucher>(
  order: Order,
  vouchers: Voucher[],
  reference: Reference,
): Omit<Static<typeof OrderSchema>, 'vouchers'> & { vouchers: Voucher[] } => {
  const currency = reference.shownCurrency(order.currencyId)
  // Without its charges, the other members of a damaged order are shown.
  const charges = storedObject<Static<typeof ChargeSchema>>(order.charges, () => `charges of order ${order.id}`)
  const paidIn = reference.findCurrencyByCode(charges.charges_details?.destination_currency)
  return {
    id: order.id,
    ref: order.reference,
    client_reference: order.reference,
    transaction_id: order.transactionId,
    product_id: order.productId,
    product_name: order.productName,
    denomination: toMajor(order.denominationMinor, currency.precision),
    quantity: order.quantity,
    currency_code: currency.currency,
    amount: charges.total_payable,
    refunded_amount: toMajor(order.refundedMinor, paidIn?.precision ?? currency.precision),
    discount: charges.discount_amount,
    charges,
    wallet_id: order.walletId,
    status: order.status,
    email: order.email,
    vouchers,
    placed_at: toTimestamp(order.placedAtMs),
    delivered_at: toTimestampOrNull(order.deliveredAtMs),
    failed_at: toTimestampOrNull(order.failedAtMs),
    cancelled_at: toTimestampOrNull(order.cancelledAtMs),
    failure_reason: order.failureReason,
  }
}

/** A voucher that cannot be opened has null codes. */
export const voucherWire = (
  voucher: Voucher,
  code: VoucherCode | undefined,
): Static<typeof VouchersSchema>[number] => ({
  voucher_reference_number: voucher.reference,
  card_number: code?.cardNumber ?? null,
  pin_code: code?.pinCode ?? null,
  claim_url: code?.claimUrl ?? null,
  expires_at: toTimestampOrNull(voucher.expiresAtMs),
})
