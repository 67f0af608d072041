import { auditLists } from '../../acts/audit.ts'
import { beneficiaryActs } from '../../acts/beneficiaries.ts'
import { Amount, type Cell, type List, listOf, type Row, textOf } from '../../acts/cells.ts'
import { clientActs } from '../../acts/clients.ts'
import { type Listed, type Listing, listing, members, type Shown } from '../../acts/kind.ts'
import { orderActs } from '../../acts/orders.ts'
import { PAYOUT, payoutActs } from '../../acts/payouts.ts'
import { rateActs } from '../../acts/rates.ts'
import { transactionList } from '../../acts/transactions.ts'
import { stockIn, voucherActs } from '../../acts/vouchers.ts'
import { walletActs } from '../../acts/wallets.ts'
import { webhookActs } from '../../acts/webhooks.ts'
import { type findProduct, productRecords } from '../../catalog/queries.ts'
import type { Narrowing, Sums } from '../../db/narrowing.ts'
import { type Event, eventsOf } from '../../events/queries.ts'
import { plus } from '../../kernel/money.ts'
import { waitingOrders } from '../../orders/queries.ts'
import { waitingPayouts } from '../../payouts/queries.ts'
import { lowWallets } from '../../wallets/queries.ts'
import { failingWebhooks } from '../../webhooks/queries.ts'
import type { Reading } from '../records/administration.ts'

/** The lists of the desk: those of the commands, by the names of its pages. */

type Product = NonNullable<ReturnType<typeof findProduct>>

export const PRODUCT_COLUMNS: Shown<Product> = {
  ...members<Product>('id', 'name', 'category', 'currencyId', 'active', 'deliveryTime'),
  max_quantity: ({ quantityMax }) => quantityMax,
}
export const EVENT_COLUMNS: Shown<Event> = {
  id: ({ eventId }) => eventId,
  ...members<Event>('clientId', 'type', 'record', 'requestId', 'createdAtMs'),
}

const products = listing('', PRODUCT_COLUMNS, (query) => [...productRecords(query).values()].map(({ row }) => row))
const events = listing('', EVENT_COLUMNS, eventsOf, { client: true, times: 'made' })

/** All of them, in practice. */
const FAILING_MAX = 10_000

interface DeskList {
  listing: Listing
  /** Columns that are on the page of the record instead. */
  left?: string
  /** True if a list can be searched for a part of a text. */
  isSearched?: true
  /** True if the whole list is read, and searched in the form in which it is shown. */
  isShort?: true
  /** Further filters, by the names of the input of its command. */
  by?: readonly string[]
  /** Parts of the list that a person asks for by name, beside its statuses. */
  parts?: Readonly<Record<string, (data: Reading, narrowing: Narrowing) => Listed<never>>>
  /** The columns whose sums a short list shows. */
  summed?: readonly string[]
  /** The input of a list that belongs to a record, made from the id of that record. */
  input?: (of: string) => object
}

export const PAGES: Readonly<Record<string, DeskList>> = {
  payouts: {
    listing: { ...payoutActs.list, columns: PAYOUT.columns as Shown<never> },
    left: 'submitted returned failure_reason',
    parts: { waiting: ({ query }, narrowing) => waitingPayouts(query, narrowing) as Listed<never> },
    isSearched: true,
  },
  orders: {
    isSearched: true,
    listing: orderActs.list,
    left: 'denomination delivered product_id refunded_amount failure_reason',
    parts: { waiting: ({ query }, narrowing) => waitingOrders(query, narrowing) as Listed<never> },
  },
  clients: { listing: clientActs.list, isSearched: true },
  wallets: {
    listing: walletActs.list,
    left: 'created_at',
    isShort: true,
    parts: { low: ({ query }, narrowing) => lowWallets(query, narrowing) as Listed<never> },
    summed: ['amount', 'reserved_amount'],
  },
  transactions: { listing: transactionList, isSearched: true, left: 'status', input: (of) => ({ wallet: Number(of) }) },
  stock: { listing: voucherActs.list, parts: { low: (data) => lowStock(data) as never } },
  products: { listing: products, isSearched: true },
  rates: { listing: rateActs.list },
  webhooks: {
    listing: webhookActs.list,
    isSearched: true,
    isShort: true,
    left: 'signing created_at',
    parts: {
      failing: ({ query }, { clientId }) =>
        failingWebhooks(query, FAILING_MAX).filter(
          (one) => clientId === undefined || one.clientId === clientId,
        ) as never,
    },
  },
  deliveries: { listing: webhookActs.deliveries, input: (of) => ({ webhook: of }) },
  events: { listing: events, isSearched: true },
  beneficiaries: { listing: beneficiaryActs.list, isSearched: true, left: 'phone' },
  audit: {
    listing: auditLists.list,
    isSearched: true,
    left: 'hash previous_hash address act',
    by: ['user', 'command'],
  },
}

