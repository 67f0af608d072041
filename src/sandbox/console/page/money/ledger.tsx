import { MadeBy } from '../requests/made-by.tsx'
import type { LedgerEntry } from '../types.ts'
import { amount } from '../ui.tsx'

/** Ledger entries line by line, and the proof that they sum to zero. With a world, each leads to its request. */
export const LedgerTable = ({ entries, world }: { entries: readonly LedgerEntry[]; world?: string }) => (
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
              {line.account}
              {line.wallet_id !== null && ` ${line.wallet_id}`}
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
          {[...sumsOf(entries)].map(([currency, sum]) => (
            <div key={currency}>
              {amount(sum, currency)} {sum === 0 && '✓'}
            </div>
          ))}
        </td>
      </tr>
    </tfoot>
  </table>
)

/** In whole units of the smallest precision, so that nothing is lost to binary fractions. */
const UNITS = 10_000

const sumsOf = (entries: readonly LedgerEntry[]): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const { lines } of entries) {
    for (const { currency, amount: value } of lines)
      sums.set(currency, (sums.get(currency) ?? 0) + Math.round(value * UNITS))
  }
  for (const [currency, sum] of sums) sums.set(currency, sum / UNITS)
  return sums
}
