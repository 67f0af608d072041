import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Empty, Table, Tag, time } from '../../../../pages/ui/pieces.tsx'
import { nounOf } from '../../../requests/in-words.ts'
import type { RowChange } from '../types.ts'

/** The rows that a request wrote, with their values before and after. */
export const Rows = ({ changes }: { changes: readonly RowChange[] }) => (
  <ul class="items">
    {changes
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .map((change) => (
        <li key={`${change.table} ${change.operation} ${change.key}`}>
          <details>
            <summary>
              <Tag kind={change.operation}>{change.operation}</Tag> <strong>{visible(nounOf(change))}</strong>{' '}
              <span class="mono soft">{change.table}</span>
            </summary>
            <Values {...change} />
          </details>
        </li>
      ))}
  </ul>
)

/** Updated rows come first, those of the ledger last: it has a table of its own. */
const rankOf = ({ table, operation }: RowChange): number =>
  operation === 'update' ? 0 : table.startsWith('journal_') ? 2 : 1

const Values = ({ before, after }: RowChange) => {
  const values = after ?? before
  if (!values) return <Empty>It was written and deleted.</Empty>
  const names = Object.keys(values).filter((name) => (before?.[name] ?? values[name]) !== null)
  if (!before || !after) {
    const heading = before ? 'Before' : 'After'
    return (
      <Table kind="" headings={['Column', heading]} rows={names.map((name) => [name, name, shown(name, values)])} />
    )
  }
  const [changed, same] = [true, false].map((is) => names.filter((name) => (before[name] !== after[name]) === is))
  return (
    <>
      <Table
        kind=""
        headings={['Column', 'Before', 'After']}
        rows={(changed ?? []).map((name) => [
          name,
          name,
          <del>{shown(name, before)}</del>,
          <ins>{shown(name, after)}</ins>,
        ])}
      />
      <p class="line soft">
        Unchanged:{' '}
        {same?.map((name) => (
          <span key={name}>
            {name} {shown(name, after)}
          </span>
        ))}
      </p>
    </>
  )
}

/** A value of a row. Times are stored as milliseconds, and shown in a readable form. */
const shown = (name: string, values: Record<string, unknown>) => {
  const value = values[name] ?? null
  const isTime = typeof value === 'number' && name.endsWith('_at_ms')
  return <span class="mono">{isTime ? time(new Date(value).toISOString()) : visible(String(value))}</span>
}
