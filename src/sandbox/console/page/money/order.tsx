import { Button } from '../forms.tsx'
import { MadeBy } from '../requests/made-by.tsx'
import type { Order } from '../types.ts'
import { amount, Tag, visible } from '../ui.tsx'
import { type ChangeRecord, kindOf } from './change.ts'
import { nextStep, Timeline } from './timeline.tsx'

/** An order, and what may happen to it by hand. */
export const OrderView = ({ order, world, onChange }: { order: Order; world: string; onChange: ChangeRecord }) => {
  const isOpen = ['PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED'].includes(order.status)
  const left = order.quantity - order.delivered_quantity
  const act = (action: string, body: object, done: string) => onChange(`/orders/${order.id}/${action}`, body, done)
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
          <Button text="Deliver" onClick={() => act('deliver', {}, `Delivered order ${order.id}`)} />
          {left > 1 && <Button text="Deliver one" onClick={() => act('deliver', { quantity: 1 }, 'Delivered one')} />}
          <Button text="Fail" class="danger" onClick={() => act('fail', {}, `Failed order ${order.id}`)} />
        </div>
      )}
    </li>
  )
}
