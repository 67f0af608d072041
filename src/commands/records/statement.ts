import { type Command, Option } from 'commander'
import { type Cell, listOf, type Row } from '../../acts/cells.ts'
import { CLIENT } from '../../acts/clients.ts'
import { get, members, type Shown } from '../../acts/kind.ts'
import { withDataOptions } from '../../config/options.ts'
import { parseMonth } from '../../config/values.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import type { WalletTransaction } from '../../wallets/queries.ts'
import { statementsOf, type WalletStatement } from '../../wallets/statement.ts'
import type { Period } from '../../wallets/statement-queries.ts'
import { wideOption } from '../arguments.ts'
import { jsonList, jsonOf, type Result } from '../terminal/output.ts'
import { administer, type Reading } from './administration.ts'

/** `scrip statement`: a client's wallets in one month, proven by the ledger (contract C17). */
export const statementCommand = (statements: Command): void => {
  withDataOptions(statements)
    .description("show a month of a client's wallets: opening balance, movements, closing balance")
    .argument('<client>', 'a username')
    .requiredOption('--month <month>', 'for example 2026-11, in UTC', parseMonth)
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts('json'))
    .addOption(wideOption())
    .action(administer(statement))
}

interface StatementOptions {
  month: Period
  wide?: boolean
}

export const statement = (data: Reading, name: string, { month, wide = false }: StatementOptions): Result => {
  const { config, database, query } = data
  database.sqlite.run('BEGIN') // balances and movements come from one state while a server writes
  const client = get(CLIENT, query, name)
  const statements = statementsOf(query, client.id, month).map((one) => shown(one, data))
  if (config.format === 'json') return { pieces: nested(statements) }
  return { columns: COLUMNS, rows: flat(statements, month), brief: BRIEF, isWide: wide }
}

/** The lines of a wallet are read as they are printed, because a month can have a million movements. */
const shown = ({ wallet, openingMinor, transactions, closingMinor }: WalletStatement, data: Reading) => ({
  wallet_id: wallet.id,
  currency: data.shownCurrency(wallet.currencyId).currency,
  opening_balance: data.amount(openingMinor, wallet.currencyId),
  lines: () => listOf(LINE, transactions, data).rows,
  closing_balance: data.amount(closingMinor, wallet.currencyId),
})

type ShownStatement = ReturnType<typeof shown>

/** The columns of a movement. */
export const LINE: Shown<WalletTransaction> = {
  ...members<WalletTransaction>('id', 'transactionType', 'amountMinor', 'balanceAfterMinor'),
  ...members<WalletTransaction>('sourceType', 'sourceId', 'remarks', 'createdAtMs'),
}

function* nested(statements: readonly ShownStatement[]): Generator<string> {
  let before = '['
  for (const { lines, closing_balance, ...head } of statements) {
    yield `${before}${jsonOf(head).slice(0, -1)},"lines":`
    yield* jsonList(lines())
    yield `,"closing_balance":${jsonOf(closing_balance)}}`
    before = ','
  }
  yield before === '[' ? '[]\n' : ']\n'
}

const NO_LINE: Row = Object.fromEntries(Object.keys(LINE).map((column) => [column, null]))
const BRIEF = ['entry', 'transaction_type', 'amount', 'balance_after', 'source_id', 'created_at']
const COLUMNS = ['wallet_id', 'currency', 'entry', ...Object.keys(LINE)]

/** Everything in one list: each balance is a separate row. */
function* flat(statements: readonly ShownStatement[], { sinceMs, untilMs }: Period): Generator<Row> {
  for (const { wallet_id, currency, opening_balance, lines, closing_balance } of statements) {
    const balance = (entry: string, balance_after: Cell, timeMs: number): Row => ({
      ...{ wallet_id, currency, entry, ...NO_LINE, balance_after, created_at: toTimestamp(timeMs) },
    })
    yield balance('opening_balance', opening_balance, sinceMs)
    for (const line of lines()) yield { wallet_id, currency, entry: 'transaction', ...line }
    yield balance('closing_balance', closing_balance, untilMs)
  }
}
