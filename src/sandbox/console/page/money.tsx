import { useState } from 'preact/hooks'
import { visibleLines as visible } from '../../../kernel/visible.ts'
import { amount } from '../../../pages/amounts.ts'
import { Button, Form, Input } from '../../../pages/ui/forms.tsx'
import { useLoaded, usePointedAt } from '../../../pages/ui/hooks.ts'
import { LedgerTable } from '../../../pages/ui/ledger.tsx'
import { act } from '../../../pages/ui/notices.tsx'
import { Card, Empty, Failed, Tag } from '../../../pages/ui/pieces.tsx'
import { hrefOf, type Place } from '../../../pages/ui/place.ts'
import { kindOf, Timeline, type TimelineStep } from '../../../pages/ui/timeline.tsx'
import { ask, get, readClients } from './api.ts'
import { worldOf } from './place.ts'
import { MadeBy } from './requests/tags.tsx'
import { useNews } from './store.ts'
import type { LedgerEntry, Order, Payout, Wallet } from './types.ts'

const ENTRIES_SHOWN = '500'

/** Wallets, the ledger, and orders and payouts with their next steps. */
export const Money = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value, error, reload } = useLoaded(async () => {
    const [clients, wallets, entries, orders, payouts] = await Promise.all([
      readClients(world),
      get<Wallet[]>('/wallets', { world }),
      get<LedgerEntry[]>('/ledger', { world, query: { limit: ENTRIES_SHOWN } }),
      get<Order[]>('/orders', { world }),
      get<Payout[]>('/payouts', { world }),
    ])
    const currencies = new Map(wallets.map(({ id, currency_code }) => [id, currency_code]))
    const paidIn = ({ wallet_id, currency_code }: Order): string => currencies.get(wallet_id) ?? currency_code
    return {
      wallets: wallets.map((wallet) => {
        const owner = clients.find(({ client_id }) => client_id === wallet.client_id)?.username
        return { ...wallet, owner: owner ?? `client ${wallet.client_id}` }
      }),
      entries,
      orders: orders.map((order) => orderRecord(order, paidIn(order))),
      payouts: payouts.map(payoutRecord),
    }
  }, [world, news])
  usePointedAt(place.record, value !== undefined)
  return (
    <div class="cards">
      <Failed error={error} />
      <div class="wide">
        <Card title={`Wallets of ${world}`} aside={<Button text="Refresh" onClick={reload} />}>
          <div class="grid">
            {value?.wallets.map((wallet) => (
              <WalletView key={wallet.id} wallet={wallet} world={world} />
            ))}
          </div>
        </Card>
      </div>
      <Records title="Orders" world={world} records={value?.orders} operation="placeOrder" />
      <Records title="Payouts" world={world} records={value?.payouts} operation="createPayout" />
      <div class="wide">
        <Card title="Ledger" aside={<span class="soft">every entry sums to zero in each currency</span>}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <section class="scroll" aria-label="Ledger entries, the newest first" tabIndex={0}>
            <LedgerTable
              entries={value?.entries ?? []}
              about={({ id }) => <MadeBy world={world} made={{ table: 'journal_entries', key: String(id) }} />}
            />
          </section>
        </Card>
      </div>
    </div>
  )
}

/** Changes a record with an operation of the control API, and reports the change. */
const change = (world: string, path: string, body: object, done: string): Promise<boolean> =>
  act(() => ask('POST', path, { world, body }), done)

/** A wallet with its balance, and a way to fund it. */
const WalletView = ({ wallet, world }: { wallet: Wallet & { owner: string }; world: string }) => {
  const [value, setValue] = useState('')
  const { id, currency_code: currency } = wallet
  const fund = () => {
    void change(world, `/wallets/${id}/fund`, { amount: Number(value) }, `Funded wallet ${id}`)
    setValue('')
  }
  return (
    <section class="wallet box" id={`wallet-${id}`} tabIndex={-1} aria-label={`Wallet ${id}`}>
      <p class="soft">
        Wallet {id} {wallet.is_default && <Tag>default</Tag>} {!wallet.is_active && <Tag kind="bad">closed</Tag>}
      </p>
      <p class="big">{amount(wallet.amount, currency)}</p>
      <p class="soft">
        {visible(wallet.owner)}
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
        <button type="submit" aria-label={`Fund wallet ${id} of ${world}`}>
          Fund
        </button>
      </Form>
    </section>
  )
}

/** A step that a person can take: an operation below the path of the record. */
interface Action {
  text: string
  under: string
  body?: object
}

