import type { Static } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import type { EntrySchema } from '../../wallets/ledger-entry.ts'
import { amount, sumOf } from '../amounts.ts'

type LedgerEntry = Static<typeof EntrySchema>

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
