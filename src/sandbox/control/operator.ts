import { Type } from '@sinclair/typebox'
import type { Tx } from '../../db/database.ts'
import { idPath, textPath } from '../../http/parameters.ts'
import { oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { found, notFound, transitionRefused, violation } from '../../kernel/failure.ts'
import { deliver, FAILED_REASON, failOrder, repaceOrders } from '../../orders/delivery.ts'
import { findAnyOrder, type Order, type OrderStatus } from '../../orders/queries.ts'
import { REFUNDED_REMARKS, refundRefused, refundVouchers } from '../../orders/refund.ts'
import { ADVANCE_TARGETS, advance, applyEvent, repacePayouts } from '../../payouts/progress.ts'
import { findAnyPayout, type Payout, type PayoutStatus } from '../../payouts/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { PACES, pace } from '../worlds/pace.ts'
import { keepPace } from '../worlds/queries.ts'
import { markWritten } from '../worlds/written.ts'
import { controlRoutes } from './operation.ts'

/** What an operator does to payouts and orders in live mode, and whether the clock does it (contract C15). */

/** A world that is about to be written, after all work that is due in it. @throws DomainError world_not_found */
export const presentWorld = async (parts: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = await caughtUpWorld(parts, name)
  markWritten(world)
  return world
}

/** A world after all work that is due in it. @throws DomainError world_not_found */
export const caughtUpWorld = async ({ worlds, due }: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = getWorld(worlds, name)
  await due.catchUp(world)
  return world
}

export const Pace = Type.Object({ payouts: oneOf(PACES), orders: oneOf(PACES) }, { title: 'Pace' })
const PACE = { description: 'The pace', schema: Pace } as const

export const paceRoutes = (parts: Parts) =>
  controlRoutes('pace.')
    .get('/pace', ({ query }) => getWorld(parts.worlds, query.world).of(pace), {
      id: 'getPace',
      summary: 'See whether the clock moves payouts and orders',
      description: 'Automatic, or manual with the operations of this group.',
      response: { ...PACE, example: { payouts: 'auto', orders: 'auto' } },
    })
    .put(
      '/pace',
      async ({ query, body }) => {
        const world = await presentWorld(parts, query.world)
        const changed = Object.assign(world.of(pace), body)
        await world.db.write((tx) => {
          keepPace(tx, changed)
          repacePayouts(tx, parts.paying, world)
          repaceOrders(tx, parts.ordering.byClock, world)
        })
        return changed
      },
      {
        id: 'setPace',
        summary: 'Set whether the clock moves payouts and orders',
        description:
          'With the pace manual, payouts and orders stay as they are until operations of this group move them.',
        body: Type.Partial(Pace, { title: 'PaceRequest' }),
        bodyExample: { payouts: 'manual' },
        response: { ...PACE, example: { payouts: 'manual', orders: 'auto' } },
        refuses: { validation: violation('payouts', 'enum', `must be one of ${PACES.join(', ')}`) },
      },
    )

const Reason = (description?: string) =>
  Type.Optional(Text({ minLength: 1, maxLength: 1_000, ...(description !== undefined && { description }) }))
const Code = (description?: string) =>
  Type.Optional(Text({ minLength: 1, maxLength: 100, ...(description !== undefined && { description }) }))
const tooShort = (field: string) => violation(field, 'min', 'must be at least 1 character long')

const PAYOUT_ID = 'pyt_0mjvbk3w000000b8g4l0r3ya'
const PayoutPath = textPath('payout', PAYOUT_ID)
const PayoutState = Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' })

/** What the moves of a payout have in common, with the status that an example ends with. */
const movesPayout = (status: PayoutStatus) => {
  const success = { description: 'The payout as it is now', schema: PayoutState, example: { id: PAYOUT_ID, status } }
  return { params: PayoutPath, bodyOptional: true, response: success } as const
}
const payoutErrors = (from: PayoutStatus, to: string) => ({
  not_found: notFound('Payout'),
  transition_refused: transitionRefused(from, to),
})

export const payoutRoutes = ({ paying, ...parts }: Parts) => {
  /** @throws DomainError world_not_found or not_found */
  const onPayout = async (name: string, id: string, move: (tx: Tx, payout: Payout, world: World) => Payout) => {
    const world = await presentWorld(parts, name)
    const { status } = await world.db.write((tx) => move(tx, found(findAnyPayout(tx, id), notFound('Payout')), world))
    return { id, status }
  }
  return controlRoutes()
    .post(
      '/payouts/:id/advance',
      ({ params, query, body: { to } }) =>
        onPayout(query.world, params.id, (tx, payout, world) =>
          advance(tx, paying, world, payout, to, byOperator(world)),
        ),
      {
        id: 'advancePayout',
        summary: 'Move a payout on: a step, or as far as a status',
        description: 'Passes through every status on the way, each with its event and its ledger entries.',
        names: 'payout_advance.',
        ...movesPayout('settling'),
        body: Type.Object({ to: Type.Optional(oneOf(ADVANCE_TARGETS)) }, { title: 'AdvanceRequest' }),
        bodyExample: { to: 'settling' },
        refuses: {
          validation: violation('to', 'enum', `must be one of ${ADVANCE_TARGETS.join(', ')}`),
          ...payoutErrors('completed', 'settling'),
        },
      },
    )
    .post(
      '/payouts/:id/fail',
      ({ params, query, body: { failure_code: failureCode, failure_reason: failureReason } }) =>
        onPayout(query.world, params.id, (tx, payout, world) =>
          applyEvent(tx, paying, world, payout, 'failed', { ...byOperator(world), failureCode, failureReason }),
        ),
      {
        id: 'failPayout',
        summary: 'Fail a payout that is processing or settling',
        description: 'The money is refunded to the wallet, as when a bank refuses the payout.',
        names: 'payout_fail.',
        ...movesPayout('failed'),
        body: Type.Object({ failure_code: Code(), failure_reason: Reason() }, { title: 'PayoutFailureRequest' }),
        bodyExample: { failure_code: 'account_closed' },
        refuses: { validation: tooShort('failure_code'), ...payoutErrors('completed', 'failed') },
      },
    )
    .post(
      '/payouts/:id/return',
      ({ params, query, body: { failure_code: code, failure_reason: reason } }) =>
        onPayout(query.world, params.id, (tx, payout, world) => {
          const message = [code, reason].filter((part) => part !== undefined).join(': ') || undefined
          return applyEvent(tx, paying, world, payout, 'returned', { ...byOperator(world), message })
        }),
      {
        id: 'returnPayout',
        summary: 'Return a completed payout',
        description: 'The wallet is credited with the amount, without the fees. Earlier events stay as they are.',
        names: 'payout_return.',
        ...movesPayout('completed'),
        body: Type.Object(
          { failure_code: Code('Comes before the reason'), failure_reason: Reason('The message of the event') },
          { title: 'PayoutReturnRequest' },
        ),
        bodyExample: { failure_reason: 'The account was closed' },
        refuses: { validation: tooShort('failure_reason'), ...payoutErrors('created', 'returned') },
      },
    )
}

const byOperator = ({ clock }: World) => ({ actorType: 'operator', nowMs: clock.nowMs() }) as const

const OrderState = Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' })

const movesOrder = (status: OrderStatus) => {
  const success = { description: 'The order as it is now', schema: OrderState, example: { id: 1, status } }
  return { params: idPath('order'), bodyOptional: true, response: success } as const
}
const ORDER_ERRORS = { not_found: notFound('Order') }

const Vouchers = Type.Array(Text({ maxLength: 100 }), {
  minItems: 1,
  maxItems: 10_000,
  description: 'The voucher_reference_number of each; by default all that are not refunded',
})

export const orderRoutes = ({ ordering, ...parts }: Parts) => {
  /** @throws DomainError world_not_found or not_found */
  const onOrder = async (name: string, id: number, move: (tx: Tx, order: Order, world: World) => Order) => {
    const world = await presentWorld(parts, name)
    const { status } = await world.db.write((tx) => move(tx, found(findAnyOrder(tx, id), notFound('Order')), world))
    return { id, status }
  }
  return controlRoutes()
    .post(
      '/orders/:id/deliver',
      ({ params, query, body }) =>
        onOrder(query.world, params.id, (tx, order, world) =>
          deliver(tx, world, ordering, order, body.quantity ?? order.quantity, world.clock.nowMs()),
        ),
      {
        id: 'deliverOrder',
        summary: 'Deliver some vouchers of an order, or all',
        description: 'The vouchers are made on the spot, whatever the pace of the world.',
        names: 'order_deliver.',
        ...movesOrder('PARTIALLY_DELIVERED'),
        body: Type.Object({ quantity: Type.Optional(Type.Integer({ minimum: 1 })) }, { title: 'DeliveryRequest' }),
        bodyExample: { quantity: 1 },
        refuses: {
          validation: violation('quantity', 'min', 'must be at least 1'),
          ...ORDER_ERRORS,
          transition_refused: transitionRefused('DELIVERED', 'DELIVERED'),
        },
      },
    )
    .post(
      '/orders/:id/fail',
      ({ params, query, body: { failure_reason: reason = FAILED_REASON } }) =>
        onOrder(query.world, params.id, (tx, order, world) =>
          failOrder(tx, world, ordering, order, reason, world.clock.nowMs()),
        ),
      {
        id: 'failOrder',
        summary: 'Fail an order, or what is left of it',
        description: 'The wallet is refunded for the vouchers that were not delivered.',
        names: 'order_fail.',
        ...movesOrder('FAILED'),
        body: Type.Object({ failure_reason: Reason() }, { title: 'OrderFailureRequest' }),
        bodyExample: { failure_reason: 'Out of stock' },
        refuses: {
          validation: tooShort('failure_reason'),
          ...ORDER_ERRORS,
          transition_refused: transitionRefused('DELIVERED', 'FAILED'),
        },
      },
    )
    .post(
      '/orders/:id/refund',
      ({ params, query, body: { vouchers, remarks = REFUNDED_REMARKS } }) =>
        onOrder(query.world, params.id, (tx, order, world) => {
          const context = { world, reference: ordering.reference }
          return refundVouchers(tx, context, order, vouchers, remarks, world.clock.nowMs())
        }),
      {
        id: 'refundOrder',
        summary: 'Refund a delivered order, or some of its vouchers',
        description:
          'The wallet is credited with what it paid for them. The order keeps its status; refunded_amount says what came back.',
        names: 'order_refund.',
        ...movesOrder('DELIVERED'),
        body: Type.Object(
          { vouchers: Type.Optional(Vouchers), remarks: Reason('The remarks of the transaction') },
          { title: 'OrderRefundRequest' },
        ),
        bodyExample: { vouchers: ['1-1'], remarks: 'Wrong brand' },
        refuses: {
          validation: tooShort('remarks'),
          ...ORDER_ERRORS,
          refused: refundRefused('Order 1 is already refunded'),
        },
      },
    )
}
