import type { Static } from '@sinclair/typebox'
import { PRODUCT_NOT_FOUND } from '../catalog/contract.ts'
import { QUOTE_ERRORS } from '../charges/contract.ts'
import type { Query } from '../db/database.ts'
import { pageOf } from '../http/operation.ts'
import { newestOf, paged } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { foundOr, violation } from '../kernel/failure.ts'
import { reportUnreadable } from '../kernel/unreadable.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Session } from '../sessions/sessions.ts'
import { INSUFFICIENT_BALANCE } from '../wallets/contract.ts'
import type { World } from '../work/world.ts'
import { associatedDataInOrder } from './cipher.ts'
import {
  CANCELLED_EXAMPLE,
  DUPLICATE_CLIENT_REFERENCE,
  INSUFFICIENT_STOCK,
  ORDER_NOT_FOUND,
  OrderBody,
  OrderListQuery,
  OrderPath,
  OrderSchema,
  orderNotCancellable,
  orderWire,
  readOrder,
  VouchersSchema,
  voucherWire,
} from './contract.ts'
import { cancelOrder } from './delivery.ts'
import { type Ordering, placeOrder } from './orders.ts'
import { findOrder, orderList, vouchersOf } from './queries.ts'
import type { Order } from './tables.ts'

/** Orders and their vouchers (contract C12), for accounts with vouchers. */
export const orderRoutes = ({ guard, ...ordering }: Ordering & { guard: Guard }) => {
  const { ciphers, reference } = ordering
  const opened = ({ db }: World, order: Order) => {
    const cipher = ciphers(db.query)
    return vouchersOf(db.query, order).map((voucher) => {
      const code = cipher.decryptCode(voucher.sealed, associatedDataInOrder(order, voucher))
      if (!code) reportUnreadable(`code of voucher ${voucher.reference}`)
      return voucherWire(voucher, code)
    })
  }
  const wire = (world: World, order: Order) => orderWire(order, opened(world, order), reference)
  return guard
    .routes({
      prefix: '/api/v1/orders',
      tag: 'Orders',
      tagDescription: 'Gift cards bought, and the vouchers that are delivered. For accounts with the vouchers feature.',
      feature: 'vouchers',
      names: 'orders.',
    })
    .get(
      '/',
      ({ query, session, set }) =>
        paged(
          set,
          query,
          orderList.page(session, sliceWanted(query), (order) => wire(session.world, order)),
        ),
      {
        id: 'listOrders',
        summary: 'List orders',
        description: 'The newest first.',
        query: OrderListQuery,
        response: pageOf('A page of orders', OrderSchema),
        refuses: { list_validation: violation('limit', 'max', 'must be at most 100') },
      },
    )
    .post(
      '/',
      async (incoming) => {
        const { session } = incoming
        return once(
          incoming,
          (tx, orderRequest) => wire(session.world, placeOrder(tx, ordering, session, orderRequest)),
          ciphers,
        )
      },
      {
        id: 'placeOrder',
        unexpectedError: 'Failed to create order',
        summary: 'Buy vouchers',
        description:
          'The order costs what the charges endpoint quotes now, and the wallet is debited immediately. Up to 5 instant digital cards are delivered in the response. All other orders are PENDING at first.',
        body: OrderBody,
        read: readOrder,
        once: true,
        response: { description: 'The order', schema: OrderSchema },
        refuses: {
          validation: violation('quantity', 'required', 'is required'),
          product_not_found: PRODUCT_NOT_FOUND,
          ...QUOTE_ERRORS,
          duplicate_reference: DUPLICATE_CLIENT_REFERENCE,
          insufficient_balance: INSUFFICIENT_BALANCE,
          insufficient_stock: INSUFFICIENT_STOCK,
        },
      },
    )
    .get('/:id', ({ params, session }) => wire(session.world, getOrder(session, params.id)), {
      id: 'getOrder',
      summary: 'Get an order',
      description: 'Includes its price and the vouchers delivered so far.',
      params: OrderPath,
      response: { description: 'The order', schema: OrderSchema },
      refuses: { not_found: ORDER_NOT_FOUND },
    })
    .get('/:id/vouchers', ({ params, session }) => opened(session.world, getOrder(session, params.id)), {
      id: 'listVouchers',
      summary: 'List the delivered vouchers of an order',
      description: 'Includes codes and PINs. The list is empty until something is delivered.',
      params: OrderPath,
      response: { description: 'The vouchers, in order of delivery', schema: VouchersSchema },
      refuses: { not_found: ORDER_NOT_FOUND },
    })
    .post(
      '/:id/cancel',
      async (incoming) => {
        const { params, session } = incoming
        const { world } = session
        return once(
          incoming,
          (tx) => wire(world, cancelOrder(tx, world, ordering, getOrder(session, params.id, tx))),
          ciphers,
        )
      },
      {
        id: 'cancelOrder',
        summary: 'Cancel a pending order',
        description: 'The wallet is refunded in full.',
        params: OrderPath,
        once: true,
        response: { description: 'The cancelled order', schema: OrderSchema, example: CANCELLED_EXAMPLE },
        refuses: { not_found: ORDER_NOT_FOUND, not_cancellable: orderNotCancellable('DELIVERED') },
      },
    )
}

/** @throws DomainError not_found */
const getOrder = ({ world, client }: Session, id: number, query: Query = world.db.query): Order =>
  foundOr(findOrder(query, client.id, id), ORDER_NOT_FOUND)

const sliceWanted = (query: Static<typeof OrderListQuery>) => {
  const { status, product_id: productId, client_reference: reference, ref } = query
  return { filters: { status, productId, reference, ref }, ...newestOf(query) }
}
