import type { Command } from 'commander'
import type { Acts } from '../../acts/act.ts'
import type { Kind, Shown } from '../../acts/kind.ts'
import { toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { deliver, failOrder } from '../../orders/delivery.ts'
import { findAnyOrder, ORDER_STATUSES, type Order, ordersOf, vouchersOf } from '../../orders/queries.ts'
import { REFUNDED_REMARKS, refundVouchers } from '../../orders/refund.ts'
import { acting } from '../acts/ask.ts'
import { wholeNumber } from '../arguments.ts'
import { change, list, listCommand, moneyCommand, recordCommand, show } from './records.ts'

/** `scrip orders`: orders that an operator delivers, fails or refunds (contract C12, C17). Codes are never shown. */
export const orderCommands = (orders: Command): void => {
  const act = acting(orderActs)
  const narrowable = { client: true, times: 'placed', statuses: ORDER_STATUSES } as const
  listCommand(orders.command('list'), 'list the orders of all clients, newest first', narrowable).action(
    list(ORDER.columns, ordersOf),
  )
  const shown = 'show an order: its price, its times and the references of its vouchers'
  recordCommand(orders, ORDER, 'show', shown).action(show(ORDER))
  moneyCommand(orders, ORDER, 'deliver', 'deliver some vouchers of an order, or all that remain')
    .argument('[quantity]', 'number of vouchers', wholeNumber)
    .action(act)
  moneyCommand(orders, ORDER, 'fail', 'fail an order; the client is refunded what was not delivered')
    .option('--reason <text>', 'reason shown to the client', 'The order could not be delivered')
    .action(act)
  const refunded = 'refund a delivered order, or some of its vouchers; the codes are not sold again'
  moneyCommand(orders, ORDER, 'refund', refunded)
    .option('--vouchers <references>', 'only these, as voucher_reference_number, separated by commas', referencesIn)
    .option('--remarks <text>', 'remarks shown to the client', REFUNDED_REMARKS)
    .action(act)
}

const referencesIn = (text: string): string[] => text.split(',').map((reference) => reference.trim())

const COLUMNS: Shown<Order> = {
  id: ({ id }) => id,
  client: ({ clientId }, { clientName }) => clientName(clientId),
  status: ({ status }) => status,
  product: ({ productName }) => productName,
  quantity: ({ quantity }) => quantity,
  denomination: ({ denominationMinor, currencyId }, { amount }) => amount(denominationMinor, currencyId),
  currency: ({ currencyId }, { currency }) => currency(currencyId).currency,
  paid: ({ payableMinor, walletId }, { walletAmount }) => walletAmount(payableMinor, walletId),
  paid_currency: ({ walletId }, { walletCurrency }) => walletCurrency(walletId).currency,
  delivered: ({ deliveredQuantity }) => deliveredQuantity,
  product_id: ({ productId }) => productId,
  refunded_amount: ({ refundedMinor, walletId }, { walletAmount }) => walletAmount(refundedMinor, walletId),
  client_reference: ({ reference }) => reference,
  failure_reason: ({ failureReason }) => failureReason,
}

const PLACED: Shown<Order> = { placed_at: ({ placedAtMs }) => toTimestamp(placedAtMs) }

export const ORDER: Kind<number, Order> = {
  name: 'order',
  group: 'orders',
  argument: ['<id>', 'the order', wholeNumber],
  find: findAnyOrder,
  columns: { ...COLUMNS, ...PLACED },
  details: {
    ...COLUMNS,
    wallet_id: ({ walletId }) => walletId,
    transaction_id: ({ transactionId }) => transactionId,
    total: ({ totalMinor, currencyId }, { amount }) => amount(totalMinor, currencyId),
    discount: ({ discountMinor, currencyId }, { amount }) => amount(discountMinor, currencyId),
    net: ({ netMinor, walletId }, { walletAmount }) => walletAmount(netMinor, walletId),
    gst: ({ gstMinor, walletId }, { walletAmount }) => walletAmount(gstMinor, walletId),
    handling_fee: ({ feeMinor, walletId }, { walletAmount }) => walletAmount(feeMinor, walletId),
    conversion_fee: ({ conversionMinor, walletId }, { walletAmount }) => walletAmount(conversionMinor, walletId),
    email: ({ email }) => email,
    vouchers: (order, { query }) => vouchersOf(query, order).map(({ reference }) => reference),
    refunded_vouchers: (order, { query }) =>
      vouchersOf(query, order).flatMap(({ refundedAtMs, reference }) => (refundedAtMs === null ? [] : [reference])),
    ...PLACED,
    delivered_at: ({ deliveredAtMs }) => toTimestampOrNull(deliveredAtMs),
    failed_at: ({ failedAtMs }) => toTimestampOrNull(failedAtMs),
    cancelled_at: ({ cancelledAtMs }) => toTimestampOrNull(cancelledAtMs),
  },
  audited: {
    status: ({ status }) => status,
    delivered: ({ deliveredQuantity }) => deliveredQuantity,
    refunded_amount: ({ refundedMinor, walletId }, { walletAmount }) => walletAmount(refundedMinor, walletId),
  },
  remedyOf: ({ id, status }) =>
    status === 'DELIVERED' ? `scrip orders refund ${id} gives its money back.` : `See scrip orders show ${id}.`,
}

export const orderActs: Acts = {
  'orders deliver': change(ORDER, (tx, order, { world, delivering }, quantity?: number) =>
    deliver(tx, world, delivering, order, quantity ?? order.quantity, world.clock.nowMs()),
  ),
  'orders fail': change(ORDER, (tx, order, { world, delivering }, { reason }: { reason: string }) =>
    failOrder(tx, world, delivering, order, reason, world.clock.nowMs()),
  ),
  'orders refund': change(ORDER, (tx, order, data, { vouchers, remarks }: { vouchers?: string[]; remarks: string }) =>
    refundVouchers(tx, data, order, vouchers, remarks, data.world.clock.nowMs()),
  ),
}
