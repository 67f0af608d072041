import { AUDIT_COLUMNS } from '../../acts/audit.ts'
import { BENEFICIARY } from '../../acts/beneficiaries.ts'
import { type List, listOf, type Row, textOf } from '../../acts/cells.ts'
import { CLIENT, clientsOf } from '../../acts/clients.ts'
import type { Listed, Shown } from '../../acts/kind.ts'
import { ORDER } from '../../acts/orders.ts'
import { PAYOUT } from '../../acts/payouts.ts'
import { RATE_COLUMNS, ratesIn } from '../../acts/rates.ts'
import { TRANSACTION_COLUMNS } from '../../acts/transactions.ts'
import { STOCK_COLUMNS, stockIn } from '../../acts/vouchers.ts'
import { WALLET } from '../../acts/wallets.ts'
import { ATTEMPT_COLUMNS, WEBHOOK } from '../../acts/webhooks.ts'
import { auditRows, OUTCOMES } from '../../audit/queries.ts'
import { beneficiariesOf } from '../../beneficiaries/queries.ts'
import { productRecords } from '../../catalog/queries.ts'
import type { Narrowing } from '../../db/narrowing.ts'
import { type Event, eventsOf } from '../../events/queries.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { ORDER_STATUSES, ordersOf } from '../../orders/queries.ts'
import { PAYOUT_STATUSES, payoutsOf } from '../../payouts/queries.ts'
import { walletsOf } from '../../wallets/queries.ts'
import { TRANSACTION_STATUSES, transactionsOf } from '../../wallets/statement-queries.ts'
import { allWebhooks, attemptsTo } from '../../webhooks/queries.ts'
import type { Reading } from '../records/administration.ts'
import { statement } from '../records/statement.ts'

/** What the desk lists: the records of the commands, by the names of its pages. */

/** Whose, where a list belongs to a record: the attempts to a webhook, the transactions of a wallet. */
type Of = string | undefined

interface Listing {
  statuses?: readonly string[]
  /** What narrows it besides a search. */
  by: readonly ('client' | 'time' | 'month')[]
  /** How many rows a page has, where it is not the usual number. */
  pageRows?: number
  /** What the page shows, where a file has more. */
  columns?: readonly string[]
  read: (data: Reading, narrowing: Narrowing & { offset?: number }, of?: Of) => Promise<List>
}

const listing = <Item>(
  columns: Shown<Item>,
  left: readonly string[],
  itemsOf: (data: Reading, narrowing: Narrowing, of: Of) => Listed<Item> | Promise<Listed<Item>>,
  by: Listing['by'] = [],
  statuses?: readonly string[],
): Listing => {
  const shown = Object.fromEntries(Object.entries(columns).filter(([name]) => !left.includes(name)))
  return {
    by,
    ...(statuses && { statuses }),
    read: async (data, { offset = 0, limit = Number.POSITIVE_INFINITY, ...narrowing }, of) => {
      const wanted = { ...narrowing, limit: offset + limit, newestFirst: true }
      const items = await itemsOf(data, wanted, of)
      if ('count' in items) {
        return { ...listOf(shown, Iterator.from(items).drop(offset).take(limit), data), total: items.count() }
      }
      const rows = [...listOf(shown, items, data).rows].filter((row) => holds(row, narrowing.search))
      return { columns: Object.keys(shown), rows: rows.slice(offset, offset + limit), total: rows.length }
    },
  }
}

const holds = (row: Row, search = ''): boolean =>
  Object.values(row).some((cell) => textOf(cell).toLowerCase().includes(search.toLowerCase()))

const PRODUCT_COLUMNS: Shown<ReturnType<typeof productRecords> extends Map<number, infer Record> ? Record : never> = {
  id: ({ row }) => row.id,
  name: ({ row }) => row.name,
  category: ({ row }) => row.category,
  currency: ({ row }, { currency }) => currency(row.currencyId).currency,
  denominations: ({ row, bands }, { amount }) =>
    bands.map(({ minMinor, maxMinor }) =>
      [...new Set([minMinor, maxMinor])].map((minor) => `${amount(minor, row.currencyId)}`).join(' to '),
    ),
  active: ({ row }) => row.active,
  delivery_time: ({ row }) => row.deliveryTime,
}

