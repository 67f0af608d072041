import { toTimestamp } from '../../kernel/clock.ts'
import type { Currency } from '../../reference/reference.ts'
import type { WalletTransaction } from '../../wallets/queries.ts'
import { Amount } from '../terminal/cells.ts'

/** A movement, as a statement shows it. */
export const lineOf = (movement: WalletTransaction, currency: Currency) => ({
  id: movement.id,
  transaction_type: movement.transactionType,
  amount: new Amount(movement.amountMinor, currency),
  balance_after: new Amount(movement.balanceAfterMinor, currency),
  source_type: movement.sourceType,
  source_id: movement.sourceId,
  remarks: movement.remarks,
  created_at: toTimestamp(movement.createdAtMs),
})

/** The statement of a wallet. Its lines are read as they are printed, because a month can have a million movements. */
export interface ShownStatement {
  wallet_id: number
  currency: string
  opening_balance: Amount
  lines: () => Iterable<ReturnType<typeof lineOf>>
  closing_balance: Amount
}

/** A statement as a page to print (contract C17). */
export function* statementPage(
  client: string,
  month: string,
  statements: readonly ShownStatement[],
): Generator<string> {
  yield headOf(`Statement of ${client}, ${month}`)
  for (const { wallet_id, currency, opening_balance, lines, closing_balance } of statements) {
    yield `<h2>Wallet ${wallet_id}, ${currency}</h2>\n<table>\n${HEADINGS}`
    yield balanceRow('Opening balance', String(opening_balance))
    for (const { created_at, transaction_type, amount, balance_after, source_type, source_id, remarks } of lines()) {
      const source = `${source_type} ${source_id ?? ''}`.trim()
      const [credit, debit] = transaction_type === 'CREDIT' ? [String(amount), ''] : ['', String(amount)]
      yield rowOf([created_at, source, remarks ?? ''], [credit, debit, String(balance_after)])
    }
    yield `${balanceRow('Closing balance', String(closing_balance))}</table>\n`
  }
  yield '</body>\n</html>\n'
}

const headOf = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${Bun.escapeHTML(title)}</title>
<style>
body { font: 10pt system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; width: 100%; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th, td { border-bottom: 1px solid #ccc; padding: .25em .5em; text-align: left; }
.amount { text-align: right; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<h1>${Bun.escapeHTML(title)}</h1>
<p>Times are UTC.</p>
`

const HEADINGS = `<thead><tr><th>Time</th><th>Source</th><th>Remarks</th>${['Credit', 'Debit', 'Balance']
  .map((name) => `<th class="amount">${name}</th>`)
  .join('')}</tr></thead>
`

const rowOf = (texts: readonly string[], amounts: readonly string[]): string => {
  const cells = texts.map((text) => `<td>${Bun.escapeHTML(text)}</td>`)
  return `<tr>${cells.join('')}${amounts.map((amount) => `<td class="amount">${amount}</td>`).join('')}</tr>\n`
}

const balanceRow = (name: string, balance: string): string => rowOf(['', name, ''], ['', '', balance])
