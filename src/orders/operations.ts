import { Type } from '@sinclair/typebox'
import { Denomination, Quantity } from '../catalog/schemas.ts'
import type { Purchase } from '../charges/quote.ts'
import { CHARGE_EXAMPLE, ChargeSchema } from '../charges/schemas.ts'
import type { JsonObject } from '../http/json.ts'
import { operationsOf, pageOf } from '../http/operation.ts'
import { eitherCaseFilter, idFilter, idPath, pageQuery, textFilter } from '../http/parameters.ts'
import { Id, nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { bodyCheck, Text } from '../http/validation.ts'
import { IdempotencyHeaders, REPLAY_HEADERS } from '../idempotency/schemas.ts'
import { violated } from '../kernel/failure.ts'
import { CANCEL_ORDER_ERRORS, LIST_ORDERS_ERRORS, ORDER_LOOKUP_ERRORS, PLACE_ORDER_ERRORS } from './errors.ts'
import { ORDER_STATUSES } from './tables.ts'

const operation = operationsOf({
  tag: 'Orders',
  tagDescription: 'Gift cards bought, and the vouchers that are delivered. For accounts with the vouchers feature.',
  errorShape: 'structured',
})

export const ROUTE = '/api/v1/orders'
const PAGE = { limitDefault: 10, limitMax: 100 }

const OwnReference = Text({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e]*$',
  description: 'printable ASCII characters',
})
const OrderBody = Type.Object(
  {
    product_id: Id,
    denomination: Denomination,
    quantity: Quantity,
    wallet_id: Type.Optional(Id),
    ref: Type.Optional(OwnReference),
    client_reference: Type.Optional(OwnReference),
    email: Type.Optional(Text({ format: 'email', maxLength: 254 })),
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
const readOrder = (sent: JsonObject): OrderRequest => {
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

const Status = oneOf(ORDER_STATUSES)
export const VoucherSchema = Type.Object(
  {
    voucher_reference_number: Type.String(),
    card_number: nullable(Type.String({ description: 'null, like pin_code and claim_url, when it cannot be opened' })),
    pin_code: nullable(Type.String()),
    claim_url: nullable(Type.String()),
    expires_at: nullable(Timestamp),
  },
  { title: 'Voucher' },
)
export const OrderSchema = Type.Object(
  {
    id: Type.Integer(),
    ref: Type.String({ description: 'The same as client_reference' }),
    client_reference: Type.String({ description: 'Your name for the order; made up when left out' }),
    transaction_id: Type.Integer(),
    product_id: Type.Integer(),
    product_name: Type.String(),
    denomination: Type.Number(),
    quantity: Type.Integer(),
    currency_code: Type.String(),
    amount: Type.Number({ description: 'Amount that the wallet paid' }),
    refunded_amount: Type.Number({ description: 'Refunded amount' }),
    discount: Type.Number({ description: 'The discount as an amount' }),
    charges: ChargeSchema,
    wallet_id: Type.Integer(),
    status: Status,
    email: nullable(Type.String()),
    vouchers: Type.Array(VoucherSchema),
    placed_at: Timestamp,
    delivered_at: nullable(Timestamp),
    failed_at: nullable(Timestamp),
    cancelled_at: nullable(Timestamp),
    failure_reason: nullable(Type.String()),
  },
  { title: 'Order' },
)
const REFERENCE_EXAMPLE = 'welcome-42'

const OrderPath = idPath('order')
export const ListQuery = Type.Object({
  ...pageQuery(PAGE),
  status: eitherCaseFilter(ORDER_STATUSES, 'Only with this status, in either case'),
  product_id: idFilter('product'),
  client_reference: textFilter('Your name for the order, in full', REFERENCE_EXAMPLE),
  ref: textFilter('The same as client_reference', REFERENCE_EXAMPLE),
})

const VOUCHER_EXAMPLE = {
  voucher_reference_number: '1-1',
  card_number: 'TESTA7F3K9Q2XZ0M',
  pin_code: '4K2P',
  claim_url: 'https://claim.example/TESTA7F3K9Q2XZ0M',
  expires_at: '2027-01-01T00:00:00.000Z',
}
const VOUCHER_EXAMPLES = [
  VOUCHER_EXAMPLE,
  {
    ...VOUCHER_EXAMPLE,
    voucher_reference_number: '1-2',
    card_number: 'TESTEKDRT7DJ419F',
    pin_code: 'B9TY',
    claim_url: 'https://claim.example/TESTEKDRT7DJ419F',
  },
]
export const ORDER_EXAMPLE = {
  id: 1,
  ref: REFERENCE_EXAMPLE,
  client_reference: REFERENCE_EXAMPLE,
  transaction_id: 6,
  product_id: 1,
  product_name: 'Kettle & Crumb India',
  denomination: 100,
  quantity: 2,
  currency_code: 'INR',
  amount: 230.1,
  refunded_amount: 0,
  discount: 5,
  charges: CHARGE_EXAMPLE,
  wallet_id: 3,
  status: 'DELIVERED' as const,
  email: 'ada@example.com',
  vouchers: VOUCHER_EXAMPLES,
  placed_at: '2026-01-01T00:00:00.000Z',
  delivered_at: '2026-01-01T00:00:00.000Z',
  failed_at: null,
  cancelled_at: null,
  failure_reason: null,
}
/** A product that is not instant, because a delivered order cannot be cancelled. */
const CANCELLED_EXAMPLE = {
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

export const listOrders = operation({
  id: 'listOrders',
  unexpectedError: 'Failed to retrieve orders',
  summary: 'List orders',
  description: 'The newest first.',
  query: ListQuery,
  success: pageOf('A page of orders', OrderSchema, ORDER_EXAMPLE),
  errors: LIST_ORDERS_ERRORS,
})

export const placeOrder = operation({
  id: 'placeOrder',
  unexpectedError: 'Failed to create order',
  summary: 'Buy vouchers',
  description:
    'The price is the current one of the charges endpoint, and the wallet pays it at once. Up to 5 instant digital cards are delivered in the response. All other orders are PENDING at first.',
  headers: IdempotencyHeaders,
  body: OrderBody,
  bodyExample: {
    product_id: 1,
    denomination: 100,
    quantity: 2,
    client_reference: REFERENCE_EXAMPLE,
    email: 'ada@example.com',
  },
  once: true,
  read: readOrder,
  success: {
    status: 200,
    description: 'The order',
    schema: OrderSchema,
    example: ORDER_EXAMPLE,
    headers: REPLAY_HEADERS,
  },
  errors: PLACE_ORDER_ERRORS,
})

export const getOrder = operation({
  id: 'getOrder',
  unexpectedError: 'Failed to retrieve order',
  summary: 'Get an order',
  description: 'Includes its price and the vouchers delivered so far.',
  params: OrderPath,
  success: { status: 200, description: 'The order', schema: OrderSchema, example: ORDER_EXAMPLE },
  errors: ORDER_LOOKUP_ERRORS,
})

export const listVouchers = operation({
  id: 'listVouchers',
  unexpectedError: 'Failed to retrieve vouchers',
  summary: 'List the delivered vouchers of an order',
  description: 'Includes codes and PINs. The list is empty until something is delivered.',
  params: OrderPath,
  success: {
    status: 200,
    description: 'The vouchers, in order of delivery',
    schema: Type.Array(VoucherSchema),
    example: VOUCHER_EXAMPLES,
  },
  errors: ORDER_LOOKUP_ERRORS,
})

export const cancelOrder = operation({
  id: 'cancelOrder',
  unexpectedError: 'Failed to cancel order',
  summary: 'Cancel a pending order',
  description: 'The wallet is refunded in full.',
  params: OrderPath,
  success: { status: 200, description: 'The cancelled order', schema: OrderSchema, example: CANCELLED_EXAMPLE },
  errors: CANCEL_ORDER_ERRORS,
})
