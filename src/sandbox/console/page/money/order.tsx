import { MadeBy } from '../requests/made-by.tsx'
import { amount, Tag, visible } from '../ui.tsx'
import { type Change, kindOf } from './change.ts'
import { nextStep, Timeline } from './timeline.tsx'

export interface Order {
  id: number
  client_id: number
  ref: string
  product_name: string
  quantity: number
  delivered_quantity: number
  amount: number
  currency_code: string
  status: string
  failure_reason: string | null
  placed_at: string
  delivered_at: string | null
  failed_at: string | null
  cancelled_at: string | null
  due_at: string | null
}

/** An order, and what may happen to it by hand. */
export const OrderView = ({ order, world, onChange }: { order: Order; world: string; onChange: Change }) => {
  const isOpen = ['PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED'].includes(order.status)
  const path = `/orders/${order.id}`
  const ends = [
    { at: order.delivered_at, name: 'delivered' },
    { at: order.failed_at, name: 'failed', note: order.failure_reason },
    { at: order.cancelled_at, name: 'cancelled' },
  ].flatMap(({ at, ...step }) => (at === null ? [] : [{ at, ...step }]))
  return (
    <li class="record" id={`order-${order.id}`} tabIndex={-1}>
      <p>
        <Tag kind={kindOf(order.status)}>{order.status}</Tag> <strong>Order {order.id}</strong>{' '}
        <span class="soft">{visible(order.ref)}</span>
        <MadeBy world={world} made={{ table: 'orders', key: String(order.id) }} />
      </p>
      <p>
        {order.quantity} × {visible(order.product_name)} for {amount(order.amount, order.currency_code)}{' '}
        {order.delivered_quantity > 0 && isOpen && <span class="soft">{order.delivered_quantity} delivered</span>}
      </p>
      <Timeline steps={[{ at: order.placed_at, name: 'placed' }, ...ends, ...nextStep(order.due_at)]} />
      {isOpen && (
        <div class="line">
          <button type="button" onClick={() => onChange(`${path}/deliver`, {}, `Delivered order ${order.id}`)}>
            Deliver
          </button>
          {order.quantity - order.delivered_quantity > 1 && (
            <button type="button" onClick={() => onChange(`${path}/deliver`, { quantity: 1 }, 'Delivered one')}>
              Deliver one
            </button>
          )}
          <button type="button" class="danger" onClick={() => onChange(`${path}/fail`, {}, `Failed order ${order.id}`)}>
            Fail
          </button>
        </div>
      )}
    </li>
  )
}
