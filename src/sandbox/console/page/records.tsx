import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { amount, sumOf } from '../../../pages/amounts.ts'
import { type Filters, List, type Row } from '../../../pages/ui/list.tsx'

/** The records of a world in the list of the desk: the console has read them all, and narrows and sums them itself. */

export interface Recorded {
  /** Its cells, among them its id. */
  row: Row
  /** The amount that the sums count. */
  counts?: { amount: number; currency: string }
}

/** The rows of a page. */
const SHOWN = 50

const partOf = (records: readonly Recorded[], { search = '', status = '', offset }: Filters, pointedAt: string) => {
  const isFound = ({ row }: Recorded): boolean =>
    Object.values(row).some((cell) => String(cell).toLowerCase().includes(search.toLowerCase()))
  const found = records.filter((record) => (status === '' || record.row.status === status) && isFound(record))
  const pointed = found.findIndex(({ row }) => String(row.id) === pointedAt)
  const start = offset === undefined ? pointed - (pointed % SHOWN) : Number(offset)
  const byCurrency = Map.groupBy(
    found.flatMap(({ counts }) => counts ?? []),
    ({ currency }) => currency,
  )
  const sums = Array.from(byCurrency, ([currency, those]) => {
    return { records: those.length, sum: amount(sumOf(those, currency), currency) }
  })
  return {
    columns: Object.keys(found[0]?.row ?? {}),
    rows: found.slice(start, start + SHOWN).map(({ row }) => row),
    total: found.length,
    sums: { columns: ['records', 'sum'], rows: sums },
    by: ['search'],
    statuses: [...new Set(records.flatMap(({ row: { status } }) => (status === undefined ? [] : String(status))))],
    pageRows: SHOWN,
    offset: String(start),
  }
}

interface Props<Item> {
  /** The first word of the ids of its elements: `order-7`. */
  kind: string
  title: string
  /** Undefined until they are read. */
  records: readonly Item[] | undefined
  /** The number of the newest records, if older ones are not read. */
  max?: number
  empty: ComponentChildren
  /** The element of the record that the address points at, whose page is shown first. */
  pointedAt?: string | undefined
  aside?: ComponentChildren
  /** The contents above the rows. */
  children?: ComponentChildren
  /** The contents beside a record, such as its actions, and below it. */
  after?: (record: Item) => ComponentChildren
  below?: (record: Item) => ComponentChildren
}

export const Records = <Item extends Recorded>({
  kind,
  title,
  records,
  max,
  empty,
  pointedAt = '',
  aside,
  children,
  after,
  below,
}: Props<Item>) => {
  const [query, setQuery] = useState<Filters>({})
  const part = records && partOf(records, query, pointedAt.replace(`${kind}-`, ''))
  const of = (content: Props<Item>['after']) => {
    if (!content) return undefined
    return ({ id }: Row) => {
      const record = records?.find(({ row }) => row.id === id)
      return record && content(record)
    }
  }
  return (
    <List
      title={title}
      name={`${kind}s`}
      list={part}
      query={{ ...query, offset: part?.offset }}
      onQuery={setQuery}
      empty={records?.length === 0 ? empty : 'Nothing matches.'}
      aside={
        <>
          {records?.length === max && <span class="soft">the newest</span>}
          {aside}
        </>
      }
      elementOf={({ id }) => `${kind}-${id}`}
      after={of(after)}
      below={of(below)}
    >
      {children}
    </List>
  )
}
