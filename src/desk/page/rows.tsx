import { useState } from 'preact/hooks'
import * as ui from '../../pages/ui/list.tsx'
import { hrefOf } from '../../pages/ui/place.ts'
import type { Row, List as Table } from './data.ts'

/** The lists of the desk: their columns, and the links to other records. */

/** The columns that are left out: amounts name their currency, and buttons show what a record allows. */
const BESIDE = ['currency', 'paid_currency', 'our_currency', 'their_currency', 'can']
const OF_CURRENCIES = ['rates', 'products']

/** The page of the record that a column names. */
const PAGES: Readonly<Record<string, string>> = {
  client: 'clients',
  username: 'clients',
  wallet_id: 'wallets',
  product_id: 'products',
  event: 'events',
  webhook_id: 'webhooks',
}
/** Pages with a record for each row. */
const OF_RECORDS = ['payouts', 'orders', 'wallets', 'webhooks', 'events', 'beneficiaries', 'products']

const hrefIn = (page: string, name: string, cell: string, row: ui.Row): string | undefined => {
  if (page === 'changes') return undefined // a new product has no page yet
  if (name === 'id') return OF_RECORDS.includes(page) ? hrefOf({ page, id: cell }) : undefined
  if (name === 'record' || name === 'source_id') {
    const id = cell.split(' ').at(-1) ?? ''
    const kind = name === 'record' ? cell.split(' ')[0] : id.startsWith('pyt_') ? 'payout' : 'order'
    return hrefOf({ page: `${kind}s`, id })
  }
  if (name === 'subject') {
    const [group = ''] = String(row.command).split(' ')
    const [id] = cell.split(' ')
    const kind = { payouts: 'payouts', orders: 'orders', wallet: 'wallets', client: 'clients' }[group]
    return kind && id ? hrefOf({ page: kind, id }) : undefined
  }
  const kind = PAGES[name]
  return kind && hrefOf({ page: kind, id: cell })
}

/** The columns of these that a page shows, and its links. */
const shownOn = (page: string, columns: readonly string[]) => ({
  columns: OF_CURRENCIES.includes(page) ? columns : columns.filter((name) => !BESIDE.includes(name)),
  hrefOf: (name: string, text: string, row: ui.Row) => hrefIn(page, name, text, row),
})

type Of<Props> = Props & { page: string }

export const List = ({ page, list, ...rest }: Of<Parameters<typeof ui.List>[0]>) => {
  const { columns, hrefOf } = shownOn(page, list?.columns ?? [])
  return <ui.List name={page} {...rest} list={list && { ...list, columns }} hrefOf={hrefOf} />
}

/** The rows of a long list that are shown at once. */
const SHOWN = 100

/** A list that is here whole, a part of it at a time. */
export const Paged = ({ title, page, list: { columns, rows } }: { title: string; page: string; list: Table }) => {
  const [query, setQuery] = useState<ui.Filters>({})
  const offset = Number(query.offset ?? 0)
  const part = { columns, rows: rows.slice(offset, offset + SHOWN), total: rows.length, pageRows: SHOWN }
  return <List title={title} name={title} page={page} list={part} query={query} onQuery={setQuery} />
}

export const Rows = ({ page, list, ...rest }: Of<Parameters<typeof ui.Rows>[0]>) => {
  const { columns, hrefOf } = shownOn(page, list.columns)
  return <ui.Rows {...rest} list={{ ...list, columns }} hrefOf={hrefOf} />
}

export const Facts = ({ page, row }: { page: string; row: Row }) => (
  <ui.Facts row={row} {...shownOn(page, Object.keys(row))} />
)
