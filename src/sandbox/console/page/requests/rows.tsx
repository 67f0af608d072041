import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Empty, Table, Tag, time } from '../../../../pages/ui/pieces.tsx'
import { nounOf } from '../../../requests/in-words.ts'
import type { RowChange, RowValues } from '../types.ts'

/** The rows that a request wrote, with their changed values before and after. */
export const Rows = ({ changes }: { changes: readonly RowChange[] }) => {
  return (
    <>
      {!changes.every(isRecorded) && (
        <p class="hint">
          The console records values before and after while it is open. It did not record this request: rows that change
          are shown as they are now.
        </p>
      )}
      <ul class="changes">
        {[...changes].sort(byInterest).map((change) => (
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
    </>
  )
}

/** Sorts updated rows first. The rows of the ledger are shown as a ledger, too. */
const byInterest = (a: RowChange, b: RowChange): number => rankOf(a) - rankOf(b)
const rankOf = ({ table, operation }: RowChange): number =>
  operation === 'update' ? 0 : table.startsWith('journal_') ? 2 : 1

const isRecorded = ({ before, after }: RowChange): boolean => before !== null || after !== null

const Values = ({ operation, before, after, now }: RowChange) => {
  if (before && after) return <Updated before={before} after={after} />
  const values = before ?? after ?? now
  if (!values) return <Empty>Its values are no longer known.</Empty>
  const heading = before ? 'Before' : after ? 'After' : operation === 'delete' ? 'Value' : 'As it is now'
  const rows = Object.entries(values).filter(([, value]) => value !== null)
  return (
    <Table
      kind="values"
      headings={['Column', heading]}
      rows={rows.map(([name, value]) => [name, name, <Value name={name} value={value} />])}
    />
  )
}

const Updated = ({ before, after }: { before: RowValues; after: RowValues }) => {
  const names = Object.keys(after)
  const changed = names.filter((name) => before[name] !== after[name])
  const same = names.filter((name) => before[name] === after[name] && after[name] !== null)
  return (
    <>
      {changed.length === 0 ? (
        <Empty>Written with the values that it had.</Empty>
      ) : (
        <Table
          kind="values"
          headings={['Column', 'Before', 'After']}
          rows={changed.map((name) => [
            name,
            name,
            <del>
              <Value name={name} value={before[name]} />
            </del>,
            <ins>
              <Value name={name} value={after[name]} />
            </ins>,
          ])}
        />
      )}
      <p class="line soft">
        Unchanged:{' '}
        {same.map((name) => (
          <span key={name}>
            {name} <Value name={name} value={after[name]} />
          </span>
        ))}
      </p>
    </>
  )
}

/** A value of a row. Times are stored as milliseconds, and shown in a readable form. */
const Value = ({ name, value }: { name: string; value: unknown }) => {
  if (value === null || value === undefined) return <span class="mono soft">null</span>
  const isTime = typeof value === 'number' && name.endsWith('_at_ms')
  return <span class="mono">{isTime ? time(new Date(value).toISOString()) : visible(String(value))}</span>
}
