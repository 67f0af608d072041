import type { Command } from 'commander'
import type { Query, Tx } from '../../db/database.ts'
import { toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { deliver, failOrder } from '../../orders/delivery.ts'
import { findAnyOrder, ORDER_STATUSES, type Order, ordersOf, vouchersOf } from '../../orders/queries.ts'
import { refundVouchers } from '../../orders/refund.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { findAnyWallet } from '../../wallets/queries.ts'
import { isOfStatus } from '../advice.ts'
import { wholeNumber } from '../arguments.ts'
import { Amount, listOf, mapped, type Row } from '../terminal/cells.ts'
import { act, moneyCommand } from './acts.ts'
import { type Administration, administer, dataCommand, refused } from './administration.ts'
import { clientNamesById } from './client-records.ts'
import { type ListOptions, listCommand, narrowingOf } from './lists.ts'

/** `scrip orders`: what an operator delivers, or gives up (contract C12). Codes are never shown. */
export const orderCommands = (orders: Command): void => {
  const narrowable = { client: true, times: 'placed', statuses: ORDER_STATUSES } as const
  listCommand(orders, 'list', 'list the orders of all clients, oldest first', narrowable).action(
    administer(({ database: { query }, reference }, options: ListOptions) => {
      const names = clientNamesById(query)
      const found = ordersOf(query, narrowingOf(query, options))
      return listOf(
        ORDER_COLUMNS,
        mapped(found, (order) => orderRow(query, reference, names, order)),
      )
    }),
  )
  dataCommand(orders, 'show', 'show an order: its price, its times and the references of its vouchers')
    .argument('<id>', 'the order', wholeNumber)
    .action(
      administer(({ database: { query }, reference }, id: number) =>
        orderDetails(query, reference, getOrder(query, id)),
      ),
    )
  moneyCommand(orders, 'deliver', 'deliver some vouchers of an order, or all that remain')
    .argument('<id>', 'the order', wholeNumber)
    .argument('[quantity]', 'number of vouchers', wholeNumber)
    .action(
      change((tx, { world, delivering }, order, quantity: number | undefined) =>
        deliver(tx, world, delivering, order, quantity ?? order.quantity, world.clock.nowMs()),
      ),
    )
  moneyCommand(orders, 'fail', 'fail an order; the client is refunded what was not delivered')
    .argument('<id>', 'the order', wholeNumber)
    .option('--reason <text>', 'reason shown to the client', 'The order could not be delivered')
    .action(
      change((tx, { world, delivering }, order, { reason }: { reason: string }) =>
        failOrder(tx, world, delivering, order, reason, world.clock.nowMs()),
      ),
    )
  moneyCommand(orders, 'refund', 'refund a delivered order, or some of its vouchers; the codes are not sold again')
    .argument('<id>', 'the order', wholeNumber)
    .option('--vouchers <references>', 'only these, as voucher_reference_number, separated by commas', referencesIn)
    .option('--remarks <text>', 'remarks shown to the client', 'Refunded')
    .action(
      change((tx, { world, reference }, order, { vouchers, remarks }: { vouchers?: string[]; remarks: string }) =>
        refundVouchers(tx, { world, reference }, order, vouchers, remarks, world.clock.nowMs()),
      ),
    )
}

const referencesIn = (text: string): string[] => text.split(',').map((reference) => reference.trim())

const change = <Args extends unknown[]>(by: (tx: Tx, data: Administration, order: Order, ...args: Args) => Order) =>
  act((data, id: number, ...args: Args) =>
    data.write((tx) => {
      const order = getOrder(tx, id)
      const changed = refusing(order, () => by(tx, data, order, ...args))
      const { reference } = data
      data.record(tx, { before: stateOf(tx, reference, order), after: stateOf(tx, reference, changed) })
      return orderRow(tx, data.reference, clientNamesById(tx), changed)
    }),
  )

/** @throws ProgramError in place of a failure, with the status that the order has */
const refusing = <T>({ id, status }: Order, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!isOfStatus(error)) throw error
    const next =
      status === 'DELIVERED' ? `scrip orders refund ${id} gives its money back.` : `See scrip orders show ${id}.`
    throw refused(`order ${id} is ${status}, and cannot be changed like this\n${next}`)
  }
}

/** For the audit. */
const stateOf = (query: Query, reference: Reference, order: Order) => ({
  status: order.status,
  delivered: order.deliveredQuantity,
  refunded_amount: new Amount(order.refundedMinor, walletCurrencyOf(query, reference, order)),
})

/** @throws ProgramError */
const getOrder = (query: Query, id: number): Order => {
  const order = findAnyOrder(query, id)
  if (!order) throw refused(`there is no order ${id}\nSee scrip orders list.`)
  return order
}

const ORDER_COLUMNS = [
  'id',
  'client',
  'status',
  'product_id',
  'product',
  'denomination',
  'currency',
  'quantity',
  'delivered',
  'paid',
  'paid_currency',
  'refunded_amount',
  'client_reference',
  'failure_reason',
  'placed_at',
] as const

const orderRow = (query: Query, reference: Reference, names: ReadonlyMap<number, string>, order: Order) => {
  const currency = reference.getCurrency(order.currencyId)
  const walletCurrency = walletCurrencyOf(query, reference, order)
  return {
    id: order.id,
    client: names.get(order.clientId) ?? null,
    status: order.status,
    product_id: order.productId,
    product: order.productName,
    denomination: new Amount(order.denominationMinor, currency),
    currency: currency.currency,
    quantity: order.quantity,
    delivered: order.deliveredQuantity,
    paid: new Amount(order.payableMinor, walletCurrency),
    paid_currency: walletCurrency.currency,
    refunded_amount: new Amount(order.refundedMinor, walletCurrency),
    client_reference: order.reference,
    failure_reason: order.failureReason,
    placed_at: toTimestamp(order.placedAtMs),
  }
}

const walletCurrencyOf = (query: Query, reference: Reference, { walletId, currencyId }: Order): Currency =>
  reference.getCurrency(findAnyWallet(query, walletId)?.currencyId ?? currencyId)

const orderDetails = (query: Query, reference: Reference, order: Order): Row => {
  const { placed_at, ...row } = orderRow(query, reference, clientNamesById(query), order)
  const currency = reference.getCurrency(order.currencyId)
  const walletCurrency = walletCurrencyOf(query, reference, order)
  const vouchers = vouchersOf(query, order.id)
  return {
    ...row,
    wallet_id: order.walletId,
    transaction_id: order.transactionId,
    total: new Amount(order.totalMinor, currency),
    discount: new Amount(order.discountMinor, currency),
    net: new Amount(order.netMinor, walletCurrency),
    gst: new Amount(order.gstMinor, walletCurrency),
    handling_fee: new Amount(order.feeMinor, walletCurrency),
    conversion_fee: order.conversionMinor === null ? null : new Amount(order.conversionMinor, walletCurrency),
    email: order.email,
    vouchers: vouchers.map(({ reference: voucher }) => voucher),
    refunded_vouchers: vouchers.flatMap(({ refundedAtMs, reference: voucher }) =>
      refundedAtMs === null ? [] : [voucher],
    ),
    placed_at,
    delivered_at: toTimestampOrNull(order.deliveredAtMs),
    failed_at: toTimestampOrNull(order.failedAtMs),
    cancelled_at: toTimestampOrNull(order.cancelledAtMs),
  }
}
