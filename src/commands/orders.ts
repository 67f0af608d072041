import type { Command } from 'commander'
import type { Query, Tx } from '../db/database.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { deliver, failOrder } from '../orders/delivery.ts'
import { allOrders, findAnyOrder, ORDER_STATUSES, type Order, type OrderStatus } from '../orders/queries.ts'
import type { Reference } from '../reference/reference.ts'
import { findAnyWallet } from '../wallets/queries.ts'
import { type Administration, administer, dataCommand, refused } from './administration.ts'
import { oneOf, wholeNumber } from './arguments.ts'
import { clientNamesById } from './client.ts'
import { Amount, type Row } from './output.ts'

/** `scrip orders`: what an operator delivers, or gives up (contract C12). Codes are never shown. */
export const orderCommands = (orders: Command): void => {
  dataCommand(orders, 'list', 'list the orders of all clients, oldest first')
    .option('--status <status>', `only this status: ${ORDER_STATUSES.join(', ')}`, oneOf(ORDER_STATUSES))
    .action(
      administer(({ database: { query }, reference }, { status }: { status?: OrderStatus }) => {
        const names = clientNamesById(query)
        return allOrders(query, status && [status]).map((order) => orderRow(query, reference, names, order))
      }),
    )
  dataCommand(orders, 'deliver', 'deliver some vouchers of an order, or all that remain')
    .argument('<id>', 'the order', wholeNumber)
    .argument('[quantity]', 'number of vouchers', wholeNumber)
    .action(
      change((tx, { world, delivering }, order, quantity: number | undefined) =>
        deliver(tx, world, delivering, order, quantity ?? order.quantity, world.clock.nowMs()),
      ),
    )
  dataCommand(orders, 'fail', 'fail an order; the client is refunded what was not delivered')
    .argument('<id>', 'the order', wholeNumber)
    .option('--reason <text>', 'reason shown to the client', 'The order could not be delivered')
    .action(
      change((tx, { world, delivering }, order, { reason }: { reason: string }) =>
        failOrder(tx, world, delivering, order, reason, world.clock.nowMs()),
      ),
    )
}

const change = <Args extends unknown[]>(by: (tx: Tx, data: Administration, order: Order, ...args: Args) => Order) =>
  administer((data, id: number, ...args: Args) =>
    data.write((tx) => {
      const order = findAnyOrder(tx, id)
      if (!order) throw refused(`There is no order ${id}: see scrip orders list.`)
      return orderRow(tx, data.reference, clientNamesById(tx), by(tx, data, order, ...args))
    }),
  )

const orderRow = (query: Query, reference: Reference, names: ReadonlyMap<number, string>, order: Order): Row => {
  const currency = reference.getCurrency(order.currencyId)
  const walletCurrencyId = findAnyWallet(query, order.walletId)?.currencyId ?? order.currencyId
  const walletCurrency = reference.getCurrency(walletCurrencyId)
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
    client_reference: order.reference,
    failure_reason: order.failureReason,
    placed_at: toTimestamp(order.placedAtMs),
  }
}
