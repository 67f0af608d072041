import { useMemo, useState } from 'preact/hooks'
import { ask, get } from './api.ts'
import { ALL_WORLDS, type Place } from './place.ts'
import { LedgerTable } from './request.tsx'
import { useNews } from './store.ts'
import type { LedgerEntry } from './types.ts'
import { act, amount, Card, Empty, Failed, Tag, time, useLoaded, visible } from './ui.tsx'

interface Wallet {
  id: number
  client_id: number
  currency_code: string
  amount: number
  reserved_amount: number
  type: string
  is_default: boolean
  is_active: boolean
}

interface Order {
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

interface Payout {
  id: string
  client_id: number
  reference_id: string
  status: string
  amount: number
  currency: string
  beneficiary: { email: string | null; first_name: string | null; last_name: string | null }
  events: { event_type: string; actor_type: string; message: string | null; created_at: string }[]
  submitted: boolean
  returned: boolean
  due_at: string | null
}

const ENTRIES_SHOWN = '500'

/** Wallets, the ledger, and what was bought and paid, with what may happen next. */
export const Money = ({ place }: { place: Place }) => {
  const world = place.world === ALL_WORLDS ? 'default' : place.world
  const news = useNews()
  const money = useLoaded(async () => {
    const [wallets, entries, orders, payouts] = await Promise.all([
      get<Wallet[]>('/wallets', { world }),
      get<LedgerEntry[]>('/ledger', { world, query: { limit: ENTRIES_SHOWN } }),
      get<Order[]>('/orders', { world }),
      get<Payout[]>('/payouts', { world }),
    ])
    return { wallets, entries, orders, payouts }
  }, [world, news])
  const { wallets = [], entries = [], orders = [], payouts = [] } = money.value ?? {}
  const change = async (path: string, body: object, done: string) => {
    if (await act(() => ask('POST', path, { world, body }), done)) money.reload()
  }
  return (
    <div class="cards">
      <Failed error={money.error} />
      <div class="wide">
        <Card
          title={`Wallets of ${world}`}
          aside={
            <button type="button" onClick={money.reload}>
              Read again
            </button>
          }
        >
          <div class="wallets">
            {wallets.map((wallet) => (
              <WalletView
                key={wallet.id}
                wallet={wallet}
                entries={entries}
                onFund={(value) =>
                  change(`/wallets/${wallet.id}/fund`, { amount: value }, `Funded wallet ${wallet.id}`)
                }
              />
            ))}
          </div>
        </Card>
      </div>
      <Card title="Orders" aside={<span class="soft">{orders.length}</span>}>
        {orders.length === 0 && <Empty>None was placed.</Empty>}
        <ul class="items tall">
          {orders.map((order) => (
            <OrderView key={order.id} order={order} onChange={change} />
          ))}
        </ul>
      </Card>
      <Card title="Payouts" aside={<span class="soft">{payouts.length}</span>}>
        {payouts.length === 0 && <Empty>None was made.</Empty>}
        <ul class="items tall">
          {payouts.map((payout) => (
            <PayoutView key={payout.id} payout={payout} onChange={change} />
          ))}
        </ul>
      </Card>
      <div class="wide">
        <Card title="Ledger" aside={<span class="soft">every entry sums to zero in each currency</span>}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <section class="scroll" aria-label="Ledger entries, the newest first" tabIndex={0}>
            <LedgerTable entries={entries} />
          </section>
        </Card>
      </div>
    </div>
  )
}

interface WalletProps {
  wallet: Wallet
  entries: readonly LedgerEntry[]
  onFund: (amount: number) => void
}

const WalletView = ({ wallet, entries, onFund }: WalletProps) => {
  const [value, setValue] = useState('')
  const balances = useMemo(() => balancesOf(wallet, entries), [wallet, entries])
  return (
    <section class="wallet" aria-label={`Wallet ${wallet.id}`}>
      <p class="soft">
        Wallet {wallet.id} · client {wallet.client_id} {wallet.is_default && <Tag>default</Tag>}{' '}
        {!wallet.is_active && <Tag kind="bad">closed</Tag>}
      </p>
      <p class="big">{amount(wallet.amount, wallet.currency_code)}</p>
      <p class="soft">
        {wallet.reserved_amount > 0 ? `${amount(wallet.reserved_amount, wallet.currency_code)} reserved` : ' '}
      </p>
      <Sparkline
        values={balances}
        label={`Balance of wallet ${wallet.id} over its last ${balances.length} movements`}
      />
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          onFund(Number(value))
          setValue('')
        }}
      >
        <input
          inputMode="decimal"
          aria-label={`Amount for wallet ${wallet.id}`}
          placeholder="Amount"
          required
          pattern="\d+(\.\d+)?"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <button type="submit">Fund</button>
      </form>
    </section>
  )
}

