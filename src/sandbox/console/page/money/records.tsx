import { useState } from 'preact/hooks'
import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { amount } from '../../../../pages/amounts.ts'
import { Button, Form, Input } from '../../../../pages/ui/forms.tsx'
import { Tag } from '../../../../pages/ui/pieces.tsx'
import { kindOf, type Step, Timeline } from '../../../../pages/ui/timeline.tsx'
import { MadeBy } from '../requests/made-by.tsx'
import type { Order, Payout, Wallet } from '../types.ts'

interface WalletProps {
  wallet: Wallet
  /** The username of its client. */
  owner: string | undefined
  onChange: ChangeRecord
}

/** A wallet with its balance, and a way to fund it. */
export const WalletView = ({ wallet, owner, onChange }: WalletProps) => {
  const [value, setValue] = useState('')
  const { id, currency_code: currency } = wallet
  const fund = () => {
    void onChange(`/wallets/${id}/fund`, { amount: Number(value) }, `Funded wallet ${id}`)
    setValue('')
  }
  return (
    <section class="wallet" id={`wallet-${id}`} tabIndex={-1} aria-label={`Wallet ${id}`}>
      <p class="soft">
        Wallet {id} {wallet.is_default && <Tag>default</Tag>} {!wallet.is_active && <Tag kind="bad">closed</Tag>}
      </p>
      <p class="big">{amount(wallet.amount, currency)}</p>
      <p class="soft owner">
        {visible(owner ?? `client ${wallet.client_id}`)}
        {wallet.reserved_amount > 0 && ` · ${amount(wallet.reserved_amount, currency)} reserved`}
      </p>
      <Form class="line" onSubmit={fund}>
        <Input
          inputMode="decimal"
          aria-label={`Amount for wallet ${id}`}
          placeholder="Amount"
          required
          pattern="\d+(\.\d+)?"
          value={value}
          onText={setValue}
        />
        <button type="submit">Fund</button>
      </Form>
    </section>
  )
}

interface OrderProps {
  order: Order
  /** The currency of the wallet that paid. */
  currency: string
  world: string
  onChange: ChangeRecord
}

/** An order, with the steps that a person can take. */
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

/** The steps of a payout that a person can take (docs/architecture.md, How a payout moves). */
const PAYOUT_ACTIONS: Record<string, readonly string[]> = {
  created: ['advance'],
  queued: ['advance'],
  processing: ['advance', 'fail'],
  settling: ['advance', 'fail'],
  action_required: ['advance'],
  completed: ['return'],
}
const ACTION_NAMES: Record<string, string> = { advance: 'Advance', fail: 'Fail', return: 'Return' }

/** A payout with its events, and the steps that a person can take. */
export const PayoutView = ({ payout, world, onChange }: { payout: Payout; world: string; onChange: ChangeRecord }) => {
  const { status, returned } = payout
  const { first_name, last_name, email } = payout.beneficiary
  const actions = (PAYOUT_ACTIONS[status] ?? []).filter((action) => action !== 'return' || !returned)
  const act = (action: string, body: object, done: string) => onChange(`/payouts/${payout.id}/${action}`, body, done)
  const past = payout.events.map((event) => ({ at: event.created_at, name: event.event_type, note: event.message }))
  const next = nextStep(payout.due_at, payout.due_event === 'expired' ? 'expires if nothing moves it' : undefined)
  return (
    <li class="record" id={`payout-${payout.id}`} tabIndex={-1}>
      <p>
        <Tag kind={returned ? 'warn' : kindOf(status)}>{returned ? 'returned' : status}</Tag>{' '}
        <strong>{amount(payout.amount, payout.currency)}</strong>{' '}
        <span class="soft">{visible(payout.reference_id)}</span>{' '}
        <MadeBy world={world} made={{ table: 'payouts', key: payout.id }} />
      </p>
      <p>
        to {visible([first_name, last_name].filter(Boolean).join(' '))}{' '}
        <span class="soft">{visible(email ?? 'erased')}</span>
      </p>
      <Timeline steps={[...past, ...next]} />
      {actions.length > 0 && (
        <div class="line">
          {actions.map((action) => (
            <Button
              key={action}
              text={ACTION_NAMES[action] ?? action}
              class={action === 'advance' ? '' : 'danger'}
              onClick={() => act(action, {}, `Payout ${payout.reference_id}: ${action}`)}
            />
          ))}
          {status === 'settling' && (
            <Button
              text="Action required"
              onClick={() => act('advance', { to: 'action_required' }, 'Needs an action')}
            />
          )}
        </div>
      )}
    </li>
  )
}

/** The next step of the clock. */
const nextStep = (at: string | null, name = 'next by the clock'): Step[] =>
  at === null ? [] : [{ at, name, isNext: true }]

/** Changes a record with an operation of the control API, and reports the change. */
export type ChangeRecord = (path: string, body: object, done: string) => Promise<boolean>
