import { type Amount, type List, listOf, type Row } from '../../acts/cells.ts'
import { ORDER } from '../../acts/orders.ts'
import { PAYOUT } from '../../acts/payouts.ts'
import { STOCK_COLUMNS, stockIn } from '../../acts/vouchers.ts'
import { WALLET } from '../../acts/wallets.ts'
import { ATTEMPT_COLUMNS } from '../../acts/webhooks.ts'
import { findHead, lastDoneMs } from '../../audit/queries.ts'
import { toTimestampOrNull } from '../../kernel/clock.ts'
import { allOrders } from '../../orders/queries.ts'
import { movingPayouts } from '../../payouts/queries.ts'
import { allClients } from '../../sessions/queries.ts'
import { walletsOf } from '../../wallets/queries.ts'
import { allWebhooks, attemptsTo } from '../../webhooks/queries.ts'
import type { Reading } from '../records/administration.ts'
import { actsOnOrder, actsOnPayout, isOpen, OPEN_ORDERS, OPEN_PAYOUTS } from './story.ts'

/** What waits for somebody, and what runs out. */

/** The oldest are done first. */
const SHOWN_MAX = 100
/** A week more than the alert ScripStockRunsOut. */
const STOCK_DAYS = 14
const ATTEMPTS_MAX = 20

interface Section {
  title: string
  /** The list of all records of this kind. */
  page: string
  empty: string
  /** What can be done with several at once, and what is filled in. */
  many?: { command: string; filled: Record<string, string> }
  list: List
}

/** Each row with its acts, what they are about, and how people know it. */
const withActs = (
  list: List,
  acts: (row: Row) => readonly string[],
  labelOf: (row: Row) => string,
  subject = 'id',
) => ({
  ...list,
  rows: Iterator.from(list.rows).map((row) => ({
    ...row,
    acts: acts(row),
    subject: String(row[subject]),
    label: labelOf(row),
  })),
})

export const todayOf = async (data: Reading) => {
  const { query, clientName } = data
  const payouts = movingPayouts(query, OPEN_PAYOUTS)
  const orders = allOrders(query, OPEN_ORDERS).filter(isOpen)
  const stock = (await stockIn(data))
    .filter(({ available, daysLeft }) => available === 0 || (daysLeft !== null && daysLeft < STOCK_DAYS))
    .sort((one, other) => (one.daysLeft ?? 0) - (other.daysLeft ?? 0))
  const low = [...walletsOf(query, {})].filter(({ amountMinor: held, thresholdMinor: least }) => held < (least ?? held))
  const failed = allWebhooks(query)
    .filter(({ failingSinceMs, active }) => failingSinceMs !== null && active)
    .flatMap(({ id, name, clientId }) =>
      [...attemptsTo(query, id, { newestFirst: true, limit: ATTEMPTS_MAX })]
        .filter(({ status }) => status !== 'delivered')
        .map((attempt) => ({ ...attempt, webhook: `${name} of ${clientName(clientId)}` })),
    )
  const shownPayouts = listOf({ ...PAYOUT.columns, acts: actsOnPayout }, payouts.slice(0, SHOWN_MAX), data)
  const shownOrders = listOf({ ...ORDER.columns, acts: actsOnOrder }, orders.slice(0, SHOWN_MAX), data)
  const sections: Section[] = [
    {
      title: 'Payouts that wait',
      page: 'payouts',
      empty: 'No payout waits. A client makes one with POST /api/v1/payouts, and it waits here until you advance it.',
      many: { command: 'payouts advance', filled: { to: 'completed' } },
      list: {
        ...withActs(
          shownPayouts,
          ({ acts }) => acts as readonly string[],
          ({ reference_id, amount, beneficiary }) => `${reference_id} · ${(amount as Amount).words} to ${beneficiary}`,
        ),
        columns: ['id', 'client', 'status', 'amount', 'beneficiary', 'reference_id', 'created_at'],
        total: payouts.length,
      },
    },
    {
      title: 'Orders that wait',
      page: 'orders',
      empty: 'No order waits. Those that are not delivered immediately wait here until you deliver them.',
      many: { command: 'orders deliver', filled: {} },
      list: {
        ...withActs(
          shownOrders,
          ({ acts }) => acts as readonly string[],
          ({ id, quantity, product }) => `order ${id} · ${quantity} × ${product}`,
        ),
        columns: ['id', 'client', 'status', 'product', 'quantity', 'delivered', 'paid', 'placed_at'],
        total: orders.length,
      },
    },
    {
      title: 'Stock that runs low',
      page: 'stock',
      empty: 'Nothing sells out in the next two weeks. Stock has a form that imports codes.',
      list: {
        ...listOf(STOCK_COLUMNS, stock, data),
        columns: ['product_id', 'product', 'denomination', 'available', 'days_left'],
      },
    },
    {
      title: 'Wallets below their threshold',
      page: 'wallets',
      empty: 'No wallet is below its threshold. Set one on the page of a wallet.',
      list: {
        ...withActs(
          listOf(WALLET.columns, low, data),
          () => ['wallet fund'],
          ({ id, client }) => `wallet ${id} of ${client}`,
        ),
        columns: ['id', 'client', 'amount', 'threshold'],
      },
    },
    {
      title: 'Deliveries that fail',
      page: 'webhooks',
      empty: 'No webhook fails.',
      list: {
        ...withActs(
          listOf({ webhook: ({ webhook }) => webhook, ...ATTEMPT_COLUMNS }, failed, data),
          () => ['webhooks redeliver'],
          ({ event }) => String(event),
          'event',
        ),
        columns: ['webhook', 'event', 'type', 'attempt', 'status', 'response_status', 'error', 'next_attempt_at'],
      },
    },
  ]
  return {
    seen: findHead(query)?.count ?? 0,
    isEmpty: allClients(query).length === 0,
    sections,
    backup: toTimestampOrNull(lastDoneMs(query, 'backup')),
  }
}
