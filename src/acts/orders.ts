import { Type } from '@sinclair/typebox'
import { Text } from '../http/validation.ts'
import { transitionRefused, violation } from '../kernel/failure.ts'
import { deliver, FAILED_REASON, failOrder } from '../orders/delivery.ts'
import { findAnyOrder, ORDER_STATUSES, type Order, ordersOf, vouchersOf } from '../orders/queries.ts'
import { REFUNDED_REMARKS, refundRefused, refundVouchers } from '../orders/refund.ts'
import { actsOfOrder } from '../orders/states.ts'
import { field, numberOrText, wholeNumber } from './fields.ts'
import { type Kind, listing, members, type Noun, type Shown, showing, step } from './kind.ts'

/** `scrip orders`: an operator delivers, fails or refunds orders (contract C12, C17). Codes are never shown. */

const REFUNDED: Shown<Order> = {
  refunded_amount: ({ refundedMinor, walletId }, { walletAmount }) => walletAmount(refundedMinor, walletId),
}

const COLUMNS: Shown<Order> = {
  ...members<Order>('id', 'clientId', 'status'),
  product: ({ productName }) => productName,
  ...members<Order>('quantity', 'denominationMinor', 'currencyId'),
  paid: ({ payableMinor, walletId }, { walletAmount }) => walletAmount(payableMinor, walletId),
  paid_currency: ({ walletId }, { walletCurrency }) => walletCurrency(walletId).currency,
  delivered: ({ deliveredQuantity }) => deliveredQuantity,
  ...members<Order>('productId'),
  ...REFUNDED,
  client_reference: ({ reference }) => reference,
  ...members<Order>('failureReason'),
  can: actsOfOrder,
}

const PLACED = members<Order>('placedAtMs')

export const ORDER: Kind<number, Order> = {
  name: 'order',
  group: 'orders',
  argument: field('<id>', 'the order', { read: wholeNumber }),
  find: findAnyOrder,
  columns: { ...COLUMNS, ...PLACED },
  details: {
    ...COLUMNS,
    ...members<Order>('walletId', 'transactionId', 'totalMinor', 'discountMinor'),
    net: ({ netMinor, walletId }, { walletAmount }) => walletAmount(netMinor, walletId),
    gst: ({ gstMinor, walletId }, { walletAmount }) => walletAmount(gstMinor, walletId),
    handling_fee: ({ feeMinor, walletId }, { walletAmount }) => walletAmount(feeMinor, walletId),
    conversion_fee: ({ conversionMinor, walletId }, { walletAmount }) => walletAmount(conversionMinor, walletId),
    ...members<Order>('email'),
    vouchers: (order, { query }) => vouchersOf(query, order).map(({ reference }) => reference),
    refunded_vouchers: (order, { query }) =>
      vouchersOf(query, order).flatMap(({ refundedAtMs, reference }) => (refundedAtMs === null ? [] : [reference])),
    ...PLACED,
    ...members<Order>('deliveredAtMs', 'failedAtMs', 'cancelledAtMs'),
  },
  isMoney: true,
  allows: (order, verb) => actsOfOrder(order).includes(verb),
  audited: { ...members<Order>('status'), delivered: ({ deliveredQuantity }) => deliveredQuantity, ...REFUNDED },
  remedyOf: ({ id, status }) =>
    status === 'DELIVERED' ? `scrip orders refund ${id} gives its money back.` : `See scrip orders show ${id}.`,
}

const referencesIn = (text: string): string[] => text.split(',').map((reference) => reference.trim())

const VOUCHERS = {
  schema: Type.Array(Text({ maxLength: 100 }), {
    minItems: 1,
    maxItems: 10_000,
    description: 'The voucher_reference_number of each; by default all that are not refunded',
  }),
  read: referencesIn,
}
const QUANTITY = { schema: Type.Integer({ minimum: 1 }), read: numberOrText }
const REASON = { schema: Text({ minLength: 1, maxLength: 1_000 }), fallback: FAILED_REASON }
const REMARKS = {
  schema: Text({ minLength: 1, maxLength: 1_000, description: 'The remarks of the transaction' }),
  fallback: REFUNDED_REMARKS,
}

const BRIEF = 'id client status product paid client_reference placed_at'
const NARROWED = {
  brief: BRIEF,
  client: true,
  times: 'placed',
  statuses: ORDER_STATUSES,
  inSandbox: 'GET /orders',
} as const

export const orderActs = {
  list: listing('List the orders of all clients, newest first', ORDER.columns, ordersOf, NARROWED),
  show: showing(ORDER, 'Show an order: its price, its times and the references of its vouchers'),
  deliver: step(
    ORDER,
    'Deliver vouchers',
    'Deliver some vouchers of an order, or all',
    { quantity: field('[quantity]', 'number of vouchers', QUANTITY) },
    (tx, order, { quantity = order.quantity }, { world, delivering }) =>
      deliver(tx, world, delivering, order, quantity, world.clock.nowMs()),
    {
      route: 'POST /orders/{id}/deliver',
      id: 'deliverOrder',
      names: 'order_deliver.',
      description: 'The vouchers are created immediately, whatever the pace of the world.',
      title: 'DeliveryRequest',
      bodyExample: { quantity: 1 },
      endsWith: { status: 'PARTIALLY_DELIVERED' },
      wrong: violation('quantity', 'min', 'must be at least 1'),
      refuses: { transition_refused: transitionRefused('DELIVERED', 'DELIVERED') },
    },
  ),
  fail: step(
    ORDER,
    'Mark as failed',
    'Fail an order, or the part not yet delivered',
    { failure_reason: field('--reason <text>', 'reason shown to the client', REASON) },
    (tx, order, { failure_reason: reason = FAILED_REASON }, { world, delivering }) =>
      failOrder(tx, world, delivering, order, reason, world.clock.nowMs()),
    {
      route: 'POST /orders/{id}/fail',
      id: 'failOrder',
      names: 'order_fail.',
      description: 'The wallet is refunded for the vouchers that were not delivered.',
      title: 'OrderFailureRequest',
      bodyExample: { failure_reason: 'Out of stock' },
      endsWith: { status: 'FAILED' },
      wrong: violation('failure_reason', 'min', 'must be at least 1 character long'),
      refuses: { transition_refused: transitionRefused('DELIVERED', 'FAILED') },
    },
  ),
  refund: step(
    ORDER,
    'Refund vouchers',
    'Refund a delivered order, or some of its vouchers',
    {
      vouchers: field(
        '--vouchers <references>',
        'only these, as voucher_reference_number, separated by commas',
        VOUCHERS,
      ),
      remarks: field('--remarks <text>', 'remarks shown to the client', REMARKS),
    },
    (tx, order, { vouchers, remarks = REFUNDED_REMARKS }, context) =>
      refundVouchers(tx, context, order, vouchers, remarks, context.world.clock.nowMs()),
    {
      route: 'POST /orders/{id}/refund',
      id: 'refundOrder',
      names: 'order_refund.',
      description:
        'The wallet gets back what it paid for them. The order keeps its status; refunded_amount is the sum of its refunds.',
      title: 'OrderRefundRequest',
      bodyExample: { vouchers: ['1-1'], remarks: 'Wrong brand' },
      endsWith: { status: 'DELIVERED' },
      wrong: violation('remarks', 'min', 'must be at least 1 character long'),
      refuses: { refused: refundRefused('Order 1 is already refunded') },
    },
  ),
} satisfies Noun
