import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { readOptionalObject } from '../../http/body.ts'
import { documented } from '../../http/legacy-operation.ts'
import { idPath } from '../../http/parameters.ts'
import { pathId } from '../../http/query.ts'
import { bodyCheck } from '../../http/validation.ts'
import type { Failure, LegacyFailure } from '../../kernel/failure.ts'
import { deliver, failOrder } from '../../orders/delivery.ts'
import type { Ordering } from '../../orders/orders.ts'
import { findOrder, type Order } from '../../orders/queries.ts'
import type { World } from '../../worlds/world.ts'
import { bodyRefusals, readControl, tooShort, WorldQuery } from './control.ts'
import { getOfEither, type OperatorOptions, presentWorldOf } from './records.ts'

const DeliverBody = Type.Object({ quantity: Type.Optional(Type.Integer({ minimum: 1 })) }, { title: 'DeliveryRequest' })
const FailBody = Type.Object(
  { failure_reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })) },
  { title: 'OrderFailureRequest' },
)
const checkDeliver = bodyCheck(DeliverBody)
const checkFail = bodyCheck(FailBody)
const OrderPath = idPath('order')

const orderRefusals = (room: string, to: string): Record<string, Failure | LegacyFailure> => ({
  [`${room}.invalid_id`]: { code: 'invalid_id', resource: 'order' },
  [`${room}.not_found`]: { code: 'not_found', resource: 'order' },
  [`${room}.transition_refused`]: { code: 'transition_refused', from: 'DELIVERED', to },
})

const orderSuccess = (status: string) =>
  ({
    status: 200,
    description: 'The order as it is now',
    schema: Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' }),
    example: { id: 1, status },
  }) as const

export interface OrderRoutesOptions extends OperatorOptions {
  ordering: Ordering
}

export const operatorOrderRoutes = ({ ordering, ...operator }: OrderRoutesOptions) =>
  new Elysia({ name: 'sandbox-orders' })
    .post(
      '/orders/:id/deliver',
      async ({ params, request }) => {
        const world = await presentWorldOf(operator, request)
        const id = pathId(params.id, 'order')
        const { quantity } = await readControl(request, DeliverBody, checkDeliver, readOptionalObject)
        return onOrder(world, id, (tx, order) =>
          deliver(tx, world, ordering, order, quantity ?? order.quantity, world.clock.nowMs()),
        )
      },
      documented({
        id: 'deliverOrder',
        tag: 'Sandbox',
        summary: 'Deliver vouchers of an order: so many, or all',
        description: 'The vouchers are made on the spot, whatever the pace of the world.',
        public: true,
        path: OrderPath,
        query: WorldQuery,
        body: { schema: DeliverBody, optional: true, example: { quantity: 1 } },
        success: orderSuccess('PARTIALLY_DELIVERED'),
        refusals: {
          ...bodyRefusals('order_deliver', { field: 'quantity', rule: 'min', problem: 'must be at least 1' }),
          ...orderRefusals('order_deliver', 'DELIVERED'),
        },
      }),
    )
    .post(
      '/orders/:id/fail',
      async ({ params, request }) => {
        const world = await presentWorldOf(operator, request)
        const id = pathId(params.id, 'order')
        const { failure_reason: reason = 'The order could not be delivered' } = await readControl(
          request,
          FailBody,
          checkFail,
          readOptionalObject,
        )
        return onOrder(world, id, (tx, order) => failOrder(tx, ordering.supply, order, reason, world.clock.nowMs()))
      },
      documented({
        id: 'failOrder',
        tag: 'Sandbox',
        summary: 'Fail an order, or what is left of it',
        description: 'The wallet gets back what it paid for the vouchers that were not delivered.',
        public: true,
        path: OrderPath,
        query: WorldQuery,
        body: { schema: FailBody, optional: true, example: { failure_reason: 'Out of stock' } },
        success: orderSuccess('FAILED'),
        refusals: {
          ...bodyRefusals('order_fail', tooShort('failure_reason')),
          ...orderRefusals('order_fail', 'FAILED'),
        },
      }),
    )

const onOrder = async (world: World, id: number, move: (tx: Tx, order: Order) => Order) => {
  const moved = await world.db.write((tx) =>
    move(
      tx,
      getOfEither('order', (clientId) => findOrder(tx, clientId, id)),
    ),
  )
  return { id: moved.id, status: moved.status }
}
