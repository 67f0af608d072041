import type { Static } from '@sinclair/typebox'
import { type Context, Elysia } from 'elysia'
import type { Query, Tx } from '../db/database.ts'
import { pageHeaders, sliceOf } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { toTimestampOrNull } from '../kernel/clock.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Session } from '../sessions/sessions.ts'
import type { World } from '../worlds/world.ts'
import { cancelOrder } from './delivery.ts'
import { ORDER_NOT_FOUND } from './errors.ts'
import * as operations from './operations.ts'
import { type ListQuery, type OrderRequest, ROUTE, type VoucherSchema } from './operations.ts'
import { type Ordering, placeOrder } from './orders.ts'
import { findOrder, orderList, vouchersOf } from './queries.ts'
import { placeInOrder } from './seal.ts'
import type { Order } from './tables.ts'
import type { SealSource } from './voucher-key.ts'
import { orderWire } from './wire.ts'

/** Orders and their vouchers (contract C12), for accounts with vouchers. Errors leave in the structured shape. */

export const orderRoutes = ({ guard, ...ordering }: Ordering & { guard: Guard }) => {
  const { atRest, opened, wire } = orderViews(ordering)
  return new Elysia({ name: 'orders', prefix: ROUTE })
    .use(guard.plugin({ feature: 'vouchers', ready: ordering.pricing.catalog.ready }))
    .onBeforeHandle(neverCached)
    .get(
      '/',
      async ({ query, session, set }) => {
        const { entries, totalCount } = await orderList.page(session, sliceWanted(query), (order) =>
          wire(session.world, order),
        )
        Object.assign(set.headers, pageHeaders(query, totalCount))
        return entries
      },
      operations.listOrders,
    )
    .post(
      '/',
      async ({ body, session, set }) => {
        const place = (tx: Tx, wanted: OrderRequest) => wire(session.world, placeOrder(tx, ordering, session, wanted))
        return once(body, session, set, place, atRest)
      },
      operations.placeOrder,
    )
    .get('/:id', ({ params, session }) => wire(session.world, getOrder(session, params.id)), operations.getOrder)
    .get(
      '/:id/vouchers',
      ({ params, session }) => opened(session.world, getOrder(session, params.id)),
      operations.listVouchers,
    )
    .post(
      '/:id/cancel',
      async ({ params, session }) => {
        const { world, write } = session
        const order = await write((tx) => cancelOrder(tx, world, ordering, getOrder(session, params.id, tx)))
        return wire(world, order)
      },
      operations.cancelOrder,
    )
}

/** The responses contain voucher codes (contract C3). */
const neverCached = ({ set }: Pick<Context, 'set'>): void => {
  set.headers['Cache-Control'] = 'no-store'
}

/** @throws DomainError not_found */
const getOrder = ({ world, client }: Session, id: number, query: Query = world.db.query): Order =>
  found(findOrder(query, client.id, id), ORDER_NOT_FOUND)

const sliceWanted = (query: Static<typeof ListQuery>) => {
  const { status, product_id: productId, client_reference: reference, ref } = query
  const filters = { status, productId, reference, ref }
  return { filters, sort: 'id', direction: 'DESC', ...sliceOf(query) } as const
}

/** How orders and their vouchers are read, written and stored for an Idempotency-Key. */
const orderViews = ({ seals, reference }: Ordering) => {
  const opened = ({ db }: World, order: Order) => openVouchers(order, vouchersOf(db.query, order.id), seals(db.query))
  const wire = (world: World, order: Order, vouchers = opened(world, order)) => orderWire(order, vouchers, reference)
  return {
    opened,
    wire,
    // A response contains codes, so it is stored sealed.
    atRest: {
      close: (tx: Tx, json: string, place: string) => seals(tx).closeText(json, place).toString('base64'),
      open: (tx: Tx, kept: string, place: string) => seals(tx).openText(Buffer.from(kept, 'base64'), place),
    },
  }
}

/** A voucher that cannot be opened has null codes and does not fail the others (contract C12). */
const openVouchers = (
  order: Order,
  vouchers: ReturnType<typeof vouchersOf>,
  seal: ReturnType<SealSource>,
): Static<typeof VoucherSchema>[] =>
  vouchers.map((voucher) => {
    const code = seal.open(voucher.sealed, placeInOrder(order, voucher))
    return {
      voucher_reference_number: voucher.reference,
      card_number: code?.cardNumber ?? null,
      pin_code: code?.pinCode ?? null,
      claim_url: code?.claimUrl ?? null,
      expires_at: toTimestampOrNull(voucher.expiresAtMs),
    }
  })
