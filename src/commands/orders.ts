import type { Command } from 'commander'
import type { DataOptions } from '../config/option-table.ts'
import type { Query, Tx } from '../db/database.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { type Delivering, deliver, failOrder } from '../orders/delivery.ts'
import { allOrders, findAnyOrder, ORDER_STATUSES, type Order, type OrderStatus } from '../orders/queries.ts'
import type { Reference } from '../reference/reference.ts'
import { findAnyWallet } from '../wallets/queries.ts'
import type { World } from '../worlds/world.ts'
import { administer, dataCommand, refused } from './administration.ts'
import { oneOf, wholeNumber } from './arguments.ts'
import { clientNamesById } from './client.ts'
import { Amount, type Row } from './output.ts'

/** `scrip orders`: what an operator delivers, or gives up (contract C12). Codes are never shown. */
export const orderCommands = (orders: Command): void => {
  dataCommand(orders, 'list', 'list the orders of all clients, oldest first')
    .option('--status <status>', `only this status: ${ORDER_STATUSES.join(', ')}`, oneOf(ORDER_STATUSES))
    .action((options: DataOptions & { status?: OrderStatus }) =>
      administer(options, ({ database: { query }, reference }) => {
        const names = clientNamesById(query)
        return allOrders(query, options.status).map((order) => orderRow(query, reference, names, order))
      }),
    )
  dataCommand(orders, 'deliver', 'deliver some vouchers of an order, or all that remain')
    .argument('<id>', 'the order', wholeNumber)
    .argument('[quantity]', 'number of vouchers', wholeNumber)
    .action((id: number, quantity: number | undefined, options: DataOptions) =>
      change(options, id, (tx, world, delivering, order) =>
        deliver(tx, world, delivering, order, quantity ?? order.quantity, world.clock.nowMs()),
      ),
    )
  dataCommand(orders, 'fail', 'fail an order; the client is refunded what was not delivered')
    .argument('<id>', 'the order', wholeNumber)
    .option('--reason <text>', 'reason shown to the client', 'The order could not be delivered')
    .action((id: number, options: DataOptions & { reason: string }) =>
      change(options, id, (tx, world, { supply }, order) =>
        failOrder(tx, supply, order, options.reason, world.clock.nowMs()),
      ),
    )
}

type Change = (tx: Tx, world: World, delivering: Delivering, order: Order) => Order

const change = (options: DataOptions, id: number, how: Change): Promise<void> =>
  administer(options, ({ world, reference, delivering, write }) =>
    write((tx) => {
      const order = findAnyOrder(tx, id)
      if (!order) throw refused(`There is no order ${id}: see scrip orders list.`)
      return orderRow(tx, reference, clientNamesById(tx), how(tx, world, delivering, order))
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
