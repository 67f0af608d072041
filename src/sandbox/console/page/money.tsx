import { useState } from 'preact/hooks'
import { amount } from '../../../pages/amounts.ts'
import { Button, Form, Input } from '../../../pages/ui/forms.tsx'
import { useLoaded, usePointedAt } from '../../../pages/ui/hooks.ts'
import { LedgerTable } from '../../../pages/ui/ledger.tsx'
import { act } from '../../../pages/ui/notices.tsx'
import { Card, Failed } from '../../../pages/ui/pieces.tsx'
import { hrefOf, type Place } from '../../../pages/ui/place.ts'
import { Timeline, type TimelineStep } from '../../../pages/ui/timeline.tsx'
import { ask, get, readClients } from './api.ts'
import { worldOf } from './place.ts'
import { type Recorded, Records } from './records.tsx'
import { MadeBy } from './requests/tags.tsx'
import { useNews } from './store.ts'
import type { LedgerEntry, Order, Payout, SandboxClient, Wallet } from './types.ts'

/** The newest records that a list reads. */
const READ_MAX = 500

const MOVING = [
  { kind: 'order', title: 'Orders', operation: 'placeOrder' },
  { kind: 'payout', title: 'Payouts', operation: 'createPayout' },
] as const

/** Wallets, the ledger, and orders and payouts with their next steps. */
export const Money = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value, error, reload } = useLoaded(async () => {
    const query = { limit: String(READ_MAX) }
    const [clients, wallets, entries, orders, payouts] = await Promise.all([
      readClients(world),
      get<Wallet[]>('/wallets', { world }),
      get<LedgerEntry[]>('/ledger', { world, query }),
      get<Order[]>('/orders', { world, query }),
      get<Payout[]>('/payouts', { world, query }),
    ])
    const currencies = new Map(wallets.map(({ id, currency_code }) => [id, currency_code]))
    const paidIn = ({ wallet_id, currency_code }: Order): string => currencies.get(wallet_id) ?? currency_code
    return {
      wallets: wallets.map((wallet) => walletRecord(wallet, clients)),
      entries,
      orders: orders.map((order) => orderRecord(order, paidIn(order))),
      payouts: payouts.map(payoutRecord),
    }
  }, [world, news])
  usePointedAt(place.record, value !== undefined)
  return (
    <div class="stack">
      <Failed error={error} />
      <Records
        kind="wallet"
        title={`Wallets of ${world}`}
        records={value?.wallets}
        empty={`None in ${world} yet.`}
        aside={<Button text="Refresh" onClick={reload} />}
        pointedAt={place.record}
        after={({ row: { id } }) => <Fund id={String(id)} world={world} />}
      />
      {MOVING.map(({ kind, title, operation }) => (
        <Records
          key={kind}
          kind={kind}
          title={title}
          records={value?.[`${kind}s`]}
          max={READ_MAX}
          empty={
            <>
              None in {world} yet. <a href={hrefOf({ page: 'send', world, operation })}>Make one</a>
            </>
          }
          pointedAt={place.record}
          after={(record) => <Actions kind={kind} world={world} record={record} />}
          below={({ steps = [] }) => <Timeline kind="steps" steps={steps} />}
        />
      ))}
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
  )
}

/** Changes a record with an operation of the control API, and reports the change. */
const change = (world: string, path: string, body: object, done: string): Promise<boolean> =>
  act(() => ask('POST', path, { world, body }), done)

/** A way to fund a wallet. */
const Fund = ({ id, world }: { id: string; world: string }) => {
  const [value, setValue] = useState('')
  const fund = () => {
    void change(world, `/wallets/${id}/fund`, { amount: Number(value) }, `Funded wallet ${id}`)
    setValue('')
  }
  return (
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
  )
}

/** A step that a person can take: an operation below the path of the record. */
interface Action {
  text: string
  under: string
  body?: object
}

