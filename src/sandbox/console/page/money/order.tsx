import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { amount } from '../../../requests/amounts.ts'
import { Button } from '../forms.tsx'
import { MadeBy } from '../requests/made-by.tsx'
import type { Order } from '../types.ts'
import { Tag } from '../ui.tsx'
import { type ChangeRecord, kindOf, nextStep, Timeline } from './timeline.tsx'

interface OrderProps {
  order: Order
  /** The currency of the wallet that paid. */
  currency: string
  world: string
  onChange: ChangeRecord
}

/** An order, and what may happen to it by hand. */
export const OrderView = ({ order, currency, world, onChange }: OrderProps) => {
  const { amount: paid, refunded_amount: refunded } = order
  // A partial delivery that was given up keeps its status.
  const isOpen = ['PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED'].includes(order.status) && order.failed_at === null
  const left = order.quantity - order.delivered_quantity
  const act = (action: string, body: object, done: string) => onChange(`/orders/${order.id}/${action}`, body, done)
  const isRefundable = !isOpen && order.delivered_quantity > 0 && refunded < paid
  const ends = [
    { at: order.delivered_at, name: 'delivered' },
    { at: order.failed_at, name: 'failed', note: order.failure_reason },
    { at: order.cancelled_at, name: 'cancelled' },
  ].flatMap(({ at, ...step }) => (at === null ? [] : [{ at, ...step }]))
  return (
    <li class="record" id={`order-${order.id}`} tabIndex={-1}>
      <p>
        <Tag kind={kindOf(order.status)}>{order.status}</Tag> <strong>Order {order.id}</strong>{' '}
        <span class="soft">{visible(order.ref)}</span>{' '}
        <MadeBy world={world} made={{ table: 'orders', key: String(order.id) }} />
      </p>
      <p>
        {order.quantity} × {visible(order.product_name)} for {amount(paid, currency)}{' '}
        {order.delivered_quantity > 0 && isOpen && <span class="soft">{order.delivered_quantity} delivered</span>}
        {refunded > 0 && (
          <Tag kind="warn">{refunded < paid ? `${amount(refunded, currency)} refunded` : 'refunded'}</Tag>
        )}
      </p>
      <Timeline steps={[{ at: order.placed_at, name: 'placed' }, ...ends, ...nextStep(order.due_at)]} />
      {isOpen && (
        <div class="line">
          <Button text="Deliver" onClick={() => act('deliver', {}, `Delivered order ${order.id}`)} />
          {left > 1 && <Button text="Deliver one" onClick={() => act('deliver', { quantity: 1 }, 'Delivered one')} />}
          <Button
            text="Fail and refund"
            class="danger"
            onClick={() => act('fail', {}, `Failed and refunded order ${order.id}`)}
          />
        </div>
      )}
      {isRefundable && (
        <div class="line">
          <Button text="Refund" class="danger" onClick={() => act('refund', {}, `Refunded order ${order.id}`)} />
        </div>
      )}
    </li>
  )
}
