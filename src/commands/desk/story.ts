import { AUDIT_COLUMNS } from '../../acts/audit.ts'
import { BENEFICIARY } from '../../acts/beneficiaries.ts'
import { type Cell, listOf, type Row, rowOf } from '../../acts/cells.ts'
import { CLIENT, clientActs } from '../../acts/clients.ts'
import { actsOn, get, type Kind, members, type Noun, type Shown } from '../../acts/kind.ts'
import { ORDER, orderActs } from '../../acts/orders.ts'
import { PAYOUT, payoutActs } from '../../acts/payouts.ts'
import { WALLET, walletActs } from '../../acts/wallets.ts'
import { WEBHOOK, webhookActs } from '../../acts/webhooks.ts'
import { type AuditRow, actsAbout, findHead } from '../../audit/queries.ts'
import { productEntry } from '../../catalog/edit.ts'
import { findProduct } from '../../catalog/queries.ts'
import { eventWire } from '../../events/contract.ts'
import { type Event, findAnyEvent, lastEventsAbout } from '../../events/queries.ts'
import { DAY_MS, toTimestamp } from '../../kernel/clock.ts'
import { refused } from '../../kernel/exit.ts'
import { firstDay } from '../../kernel/lasting.ts'
import type { Order } from '../../orders/queries.ts'
import { actsOfOrder } from '../../orders/states.ts'
import { eventsOf, type Payout } from '../../payouts/queries.ts'
import { stepsAhead } from '../../payouts/states.ts'
import { entryWire } from '../../wallets/ledger-entry.ts'
import { entriesOf } from '../../wallets/ledger-queries.ts'
import type { Wallet } from '../../wallets/queries.ts'
import { balanceBefore } from '../../wallets/statement-queries.ts'
import { explainedAttemptWire } from '../../webhooks/contract.ts'
import { attemptsOf } from '../../webhooks/queries.ts'
import type { Reading } from '../records/administration.ts'
import { termsIn } from '../records/catalog.ts'
import { EVENT_COLUMNS, PRODUCT_COLUMNS } from './lists.ts'

/** A record with all that happened to it. */

interface StoryStep {
  /** Null for a step that has not happened yet. */
  at: string | null
  name: string
  note: string | null
}

interface Story<Item> {
  /** Further acts that take its id. */
  also?: readonly string[]
  /** Cells beside those of the command, which come first. */
  cells?: Shown<Item>
  /** The client and the name under which events have it, and the time from which it has any. */
  events?: (item: Item) => Parameters<typeof lastEventsAbout>[1]
  steps?: (item: Item, data: Reading, done: readonly AuditRow[]) => StoryStep[]
  /** Further cells, which are the fields of its form. */
  terms?: (item: Item, data: Reading) => Row
  /** Its balance at the end of each day. */
  balance?: (item: Item, data: Reading) => { at: string; minor: number; amount: Cell }[]
  /** Lists that belong to the record, with their filters. */
  lists?: Readonly<Record<string, (item: Item) => Record<string, string>>>
}

const withStory = <Id, Item>(kind: Kind<Id, Item>, acts: Noun, read: (text: string) => Id, story: Story<Item>) => ({
  find: (data: Reading, text: string) => {
    const item = get(kind, data.query, read(text), text)
    const { also = [], cells = {}, terms, events, steps, balance, lists = {} } = story
    return {
      row: { ...rowOf({ ...cells, ...(kind.details ?? kind.columns) }, item, data), ...terms?.(item, data) },
      group: kind.group,
      acts: [...also, ...actsOn(kind, acts, item)],
      filled: terms && filledWith(terms(item, data)),
      about: events?.(item),
      steps: (done: readonly AuditRow[]) => steps?.(item, data, done),
      balance: balance?.(item, data),
      lists: Object.fromEntries(Object.entries(lists).map(([name, of]) => [name, of(item)])),
    }
  },
})

/** The operator of an act, or else somebody who needs none. */
const causeOf = (act: AuditRow | undefined, other: string): string =>
  act ? `by ${act.user}, scrip ${act.command}` : `by ${other}`

