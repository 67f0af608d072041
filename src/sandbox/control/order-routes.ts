import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { invalidId } from '../../http/failures.ts'
import { idPath } from '../../http/parameters.ts'
import { Text } from '../../http/validation.ts'
import { type Failure, found, notFound, transitionRefused } from '../../kernel/failure.ts'
import { deliver, failOrder } from '../../orders/delivery.ts'
import type { Ordering } from '../../orders/orders.ts'
import { findAnyOrder, type Order, type OrderStatus } from '../../orders/queries.ts'
import type { World } from '../../worlds/world.ts'
import { WorldQuery } from '../worlds/model.ts'
import { bodyErrors, controlOperation, tooShort } from './operation.ts'
import { type OperatorOptions, presentWorld } from './present.ts'

const Delivery = Type.Object({ quantity: Type.Optional(Type.Integer({ minimum: 1 })) }, { title: 'DeliveryRequest' })
const OrderFailure = Type.Object(
  { failure_reason: Type.Optional(Text({ minLength: 1, maxLength: 1_000 })) },
  { title: 'OrderFailureRequest' },
)
const OrderState = Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' })

const orderErrors = (group: string, to: OrderStatus): Record<string, Failure> => ({
  [`${group}.invalid_id`]: invalidId('order'),
  [`${group}.not_found`]: notFound('Order'),
  [`${group}.transition_refused`]: transitionRefused('DELIVERED', to),
})

const orderSuccess = (status: OrderStatus) =>
  ({ status: 200, description: 'The order as it is now', schema: OrderState, example: { id: 1, status } }) as const

export interface OrderRoutesOptions extends OperatorOptions {
  ordering: Ordering
}

export const operatorOrderRoutes = ({ ordering, ...operator }: OrderRoutesOptions) =>
  new Elysia({ name: 'sandbox-orders' })
    .post(
      '/orders/:id/deliver',
      async ({ params, query, body }) => {
        const world = await presentWorld(operator, query.world)
        return onOrder(world, params.id, (tx, order) =>
          deliver(tx, world, ordering, order, body.quantity ?? order.quantity, world.clock.nowMs()),
        )
      },
      controlOperation({
        id: 'deliverOrder',
        summary: 'Deliver vouchers of an order: so many, or all',
        description: 'The vouchers are made on the spot, whatever the pace of the world.',
        params: idPath('order'),
        query: WorldQuery,
        body: Delivery,
        bodyExample: { quantity: 1 },
        bodyOptional: true,
        success: orderSuccess('PARTIALLY_DELIVERED'),
        errors: {
          ...bodyErrors('order_deliver', { field: 'quantity', rule: 'min', problem: 'must be at least 1' }),
          ...orderErrors('order_deliver', 'DELIVERED'),
        },
      }),
    )
    .post(
      '/orders/:id/fail',
      async ({ params, query, body }) => {
        const world = await presentWorld(operator, query.world)
        const reason = body.failure_reason ?? 'The order could not be delivered'
        return onOrder(world, params.id, (tx, order) =>
          failOrder(tx, ordering.supply, order, reason, world.clock.nowMs()),
        )
      },
      controlOperation({
        id: 'failOrder',
        summary: 'Fail an order, or what is left of it',
        description: 'The wallet gets back what it paid for the vouchers that were not delivered.',
        params: idPath('order'),
        query: WorldQuery,
        body: OrderFailure,
        bodyExample: { failure_reason: 'Out of stock' },
        bodyOptional: true,
        success: orderSuccess('FAILED'),
        errors: {
          ...bodyErrors('order_fail', tooShort('failure_reason')),
          ...orderErrors('order_fail', 'FAILED'),
        },
      }),
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