export const EVENT_COLUMNS: Shown<Event> = {
  id: ({ eventId }) => eventId,
  client: ({ clientId }, { clientName }) => clientName(clientId),
  type: ({ type }) => type,
  record: ({ record }) => record,
  created_at: ({ createdAtMs }) => toTimestamp(createdAtMs),
}

const NARROWED = ['client', 'time'] as const

export const LISTS: Readonly<Record<string, Listing>> = {
  payouts: listing(
    PAYOUT.columns,
    ['submitted', 'returned', 'failure_reason'],
    ({ query }, narrowing) => payoutsOf(query, narrowing),
    NARROWED,
    PAYOUT_STATUSES,
  ),
  orders: listing(
    ORDER.columns,
    ['denomination', 'currency', 'delivered', 'product_id', 'refunded_amount', 'failure_reason'],
    ({ query }, narrowing) => ordersOf(query, narrowing),
    NARROWED,
    ORDER_STATUSES,
  ),
  clients: listing(
    CLIENT.columns,
    [],
    ({ query }, narrowing) => clientsOf(query, narrowing),
    ['time'],
    ['enabled', 'disabled'],
  ),
  wallets: listing(
    WALLET.columns,
    ['created_at'],
    ({ query }, { limit: _, ...narrowing }) => [...walletsOf(query, narrowing)],
    NARROWED,
  ),
  transactions: listing(
    TRANSACTION_COLUMNS,
    ['status'],
    ({ query }, narrowing, of) => transactionsOf(query, narrowing, of === undefined ? undefined : Number(of)),
    NARROWED,
    TRANSACTION_STATUSES,
  ),
  stock: listing(STOCK_COLUMNS, [], async (data, _, of) =>
    (await stockIn(data)).filter(({ productId }) => of === undefined || productId === Number(of)),
  ),
  products: listing(PRODUCT_COLUMNS, [], ({ query }) => [...productRecords(query).values()]),
  rates: listing(RATE_COLUMNS, [], ({ query }) => ratesIn(query)),
  webhooks: listing(
    WEBHOOK.columns,
    ['signing', 'created_at'],
    ({ query }, { clientId }) => allWebhooks(query, clientId),
    ['client'],
  ),
  deliveries: listing(ATTEMPT_COLUMNS, [], ({ query }, narrowing, of = '') => attemptsTo(query, of, narrowing)),
  events: listing(EVENT_COLUMNS, [], ({ query }, narrowing) => eventsOf(query, narrowing), NARROWED),
  beneficiaries: listing(
    BENEFICIARY.columns,
    ['phone'],
    ({ query }, narrowing) => beneficiariesOf(query, narrowing),
    NARROWED,
  ),
  statement: {
    by: ['client', 'month'],
    pageRows: Number.MAX_SAFE_INTEGER,
    columns: [
      'created_at',
      'wallet_id',
      'entry',
      'source_id',
      'remarks',
      'transaction_type',
      'amount',
      'balance_after',
    ],
    read: async (data, { clientId, sinceMs, untilMs }) => {
      const name = clientId === undefined ? null : data.clientName(clientId)
      if (name === null || sinceMs === undefined || untilMs === undefined) return { columns: [], rows: [] }
      const config = { ...data.config, format: 'csv' as const }
      return statement({ ...data, config }, name, { month: { sinceMs, untilMs } }) as List
    },
  },
  audit: listing(
    AUDIT_COLUMNS,
    ['hash', 'previous_hash', 'address', 'act'],
    ({ query }, narrowing) => auditRows(query, narrowing),
    ['time'],
    OUTCOMES,
  ),
}