/** An event without an act has none in the audit either. */
const actOf = (done: readonly AuditRow[], id: string | null): AuditRow | undefined =>
  id === null ? undefined : done.find(({ act }) => act === id)

/** A step that has not happened yet. */
const ahead = (name: string): StoryStep => ({ at: null, name, note: null })

const stepsOfPayout = (payout: Payout, { query, clientName }: Reading, done: readonly AuditRow[]): StoryStep[] => {
  const { id, clientId } = payout
  const taken = eventsOf(query, id).map(({ eventType: name, actorType, message, createdAtMs, act }) => {
    const cause = actorType === 'client' ? `by ${clientName(clientId)}` : causeOf(actOf(done, act), `the ${actorType}`)
    return { at: toTimestamp(createdAtMs), name, note: message === null ? cause : `${cause}: ${message}` }
  })
  const names = taken.map(({ name }) => name)
  return [...taken, ...stepsAhead(payout, names).map(ahead)]
}

/** The cells of the money: the amount, the fees, and the total in the currency of the wallet. */
const PAID: Shown<Payout> = {
  ...members<Payout>('id', 'clientId', 'status', 'amountMinor'),
  fee: ({ feesMinor, currencyId }, { amount }) => amount(feesMinor, currencyId),
  conversion_fee: ({ paidConversionMinor, walletId }, { walletAmount }) =>
    paidConversionMinor === null ? null : walletAmount(paidConversionMinor, walletId),
  total: ({ paidMinor, walletId }, { walletAmount }) => walletAmount(paidMinor, walletId),
  ...members<Payout>('walletId'),
}

/** An order is delivered whole once. */
const hasDelivered = ({ command, after }: AuditRow): boolean =>
  command === 'orders deliver' && (JSON.parse(after ?? '{}') as { status?: string }).status === 'DELIVERED'

const stepsOfOrder = (order: Order, { clientName }: Reading, done: readonly AuditRow[]): StoryStep[] => {
  const { placedAtMs, deliveredAtMs, failedAtMs, cancelledAtMs, clientId, failureReason } = order
  const client = `by ${clientName(clientId)}`
  const [delivered, failed] = [done.find(hasDelivered), done.find(({ command }) => command === 'orders fail')]
  const times = [
    ['placed', placedAtMs, client],
    ['delivered', deliveredAtMs, causeOf(delivered, 'the server')],
    ['failed', failedAtMs, `${causeOf(failed, 'the server')}: ${failureReason}`],
    ['cancelled', cancelledAtMs, client],
  ] as const
  const steps = times.flatMap(([name, atMs, note]) => (atMs === null ? [] : [{ at: toTimestamp(atMs), name, note }]))
  // A record stores no times of refunds and partial deliveries.
  const others = done.filter((act) => act !== delivered && act !== failed)
  const acts = others.map(({ atMs, command, user }) => ({
    at: toTimestamp(atMs),
    name: command.slice('orders '.length),
    note: `by ${user}`,
  }))
  const taken = [...steps, ...acts].sort((one, other) => (one.at < other.at ? -1 : 1))
  return actsOfOrder(order).includes('deliver') ? [...taken, ahead('delivered')] : taken
}

/** The last thirty days of a wallet, or those since it was opened. */
const balanceOf = (wallet: Wallet, { query, amount, world }: Reading) => {
  const nowMs = world.clock.nowMs()
  const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)
  const first = Math.min(dayOf(nowMs), Math.max(firstDay(nowMs), dayOf(wallet.createdAtMs)))
  return Array.from({ length: dayOf(nowMs) - first + 1 }, (_, index) => {
    const endMs = (first + index + 1) * DAY_MS
    const minor = endMs > nowMs ? wallet.amountMinor : balanceBefore(query, wallet, endMs)
    return { at: toTimestamp(endMs - DAY_MS), minor, amount: amount(minor, wallet.currencyId) }
  })
}

const termsOf = ({ id }: { id: number }, { query, reference }: Reading): Row => {
  const entry = productEntry(query, reference, id)
  return entry ? termsIn(entry) : {}
}

/** The terms of a record as a person writes them into the fields of its form. */
const filledWith = (terms: Row): Record<string, string> =>
  Object.fromEntries(Object.entries(terms).map(([name, term]) => [name, fieldText(term)]))

