import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { jsonIn } from '../../kernel/json.ts'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { Button, Field, Form, Input, named, Select } from './forms.tsx'
import { copy } from './notices.tsx'
import { Card, Empty, Tag, time } from './pieces.tsx'
import { kindOf } from './timeline.tsx'

/** Lists of records for people, of the console and of the desk: filters, sums, rows and pages. */

type Cell = string | number | boolean | object | null
export type Row = Readonly<Record<string, Cell>>

/** The filters of a list, by their names. */
export type Filters = Readonly<Record<string, string | undefined>>

interface Table {
  columns: readonly string[]
  rows: readonly Row[]
}

/** A part of a list, and the filters that the list takes. */
interface ListPage extends Table {
  /** The number of rows of all of it. */
  total?: number
  /** The sums of all of it by currency. */
  sums?: Table
  by?: readonly string[]
  statuses?: readonly string[]
  /** The most rows of a page. */
  pageRows?: number
}

/** The address of the record that a cell names. */
type HrefOf = (name: string, text: string, row: Row) => string | undefined

const Value = ({ name, row, hrefOf }: { name: string; row: Row; hrefOf?: HrefOf | undefined }) => {
  const cell = row[name] ?? null
  if (cell === null || cell === '') return <span class="soft">–</span>
  if (name === 'status' || name === 'outcome') return <Tag kind={kindOf(String(cell))}>{String(cell)}</Tag>
  const text = textOf(cell)
  if (AMOUNT.test(text)) return <span class="amount">{text}</span>
  if (TIME.test(name)) return <span class="mono">{time(text).slice(0, 19)}</span>
  const href = hrefOf?.(name, text, row)
  const shown = visible(text)
  const cut = isLong(shown) ? <Cut text={shown} /> : shown
  if (href !== undefined) return <a href={href}>{cut}</a>
  if (!isLong(shown)) return /\s/.test(shown) ? shown : <span class="word">{shown}</span>
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

interface RowsProps {
  list: Table
  label: string
  hrefOf?: HrefOf | undefined
  /** The contents before and after the cells of a row, and in a row of their own below them. */
  before?: ((row: Row) => ComponentChildren) | undefined
  after?: ((row: Row) => ComponentChildren) | undefined
  below?: ((row: Row) => ComponentChildren) | undefined
  /** The id of its element, for addresses that point at it. */
  elementOf?: ((row: Row) => string) | undefined
}

/** A table that becomes a list of names and values on a narrow screen. */
export const Rows = ({ list: { columns, rows }, label, hrefOf, before, after, below, elementOf }: RowsProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard
  // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of its own
  <div class="scroll" role="group" aria-label={label} tabIndex={0}>
    <table class="rows">
      <thead>
        <tr>
          {before && <th>Choose</th>}
          {columns.map((name) => (
            <th key={name}>{headingOf(name)}</th>
          ))}
          {after && <th>Act</th>}
        </tr>
      </thead>
      {rows.map((row, index) => (
        <tbody key={row.id ?? index} id={elementOf?.(row)} tabIndex={elementOf && -1}>
          <tr>
            {before && <td data-name="choose">{before(row)}</td>}
            {columns.map((name) => (
              <td key={name} data-name={headingOf(name)}>
                <Value name={name} row={row} hrefOf={hrefOf} />
              </td>
            ))}
            {after && <td data-name="act">{after(row)}</td>}
          </tr>
          {below && (
            <tr>
              <td colSpan={columns.length + (before ? 1 : 0) + (after ? 1 : 0)}>{below(row)}</td>
            </tr>
          )}
        </tbody>
      ))}
    </table>
  </div>
)

/** A record as names and values. */
export const Facts = ({ row, columns, hrefOf }: { row: Row; columns: readonly string[]; hrefOf: HrefOf }) => (
  <dl class="values">
    {columns.map((name) => (
      <div key={name}>
        <dt>{headingOf(name)}</dt>
        <dd>
          <Value name={name} row={row} hrefOf={hrefOf} />
        </dd>
      </div>
    ))}
  </dl>
)

interface ListProps extends Omit<RowsProps, 'list' | 'label'> {
  title: string
  /** The name of the list, under which filters are kept; by default, its title. */
  name?: string
  /** Undefined until it is read. */
  list: ListPage | undefined
  /** The text of an empty list. */
  empty?: ComponentChildren
  /** The filters of a list that a person can narrow, among them the offset of its page. */
  query?: Filters
  onQuery?: (query: Filters) => unknown
  /** The address of the whole list. */
  all?: string | undefined
  /** The number of rows after which a person asks for the others; by default, all are shown. */
  short?: number
  aside?: ComponentChildren
  /** The contents above its rows. */
  children?: ComponentChildren
}

/** A list in a card of its own. */
export const List = ({
  title,
  name = title,
  list,
  empty,
  query = {},
  onQuery,
  all,
  short,
  aside,
  children,
  ...rest
}: ListProps) => {
  const [isWhole, setWhole] = useState(short === undefined)
  const { total = list?.rows.length ?? 0, rows = [], pageRows = rows.length, sums } = list ?? {}
  const shown = isWhole ? rows : rows.slice(0, short)
  return (
    <Card
      title={title}
      aside={
        <div class="line">
          <span class="soft">{total > 0 && total.toLocaleString('en')}</span>
          {aside}
        </div>
      }
    >
      {children}
      {onQuery && list?.by && (
        <FilterForm key={JSON.stringify(query)} name={name} query={query} onQuery={onQuery} {...list} />
      )}
      {list && rows.length === 0 && !sums?.rows.length && <Empty>{empty}</Empty>}
      {sums && sums.rows.length > 0 && <Rows hrefOf={rest.hrefOf} list={sums} label={`Sums: ${title}`} />}
      {list && shown.length > 0 && <Rows {...rest} list={{ ...list, rows: shown }} label={title} />}
      {shown.length < rows.length && (
        <Button
          text={`${rows.length - shown.length} more`}
          aria-label={`${rows.length - shown.length} more of ${title}`}
          onClick={() => setWhole(true)}
        />
      )}
      {onQuery && (
        <Pages
          offset={Number(query.offset ?? 0)}
          count={pageRows}
          total={total}
          of={name}
          onMove={(offset) => onQuery({ ...query, offset: String(offset) })}
        />
      )}
      {all !== undefined && total > rows.length && (
        <p>
          <a href={all}>All {total.toLocaleString('en')}</a>
        </p>
      )}
    </Card>
  )
}

interface FilterProps extends Omit<ListPage, keyof Table> {
  name: string
  query: Filters
  onQuery: (query: Filters) => unknown
}

const FilterForm = ({ name: list, query, onQuery, by = [], statuses = [] }: FilterProps) => {
  const [values, setValues] = useState(query)
  const field = (name: string, label: string, placeholder = '') => (
    <Field
      key={name}
      label={label}
      placeholder={placeholder}
      value={values[name] ?? ''}
      onText={(text) => setValues({ ...values, [name]: text })}
    />
  )
  const { offset: _, ...filters } = values
  return (
    <div class="filters">
      <Form class="form" aria-label={`Filters of ${list}`} onSubmit={() => onQuery(filters)}>
        {by.includes('search') && field('search', 'Search')}
        {by.includes('client') && field('client', 'Client')}
        {by.includes('user') && field('user', 'Person')}
        {by.includes('command') && field('command', 'Act', 'payouts advance')}
        {by.includes('month') && field('month', 'Month, in UTC', '2026-11')}
        {by.includes('time') && [field('since', 'Since', '2026-11-01'), field('until', 'Until', '2026-12-01')]}
        {statuses.length > 0 && (
          <label>
            Status
            <Select
              value={values.status ?? ''}
              options={[['', 'all'], ...named(statuses)]}
              onChoose={(status) => onQuery({ ...filters, status })}
            />
          </label>
        )}
        <button type="submit">Show</button>
      </Form>
      <Kept name={list} query={query} onQuery={onQuery} />
    </div>
  )
}

type Named = Readonly<Record<string, Filters>>

const filledIn = ({ offset: _, ...filters }: Filters) => Object.entries(filters).filter(([, value]) => value)

/** The filters that a person has named, kept in the browser. */
const Kept = ({ name: list, query, onQuery }: FilterProps) => {
  const key = `scrip-filters-${list}`
  const [kept, setKept] = useState<Named>(() => (jsonIn(localStorage.getItem(key) ?? '') ?? {}) as Named)
  const [name, setName] = useState('')
  const keep = (named: Named) => {
    localStorage.setItem(key, JSON.stringify(named))
    setKept(named)
  }
  const filters = filledIn(query)
  const isShown = (one: Filters) => JSON.stringify(filledIn(one).sort()) === JSON.stringify(filters.toSorted())
  const isNew = filters.length > 0 && !Object.values(kept).some(isShown)
  if (!isNew && Object.keys(kept).length === 0) return null
  return (
    <fieldset class="line" aria-label={`Kept filters of ${list}`}>
      {Object.entries(kept).map(([each, one]) => (
        <span key={each}>
          <Button text={visible(each)} aria-pressed={isShown(one)} onClick={() => onQuery(one)} />
          <Button
            text="×"
            aria-label={`Forget the filter ${visible(each)}`}
            onClick={() => keep(Object.fromEntries(Object.entries(kept).filter(([other]) => other !== each)))}
          />
        </span>
      ))}
      {isNew && (
        <Form class="line" onSubmit={() => keep({ ...kept, [name]: Object.fromEntries(filters) })}>
          <Input
            aria-label="Name of this filter"
            placeholder="Name of this filter"
            required
            value={name}
            onText={setName}
          />
          <button type="submit">Keep filter</button>
        </Form>
      )}
    </fieldset>
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
const Pages = ({ offset, count, total, of, onMove }: PagesProps) => {
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