/** A record of a list that moves money. */
interface Moving extends Recorded {
  name: string
  steps?: TimelineStep[]
  actions?: Action[]
}

/** `action_required` as a person reads it: "Action required". */
const nameOf = (word: string): string => word.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())

const nextStep = (at: string | null, name = 'next by the clock'): TimelineStep[] =>
  at === null ? [] : [{ at, name, isNext: true }]

const walletRecord = (wallet: Wallet, clients: readonly SandboxClient[]): Moving => {
  const { id, currency_code: currency, reserved_amount: reserved, is_default, is_active, client_id } = wallet
  const client = clients.find((one) => one.client_id === client_id)?.username ?? `client ${client_id}`
  const amounts = { amount: amount(wallet.amount, currency), reserved: amount(reserved, currency) }
  return {
    name: `Wallet ${id}`,
    row: { id, client, ...amounts, default: is_default, status: is_active ? 'active' : 'closed' },
    counts: { amount: wallet.amount, currency },
  }
}

const orderRecord = (order: Order, currency: string): Moving => {
  const { id, status, ref, product_name, quantity, amount: paid, refunded_amount: refunded, can } = order
  const { delivered_quantity: delivered } = order
  const ends = [
    { at: order.delivered_at, name: 'delivered' },
    { at: order.failed_at, name: 'failed', note: order.failure_reason },
    { at: order.cancelled_at, name: 'cancelled' },
  ].flatMap(({ at, ...step }) => (at === null ? [] : [{ at, ...step }]))
  const deliverOne = { text: 'Deliver one', under: 'deliver', body: { quantity: 1 } }
  const returned = refunded === 0 ? null : refunded < paid ? `${amount(refunded, currency)} refunded` : 'refunded'
  return {
    name: `Order ${id}`,
    row: { id, status, ref, product_name, quantity, delivered, amount: amount(paid, currency), returned },
    counts: { amount: paid, currency },
    steps: [{ at: order.placed_at, name: 'placed' }, ...ends, ...nextStep(order.due_at)],
    actions: can.flatMap((verb) => [
      { text: verb === 'fail' ? 'Fail and refund' : nameOf(verb), under: verb },
      ...(verb === 'deliver' && quantity - delivered > 1 ? [deliverOne] : []),
    ]),
  }
}

const payoutRecord = (payout: Payout): Moving => {
  const { id, status, reference_id, currency, can, next, due_at, due_event } = payout
  const { first_name, last_name, email } = payout.beneficiary
  // Advance takes the first of the steps. The others need their names.
  const others = next.slice(1).map((to) => ({ text: nameOf(to), under: 'advance', body: { to } }))
  const past = payout.events.map((event) => ({ at: event.created_at, name: event.event_type, note: event.message }))
  const beneficiary = [first_name, last_name, email ?? 'erased'].filter(Boolean).join(' ')
  const returned = payout.returned ? 'returned' : null
  return {
    name: `Payout ${reference_id}`,
    row: { id, status, reference_id, amount: amount(payout.amount, currency), beneficiary, returned },
    counts: payout,
    steps: [...past, ...nextStep(due_at, due_event === 'expired' ? 'expires if nothing moves it' : undefined)],
    actions: [...can.map((verb) => ({ text: nameOf(verb), under: verb })), ...others],
  }
}

/** The steps that a person can take, and the request that made the record. */
const Actions = ({ kind, world, record }: { kind: string; world: string; record: Moving }) => {
  const { name, row, actions = [] } = record
  return (
    <div class="line">
      {actions.map(({ text, under, body = {} }) => (
        <Button
          key={text}
          text={text}
          title={`In ${world}`}
          class={/fail|refund|return/.test(under) ? 'danger' : ''}
          onClick={() => change(world, `/${kind}s/${row.id}/${under}`, body, `${name}: ${text}`)}
        />
      ))}
      <MadeBy world={world} made={{ table: `${kind}s`, key: String(row.id) }} />
    </div>
  )
}