/** An order or a payout. */
interface Recorded {
  kind: 'order' | 'payout'
  id: string
  status: string
  name: string
  about: string
  /** The part of its amount that has come back. */
  returned?: string | undefined
  steps: TimelineStep[]
  actions: Action[]
}

/** `action_required` as a person reads it: "Action required". */
const nameOf = (word: string): string => word.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())

const nextStep = (at: string | null, name = 'next by the clock'): TimelineStep[] =>
  at === null ? [] : [{ at, name, isNext: true }]

const orderRecord = (order: Order, currency: string): Recorded => {
  const { amount: paid, refunded_amount: refunded, quantity, delivered_quantity: delivered, can } = order
  const isOpen = can.includes('deliver')
  const ends = [
    { at: order.delivered_at, name: 'delivered' },
    { at: order.failed_at, name: 'failed', note: order.failure_reason },
    { at: order.cancelled_at, name: 'cancelled' },
  ].flatMap(({ at, ...step }) => (at === null ? [] : [{ at, ...step }]))
  const deliverOne = { text: 'Deliver one', under: 'deliver', body: { quantity: 1 } }
  return {
    kind: 'order',
    id: String(order.id),
    status: order.status,
    name: `Order ${order.id}`,
    about: `${order.ref}: ${quantity} × ${order.product_name} for ${amount(paid, currency)}${isOpen && delivered > 0 ? `, ${delivered} delivered` : ''}`,
    returned: refunded === 0 ? undefined : refunded < paid ? `${amount(refunded, currency)} refunded` : 'refunded',
    steps: [{ at: order.placed_at, name: 'placed' }, ...ends, ...nextStep(order.due_at)],
    actions: can.flatMap((verb) => [
      { text: verb === 'fail' ? 'Fail and refund' : nameOf(verb), under: verb },
      ...(verb === 'deliver' && quantity - delivered > 1 ? [deliverOne] : []),
    ]),
  }
}

const payoutRecord = (payout: Payout): Recorded => {
  const { can, next, beneficiary } = payout
  const { first_name, last_name, email } = beneficiary
  // Advance takes the first of the steps. The others need their names.
  const others = next.slice(1).map((to) => ({ text: nameOf(to), under: 'advance', body: { to } }))
  const past = payout.events.map((event) => ({ at: event.created_at, name: event.event_type, note: event.message }))
  return {
    kind: 'payout',
    id: payout.id,
    status: payout.status,
    name: `Payout ${payout.reference_id}`,
    about: `${amount(payout.amount, payout.currency)} to ${[first_name, last_name].filter(Boolean).join(' ')} ${email ?? 'erased'}`,
    returned: payout.returned ? 'returned' : undefined,
    steps: [
      ...past,
      ...nextStep(payout.due_at, payout.due_event === 'expired' ? 'expires if nothing moves it' : undefined),
    ],
    actions: [...can.map((verb) => ({ text: nameOf(verb), under: verb })), ...others],
  }
}

interface RecordsProps {
  title: string
  world: string
  /** Undefined until they are read. */
  records: readonly Recorded[] | undefined
  /** The operation that makes one. */
  operation: string
}

/** Orders or payouts, with the steps that a person can take. */
const Records = ({ title, world, records, operation }: RecordsProps) => (
  <Card title={title} aside={<span class="soft">{records?.length}</span>}>
    {records?.length === 0 && (
      <Empty>
        None in {world} yet. <a href={hrefOf({ page: 'send', world, operation })}>Make one</a>
      </Empty>
    )}
    <ul class="items tall">
      {records?.map(({ kind, id, status, name, about, returned, steps, actions }) => (
        <li key={id} class="record" id={`${kind}-${id}`} tabIndex={-1}>
          <p>
            <Tag kind={kindOf(status)}>{status}</Tag> <strong>{visible(name)}</strong>{' '}
            <MadeBy world={world} made={{ table: `${kind}s`, key: id }} />
          </p>
          <p>
            {visible(about)} {returned && <Tag kind="warn">{returned}</Tag>}
          </p>
          <Timeline steps={steps} />
          <div class="line">
            {actions.map(({ text, under, body = {} }) => (
              <Button
                key={text}
                text={text}
                title={`In ${world}`}
                class={/fail|refund|return/.test(under) ? 'danger' : ''}
                onClick={() => change(world, `/${kind}s/${id}/${under}`, body, `${name}: ${text}`)}
              />
            ))}
          </div>
        </li>
      ))}
    </ul>
  </Card>
)