const fieldText = (term: Cell): string => (typeof term === 'boolean' ? (term ? 'on' : 'off') : [term].flat().join(' '))

const RECORDS = {
  payouts: withStory(PAYOUT, payoutActs, String, {
    cells: PAID,
    events: ({ id, clientId, createdAtMs: sinceMs }) => ({ clientId, record: `payout ${id}`, sinceMs }),
    steps: stepsOfPayout,
  }),
  orders: withStory(ORDER, orderActs, Number, {
    events: ({ id, clientId, placedAtMs: sinceMs }) => ({ clientId, record: `order ${id}`, sinceMs }),
    steps: stepsOfOrder,
  }),
  wallets: withStory(WALLET, walletActs, Number, {
    events: ({ id, clientId, createdAtMs: sinceMs }) => ({ clientId, record: `wallet ${id}`, sinceMs }),
    balance: balanceOf,
    lists: { transactions: ({ id }) => ({ of: String(id) }) },
  }),
  clients: withStory(CLIENT, clientActs, String, {
    also: ['wallet add'],
    lists: {
      wallets: ({ username }) => ({ client: username }),
      orders: ({ username }) => ({ client: username }),
      payouts: ({ username }) => ({ client: username }),
    },
  }),
  webhooks: withStory(WEBHOOK, webhookActs, String, { lists: { deliveries: ({ id }) => ({ of: id }) } }),
  beneficiaries: withStory(BENEFICIARY, {}, String, { also: ['beneficiary erase'] }),
  events: withStory<string, Event>(
    { name: 'event', group: 'webhooks', argument: { flags: '<id>' }, find: findAnyEvent, columns: EVENT_COLUMNS },
    {},
    String,
    { also: ['webhooks redeliver'] },
  ),
  products: withStory(
    {
      ...{
        name: 'product',
        group: 'catalog',
        listed: 'catalog export',
        argument: { flags: '<id>' },
        find: findProduct,
      },
      columns: PRODUCT_COLUMNS,
    },
    {},
    Number,
    {
      also: ['catalog edit'],
      terms: termsOf,
      lists: { stock: ({ name }) => ({ search: name }), orders: ({ name }) => ({ search: name }) },
    },
  ),
} as const

/** A wallet has any number of events. */
const EVENTS_MAX = 100

/** @throws ProgramError when there is no such record */
export const storyOf = (data: Reading, page: string, id: string) => {
  if (!Object.hasOwn(RECORDS, page)) throw refused(`there is no page ${page}\nSee the menu.`)
  const { query, reference } = data
  const { row, group, acts, filled, about, steps, balance, lists } = RECORDS[page as keyof typeof RECORDS].find(
    data,
    id,
  )
  const done = [...actsAbout(query, group, id)]
  const event = page === 'events' ? findAnyEvent(query, id) : undefined
  const events = about ? lastEventsAbout(query, about, EVENTS_MAX) : event ? [event] : []
  return {
    row,
    seen: findHead(query)?.count ?? 0,
    acts,
    filled,
    steps: steps(done),
    balance,
    entries:
      group === 'orders' || group === 'payouts' ? entriesOf(query, id).map((entry) => entryWire(entry, reference)) : [],
    events: withAttempts(data, events),
    eventsMax: EVENTS_MAX,
    audit: listOf(AUDIT_SHOWN, done, data),
    lists,
  }
}

const { hash: _, previous_hash: __, ...AUDIT_SHOWN } = AUDIT_COLUMNS

/** Events with every attempt to deliver them, and the responses of the receiver. */
const withAttempts = ({ query }: Reading, events: readonly Event[]) => {
  const attempts = Map.groupBy(
    attemptsOf(
      query,
      events.map(({ eventId }) => eventId),
    ),
    ({ eventId }) => eventId,
  )
  return events.map((event) => ({
    ...eventWire(event),
    request_id: event.requestId,
    attempts: (attempts.get(event.eventId) ?? []).map((attempt) => ({
      webhook_id: attempt.webhookId,
      ...explainedAttemptWire(attempt),
    })),
  }))
}
