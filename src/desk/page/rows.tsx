import type { ComponentChildren } from 'preact'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { Button } from '../../pages/ui/forms.tsx'
import { copy } from '../../pages/ui/notices.tsx'
import { Tag, time } from '../../pages/ui/pieces.tsx'
import { hrefOf } from '../../pages/ui/place.ts'
import { kindOf } from '../../pages/ui/timeline.tsx'
import type { Cell, List, Row } from './data.ts'

/** Rows for people: amounts with their currency, times, and links to other records. */

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

const hrefIn = (name: string, cell: string, row: Row, page: string): string | undefined => {
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

export const Value = ({ name, row, page }: { name: string; row: Row; page: string }) => {
  const cell = row[name] ?? null
  if (cell === null || cell === '') return <span class="soft">–</span>
  if (name === 'status' || name === 'outcome') return <Tag kind={kindOf(String(cell))}>{String(cell)}</Tag>
  const text = textOf(cell)
  if (AMOUNT.test(text)) return <span class="amount">{text}</span>
  if (TIME.test(name)) return <span class="mono">{time(text).slice(0, 19)}</span>
  const href = hrefIn(name, text, row, page)
  const shown = visible(text)
  const cut = isLong(shown) ? <Cut text={shown} /> : shown
  if (href !== undefined) return <a href={href}>{cut}</a>
  if (!isLong(shown)) return shown
  return (
    <button type="button" class="cut" title={`${shown}: copy`} onClick={() => copy(text, shown)}>
      {cut}
    </button>
  )
}

/** Longer words are cut: the ids of the API are. */
const WORD_MAX = 24
const [KEPT_BEFORE, KEPT_AFTER] = [11, 6]

const isLong = (text: string): boolean => text.length > WORD_MAX && !/\s/.test(text)

/** `pyt_0mjvbk3…4w1z8t`: a list shows both ends of an id. What is copied, printed or read out is the whole. */
const Cut = ({ text }: { text: string }) => (
  <>
    {text.slice(0, KEPT_BEFORE)}
    <span class="middle">{text.slice(KEPT_BEFORE, -KEPT_AFTER)}</span>
    {text.slice(-KEPT_AFTER)}
  </>
)

const textOf = (cell: Cell): string => {
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  if (Array.isArray(cell)) return cell.join(', ')
  if (typeof cell === 'object' && cell !== null)
    return Object.entries(cell)
      .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
      .join(', ')
  return String(cell)
}

const TIME = /_at$|^at$|_until$/
/** An amount in the server's notation. */
const AMOUNT = /^-?[\d,.]+ [A-Z]{3}$/

const headingOf = (name: string): string => name.replaceAll('_', ' ')

const shownOf = (columns: readonly string[], page: string): readonly string[] =>
  OF_CURRENCIES.includes(page) ? columns : columns.filter((name) => !BESIDE.includes(name))

interface RowsProps {
  list: Pick<List, 'columns' | 'rows'>
  page: string
  label: string
  /** The contents before and after the cells of a row. */
  before?: (row: Row) => ComponentChildren
  after?: (row: Row) => ComponentChildren
}

/** A table that becomes a list of names and values on a narrow screen. */
export const Rows = ({ list: { columns, rows }, page, label, before, after }: RowsProps) => {
  const shown = shownOf(columns, page)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of its own
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      <table class="rows">
        <thead>
          <tr>
            {before && <th>Choose</th>}
            {shown.map((name) => (
              <th key={name}>{headingOf(name)}</th>
            ))}
            {after && <th>Act</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={row.id ?? index}>
              {before && <td data-name="choose">{before(row)}</td>}
              {shown.map((name) => (
                <td key={name} data-name={headingOf(name)}>
                  <Value name={name} row={row} page={page} />
                </td>
              ))}
              {after && <td data-name="act">{after(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface PagesProps {
  offset: number
  /** The most rows of a page. */
  count: number
  total: number
  /** The name of the list, for its buttons. */
  of: string
  onMove: (offset: number) => void
}

/** The pages of a list, if it has several. */
export const Pages = ({ offset, count, total, of, onMove }: PagesProps) => {
  if (total <= count && offset === 0) return null
  const move = (text: string, to: number) => (
    <Button
      text={text}
      aria-label={`${text} page of ${of}`}
      disabled={to < 0 || to >= total}
      onClick={() => onMove(to)}
    />
  )
  return (
    <p class="line pages">
      {move('First', offset === 0 ? -1 : 0)}
      {move('Previous', offset === 0 ? -1 : Math.max(0, offset - count))}
      <span class="soft">
        {(offset + 1).toLocaleString('en')} to {Math.min(offset + count, total).toLocaleString('en')} of{' '}
        {total.toLocaleString('en')}
      </span>
      {move('Next', offset + count)}
      {move('Last', offset + count < total ? Math.floor((total - 1) / count) * count : total)}
    </p>
  )
}

/** A record as names and values. */
export const Facts = ({ row, page }: { row: Row; page: string }) => (
  <dl class="values">
    {shownOf(Object.keys(row), page).map((name) => (
      <div key={name}>
        <dt>{headingOf(name)}</dt>
        <dd>
          <Value name={name} row={row} page={page} />
        </dd>
      </div>
    ))}
  </dl>
)
