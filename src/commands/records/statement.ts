import { type Command, Option } from 'commander'
import { parseMonth } from '../../config/values.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import type { Reference } from '../../reference/reference.ts'
import { statementsOf, type WalletStatement } from '../../wallets/statement.ts'
import type { Period } from '../../wallets/statement-queries.ts'
import { Amount, type Cell, listOf, mapped } from '../terminal/cells.ts'
import { jsonOf, type Result } from '../terminal/output.ts'
import { type Administration, administer, dataCommand } from './administration.ts'
import { getClient } from './client-records.ts'
import { type ShownStatement, statementPage } from './statement-page.ts'
import { transactionRow } from './transactions.ts'

/** `scrip statement`: what happened in a month to the wallets of a client, proven by the ledger (contract C17). */
export const statementCommand = (program: Command): void => {
  dataCommand(program, 'statement', "show a month of a client's wallets: opening balance, movements, closing balance")
    .argument('<client>', 'a username')
    .requiredOption('--month <month>', 'for example 2026-11, in UTC', parseMonth)
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts(['json', 'html']))
    .addOption(new Option('--html', 'print a page for a browser or a printer').conflicts(['json', 'csv']))
    .action(administer(statement))
}

const statement = (
  { config, database, reference }: Administration,
  name: string,
  { month, html }: { month: Period; html?: true },
): Result => {
  database.sqlite.run('BEGIN') // balances and movements of one state, whatever a server writes meanwhile
  const client = getClient(database.query, name)
  const statements = statementsOf(database.query, client.id, month).map((one) => withRows(one, reference))
  if (html)
    return { pieces: statementPage(client.username, toTimestamp(month.sinceMs).slice(0, MONTH_LENGTH), statements) }
  return config.format === 'json' ? { pieces: nested(statements) } : listOf(COLUMNS, flat(statements, month))
}

const MONTH_LENGTH = 'YYYY-MM'.length

const withRows = (
  { wallet, openingMinor, transactions, closingMinor }: WalletStatement,
  reference: Reference,
): ShownStatement => {
  const currency = reference.getCurrency(wallet.currencyId)
  return {
    wallet_id: wallet.id,
    currency: currency.currency,
    opening_balance: new Amount(openingMinor, currency),
    lines: () => mapped(transactions, (transaction) => transactionRow(transaction, currency)),
    closing_balance: new Amount(closingMinor, currency),
  }
}

function* nested(statements: readonly ShownStatement[]): Generator<string> {
  let before = '['
  for (const { lines, closing_balance, ...head } of statements) {
    yield `${before}${jsonOf(head).slice(0, -1)},"lines":[`
    let comma = ''
    for (const line of lines()) {
      yield comma + jsonOf(line)
      comma = ','
    }
    yield `],"closing_balance":${jsonOf(closing_balance)}}`
    before = ','
  }
  yield before === '[' ? '[]\n' : ']\n'
}

const COLUMNS = [
  'wallet_id',
  'currency',
  'entry',
  'id',
  'transaction_type',
  'amount',
  'balance_after',
  'source_type',
  'source_id',
  'remarks',
  'created_at',
] as const
const NO_TRANSACTION = {
  id: null,
  transaction_type: null,
  amount: null,
  source_type: null,
  source_id: null,
  remarks: null,
}

/** One list: the balances are rows of their own. */
function* flat(
  statements: readonly ShownStatement[],
  { sinceMs, untilMs }: Period,
): Generator<Record<(typeof COLUMNS)[number], Cell>> {
  for (const { wallet_id, currency, opening_balance, lines, closing_balance } of statements) {
    const balance = (entry: string, balance_after: Amount, timeMs: number) => ({
      ...{ wallet_id, currency, entry, ...NO_TRANSACTION, balance_after },
      created_at: toTimestamp(timeMs),
    })
    yield balance('opening_balance', opening_balance, sinceMs)
    for (const line of lines()) {
      // Named one by one: with a million rows, to spread them takes a tenth of the time.
      yield {
        wallet_id,
        currency,
        entry: 'transaction',
        id: line.id,
        transaction_type: line.transaction_type,
        amount: line.amount,
        balance_after: line.balance_after,
        source_type: line.source_type,
        source_id: line.source_id,
        remarks: line.remarks,
        created_at: line.created_at,
      }
    }
    yield balance('closing_balance', closing_balance, untilMs)
  }
}
