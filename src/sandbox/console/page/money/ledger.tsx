import { amount, sumOf } from '../../../requests/amounts.ts'
import { MadeBy } from '../requests/made-by.tsx'
import type { LedgerEntry } from '../types.ts'

/** Ledger entries line by line, and the proof that they sum to zero. With a world, each leads to its request. */
export const LedgerTable = ({ entries, world }: { entries: readonly LedgerEntry[]; world?: string }) => {
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
            <tr
              key={`${entry.id} ${line.account} ${line.wallet_id} ${line.currency} ${line.amount}`}
              class={at === 0 ? 'first' : ''}
            >
              <td>
                {at === 0 && (
                  <>
                    <span class="mono">{entry.id}</span> {entry.source_type} {entry.source_id ?? ''}
                    {world !== undefined && (
                      <MadeBy world={world} made={{ table: 'journal_entries', key: String(entry.id) }} />
                    )}
                  </>
                )}
              </td>
              <td>
                {line.account} {line.wallet_id}
              </td>
              <td class={`right mono ${line.amount < 0 ? 'minus' : 'plus'}`}>{amount(line.amount, line.currency)}</td>
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
                {amount(sumOf(lines), currency)} {sumOf(lines) === 0 && '✓'}
              </div>
            ))}
          </td>
        </tr>
      </tfoot>
    </table>
  )
}
