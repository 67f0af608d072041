import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { found, notFound } from '../../kernel/failure.ts'
import { deliver, failOrder } from '../../orders/delivery.ts'
import { findAnyOrder, type Order } from '../../orders/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import type { OrderState } from './operator-operations.ts'
import * as operations from './operator-operations.ts'
import { presentWorld } from './present.ts'

export const operatorOrderRoutes = ({ ordering, ...parts }: Parts) =>
  new Elysia({ name: 'sandbox-orders' })
    .post(
      '/orders/:id/deliver',
      async ({ params, query, body }) => {
        const world = await presentWorld(parts, query.world)
        return onOrder(world, params.id, (tx, order) =>
          deliver(tx, world, ordering, order, body.quantity ?? order.quantity, world.clock.nowMs()),
        )
      },
      operations.deliverOrder,
    )
    .post(
      '/orders/:id/fail',
      async ({ params, query, body }) => {
        const world = await presentWorld(parts, query.world)
        const reason = body.failure_reason ?? 'The order could not be delivered'
        return onOrder(world, params.id, (tx, order) =>
          failOrder(tx, ordering.supply, order, reason, world.clock.nowMs()),
        )
      },
      operations.failOrder,
    )

/** @throws DomainError not_found */
const onOrder = async (
  world: World,
  id: number,
  move: (tx: Tx, order: Order) => Order,
): Promise<Static<typeof OrderState>> => {
  const { status } = await world.db.write((tx) => move(tx, found(findAnyOrder(tx, id), notFound('Order'))))
  return { id, status }
}