/** The balances of a wallet before and after each of its movements, back from what it holds now. */
const balancesOf = (wallet: Wallet, entries: readonly LedgerEntry[]): number[] => {
  const balances = [wallet.amount]
  for (const { lines } of entries) {
    const moved = lines
      .filter(({ account, wallet_id }) => account === 'wallet' && wallet_id === wallet.id)
      .reduce((sum, line) => sum + line.amount, 0)
    if (moved !== 0) balances.unshift((balances[0] ?? 0) - moved)
  }
  return balances
}

const Sparkline = ({ values, label }: { values: readonly number[]; label: string }) => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const step = 200 / Math.max(1, values.length - 1)
  const points = values
    .map((value, at) => `${(at * step).toFixed(1)},${(30 - ((value - low) / (high - low || 1)) * 26).toFixed(1)}`)
    .join(' ')
  return (
    <svg class="spark" viewBox="0 0 200 32" preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={values.length > 1 ? points : `0,16 200,16`} />
    </svg>
  )
}

const GOOD = new Set(['DELIVERED', 'completed'])
const BAD = new Set(['FAILED', 'CANCELLED', 'failed', 'cancelled', 'expired'])
const kindOf = (status: string): string => (GOOD.has(status) ? 'good' : BAD.has(status) ? 'bad' : 'info')

type Change = (path: string, body: object, done: string) => Promise<void>

const Timeline = ({ steps }: { steps: readonly { at: string; name: string; note?: string | null }[] }) => (
  <ol class="timeline">
    {steps.map(({ at, name, note }) => (
      <li key={`${at} ${name}`}>
        <strong>{name}</strong> <span class="soft mono">{time(at)}</span>{' '}
        {note && <span class="soft">{visible(note)}</span>}
      </li>
    ))}
  </ol>
)

const OrderView = ({ order, onChange }: { order: Order; onChange: Change }) => {
  const isOpen = ['PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED'].includes(order.status)
  const path = `/orders/${order.id}`
  const ends = [
    { at: order.delivered_at, name: 'delivered' },
    { at: order.failed_at, name: 'failed', note: order.failure_reason },
    { at: order.cancelled_at, name: 'cancelled' },
  ].flatMap(({ at, ...step }) => (at === null ? [] : [{ at, ...step }]))
  return (
    <li class="record">
      <p>
        <Tag kind={kindOf(order.status)}>{order.status}</Tag> <strong>Order {order.id}</strong>{' '}
        <span class="soft">{visible(order.ref)}</span>
      </p>
      <p>
        {order.quantity} × {visible(order.product_name)} for {amount(order.amount, order.currency_code)}{' '}
        {order.delivered_quantity > 0 && isOpen && <span class="soft">{order.delivered_quantity} delivered</span>}
      </p>
      <Timeline
        steps={[
          { at: order.placed_at, name: 'placed' },
          ...ends,
          ...(order.due_at === null ? [] : [{ at: order.due_at, name: 'next by the clock' }]),
        ]}
      />
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

/** What may happen next to a payout by hand (docs/architecture.md, How a payout moves). */
const PAYOUT_ACTIONS: Record<string, readonly string[]> = {
  created: ['advance'],
  queued: ['advance'],
  processing: ['advance', 'fail'],
  settling: ['advance', 'fail'],
  action_required: ['advance'],
  completed: ['return'],
}
const ACTION_NAMES: Record<string, string> = { advance: 'Advance', fail: 'Fail', return: 'Return' }

const PayoutView = ({ payout, onChange }: { payout: Payout; onChange: Change }) => {
  const { first_name, last_name, email } = payout.beneficiary
  const actions = (PAYOUT_ACTIONS[payout.status] ?? []).filter((action) => action !== 'return' || !payout.returned)
  return (
    <li class="record">
      <p>
        <Tag kind={payout.returned ? 'warn' : kindOf(payout.status)}>
          {payout.returned ? 'returned' : payout.status}
        </Tag>{' '}
        <strong>{amount(payout.amount, payout.currency)}</strong>{' '}
        <span class="soft">{visible(payout.reference_id)}</span>
      </p>
      <p>
        to {visible([first_name, last_name].filter(Boolean).join(' '))}{' '}
        <span class="soft">{visible(email ?? 'erased')}</span>
      </p>
      <Timeline
        steps={[
          ...payout.events.map(({ created_at, event_type, message }) => ({
            at: created_at,
            name: event_type,
            note: message,
          })),
          ...(payout.due_at === null ? [] : [{ at: payout.due_at, name: 'next by the clock' }]),
        ]}
      />
      <div class="line">
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            class={action === 'advance' ? '' : 'danger'}
            onClick={() => onChange(`/payouts/${payout.id}/${action}`, {}, `Payout ${payout.reference_id}: ${action}`)}
          >
            {ACTION_NAMES[action]}
          </button>
        ))}
        {payout.status === 'settling' && (
          <button
            type="button"
            onClick={() => onChange(`/payouts/${payout.id}/advance`, { to: 'action_required' }, 'Needs an action')}
          >
            Action required
          </button>
        )}
      </div>
    </li>
  )
}
