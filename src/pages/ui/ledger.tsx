import type { ComponentChildren } from 'preact'
import { amount, sumOf } from '../amounts.ts'

export interface LedgerEntry {
  id: number
  source_type: string
  source_id: string | null
  lines: { account: string; wallet_id: number | null; currency: string; amount: number }[]
}

interface Props {
  entries: readonly LedgerEntry[]
  /** The contents beside an entry, such as a link. */
  about?: (entry: LedgerEntry) => ComponentChildren
}

/** Ledger entries line by line, and the proof that they sum to zero. */
export const LedgerTable = ({ entries, about }: Props) => {
  const byCurrency = Map.groupBy(
    entries.flatMap(({ lines }) => lines),
    ({ currency }) => currency,
  )
  return (
    <table class="ledger">
      <thead>
        <tr>
          <th>Entry</th>
          <th>Account</th>
          <th class="right">Amount</th>
        </tr>
      </thead>
      <tbody>
        {entries.flatMap((entry) =>
          entry.lines.map((line, at) => (
            <tr key={`${entry.id} ${line.account} ${line.wallet_id} ${line.currency} ${line.amount}`}>
              {at === 0 && (
                <td rowSpan={entry.lines.length}>
                  <span class="mono">{entry.id}</span> {entry.source_type} {entry.source_id ?? ''} {about?.(entry)}
                </td>
              )}
              <td>
                {line.account} {line.wallet_id}
              </td>
              <td class={`right mono ${line.amount < 0 ? 'bad' : ''}`}>{amount(line.amount, line.currency)}</td>
            </tr>
          )),
        )}
      </tbody>
      <tfoot>
        <tr>
          <td>Sum</td>
          <td />
          <td class="right mono">
            {[...byCurrency].map(([currency, lines]) => (
              <div key={currency}>
                {amount(sumOf(lines, currency), currency)} {sumOf(lines, currency) === 0 && '✓'}
              </div>
            ))}
          </td>
        </tr>
      </tfoot>
    </table>
  )
}