/** A week more than the alert ScripStockRunsOut. */
const STOCK_DAYS = 14

/** The stock that is sold out or will soon be, what runs out first at the top. */
export const lowStock = (data: Reading) =>
  stockIn(data)
    .filter(({ available, daysLeft }) => available === 0 || (daysLeft !== null && daysLeft < STOCK_DAYS))
    .sort((one, other) => (one.daysLeft ?? 0) - (other.daysLeft ?? 0))

type Paged = Narrowing & { offset?: number }

/** A cell for each of some names. */
const cellsOf = (names: readonly string[], cellOf: (name: string) => Cell): Row =>
  Object.fromEntries(names.map((name) => [name, cellOf(name)]))

const sumsIn = (sums: readonly Sums[], { amount }: Reading): List => {
  const names = Object.keys(sums[0]?.minor ?? {})
  const rows = sums.map(({ currencyId, n, minor }) => ({
    records: n,
    ...cellsOf(names, (name) => amount(minor[name] ?? 0, currencyId)),
  }))
  return { columns: ['records', ...names], rows }
}

/** The sums of the amounts in these rows, by currency. */
const sumsOf = (rows: readonly Row[], names: readonly string[]): List => {
  const byCurrency = Map.groupBy(rows, ({ currency }) => String(currency)).values()
  const sums = Array.from(byCurrency, (those) => ({
    records: those.length,
    ...cellsOf(names, (name) => sumOf(those.map((row) => row[name]))),
  }))
  return { columns: ['records', ...names], rows: sums }
}

const sumOf = (cells: readonly (Cell | undefined)[]): Cell => {
  const amounts = cells.flatMap((cell) => (cell instanceof Amount ? cell.parts : []))
  const minor = amounts.reduce((sum, one) => plus(sum, one.minor), 0)
  return amounts[0] ? new Amount(minor, amounts[0]) : null
}

/** Some rows of a list. Short lists are searched in the form in which they are shown. */
export const listFor = async (
  data: Reading,
  { listing, left = '', input, isShort, parts = {}, summed }: DeskList,
  { offset = 0, limit = Number.POSITIVE_INFINITY, ...narrowing }: Paged,
  of?: string,
  fields: Fields = {},
): Promise<List & { sums?: List }> => {
  const columns = Object.fromEntries(
    Object.entries(listing.columns).filter(([name]) => !left.split(' ').includes(name)),
  )
  const narrowed = { ...narrowing, newestFirst: true, ...(isShort ? { search: undefined } : { limit: offset + limit }) }
  const taken = of === undefined ? fields : (input?.(of) ?? {})
  const part = new Map(Object.entries(parts)).get(narrowing.status ?? '')
  const items = part
    ? part(data, { ...narrowed, status: undefined })
    : ((await listing.of(data.query, narrowed, taken as never, data)) as Listed<never>)
  if ('count' in items && !isShort) {
    const sums = items.sums?.()
    return {
      ...listOf(columns, Iterator.from(items).drop(offset).take(limit), data),
      total: items.count(),
      ...(sums && { sums: sumsIn(sums, data) }),
    }
  }
  const rows = [...listOf(columns, items, data).rows].filter((row) => holds(row, narrowing.search))
  return {
    columns: Object.keys(columns),
    rows: rows.slice(offset, offset + limit),
    total: rows.length,
    ...(summed && { sums: sumsOf(rows, summed) }),
  }
}

const holds = (row: Row, search = ''): boolean =>
  Object.values(row).some((cell) => textOf(cell).toLowerCase().includes(search.toLowerCase()))

const PAGE_ROWS = 50

/** A part of a list, and the filters that the list takes. */
export interface ShownList extends List {
  by: readonly string[]
  statuses: readonly string[]
  pageRows: number
  /** The sums of all of it. */
  sums?: List
}

type Fields = Readonly<Record<string, string | undefined>>

export const pageFor = async (
  data: Reading,
  page: DeskList,
  narrowing: Paged,
  of?: string,
  fields?: Fields,
): Promise<ShownList> => {
  const { client, times, statuses = [] } = page.listing
  const by = ['search', client ? 'client' : [], page.by ?? [], times === undefined ? [] : 'time'].flat()
  const list = await listFor(data, page, { ...narrowing, limit: PAGE_ROWS }, of, fields)
  return { ...list, by, statuses: [...Object.keys(page.parts ?? {}), ...statuses], pageRows: PAGE_ROWS }
}
