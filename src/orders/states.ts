import { SECOND_MS } from '../kernel/clock.ts'
import { canHappen as canTake, statusesWith, type Transition, verbsAllowed } from '../kernel/states.ts'
import type { Order, OrderStatus } from './tables.ts'

/** The state machine of orders (contract C12). */

/** False of a partial delivery whose rest was refunded, which keeps its status. */
const hasRest = ({ failedAtMs }: Order): boolean => failedAtMs === null

const transitions = {
  processing: { from: ['PENDING'], to: 'PROCESSING', afterMs: 2 * SECOND_MS },
  partially_delivered: {
    ...{ from: ['PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED'], to: 'PARTIALLY_DELIVERED', act: 'deliver' },
    only: (order) => hasRest(order) && order.quantity - order.deliveredQuantity > 1,
  },
  delivered: {
    ...{ from: ['PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED'], to: 'DELIVERED', act: 'deliver' },
    ...{ afterMs: 5 * SECOND_MS, only: hasRest },
  },
  failed: { from: ['PENDING', 'PROCESSING'], to: 'FAILED', act: 'fail' },
  rest_refunded: { from: ['PARTIALLY_DELIVERED'], act: 'fail', only: hasRest },
  cancelled: { from: ['PENDING'], to: 'CANCELLED' },
  refunded: {
    ...{ from: ['DELIVERED', 'PARTIALLY_DELIVERED'], act: 'refund' },
    only: (order) =>
      (order.status === 'DELIVERED' || !hasRest(order)) &&
      order.deliveredQuantity > 0 &&
      order.refundedMinor < order.payableMinor,
  },
} satisfies Record<string, Transition<Order>>

type OrderTransition = keyof typeof transitions
export const ORDER_TRANSITIONS: Record<OrderTransition, Transition<Order>> = transitions

export const canHappen = (transition: OrderTransition, order: Order): boolean =>
  canTake(ORDER_TRANSITIONS[transition], order)

/** The acts that an order allows, by their verbs. */
export const actsOfOrder = (order: Order): string[] => verbsAllowed(ORDER_TRANSITIONS, order)

/** The statuses of orders that wait for the clock or an operator. */
export const OPEN_ORDERS = statusesWith(ORDER_TRANSITIONS, 'deliver')

const STEPS = { PENDING: 'processing', PROCESSING: 'delivered' } as const satisfies Partial<
  Record<OrderStatus, OrderTransition>
>

/** The statuses that the clock leads on from. A partial delivery waits for an operator. */
export const MOVED_BY_CLOCK = Object.keys(STEPS) as (keyof typeof STEPS)[]

/** The time after its placement at which the clock takes the next step of an order; undefined if it takes none. */
export const nextAfterMs = ({ status }: Pick<Order, 'status'>): number | undefined =>
  status in STEPS ? transitions[STEPS[status as keyof typeof STEPS]].afterMs : undefined
