import { type Command, Option } from 'commander'
import { Amount, type Row } from '../../acts/cells.ts'
import { get } from '../../acts/kind.ts'
import { withDataOptions } from '../../config/options.ts'
import { parseMonth } from '../../config/values.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import type { Currency } from '../../reference/reference.ts'
import type { WalletTransaction } from '../../wallets/queries.ts'
import { statementsOf, type WalletStatement } from '../../wallets/statement.ts'
import type { Period } from '../../wallets/statement-queries.ts'
import { jsonList, jsonOf, type Result } from '../terminal/output.ts'
import { administer, type Reading } from './administration.ts'
import { CLIENT } from './client-kinds.ts'

/** `scrip statement`: a client's wallets in one month, proven by the ledger (contract C17). */
export const statementCommand = (statements: Command): void => {
  withDataOptions(statements)
    .description("show a month of a client's wallets: opening balance, movements, closing balance")
    .argument('<client>', 'a username')
    .requiredOption('--month <month>', 'for example 2026-11, in UTC', parseMonth)
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts('json'))
    .action(administer(statement))
}

export const statement = (data: Reading, name: string, { month }: { month: Period }): Result => {
  const { config, database, query, currency } = data
  database.sqlite.run('BEGIN') // balances and movements of one state, whatever a server writes meanwhile
  const client = get(CLIENT, query, name)
  const statements = statementsOf(query, client.id, month).map((one) => shown(one, currency(one.wallet.currencyId)))
  return config.format === 'json' ? { pieces: nested(statements) } : { columns: COLUMNS, rows: flat(statements, month) }
}

/** The statement of a wallet. Its lines are read as they are printed, because a month can have a million movements. */
interface ShownStatement {
  wallet_id: number
  currency: string
  opening_balance: Amount
  lines: () => Iterable<ReturnType<typeof lineOf>>
  closing_balance: Amount
}

const shown = (
  { wallet, openingMinor, transactions, closingMinor }: WalletStatement,
  currency: Currency,
): ShownStatement => ({
  wallet_id: wallet.id,
  currency: currency.currency,
  opening_balance: new Amount(openingMinor, currency),
  lines: () => Iterator.from(transactions).map((movement) => lineOf(movement, currency)),
  closing_balance: new Amount(closingMinor, currency),
})

const lineOf = (movement: WalletTransaction, currency: Currency) => ({
  id: movement.id,
  transaction_type: movement.transactionType,
  amount: new Amount(movement.amountMinor, currency),
  balance_after: new Amount(movement.balanceAfterMinor, currency),
  source_type: movement.sourceType,
  source_id: movement.sourceId,
  remarks: movement.remarks,
  created_at: toTimestamp(movement.createdAtMs),
})

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

const NO_LINE = {
  id: null,
  transaction_type: null,
  amount: null,
  balance_after: null,
  source_type: null,
  source_id: null,
  remarks: null,
  created_at: null,
}
const COLUMNS = ['wallet_id', 'currency', 'entry', ...Object.keys(NO_LINE)]

/** One list: the balances are rows of their own. */
function* flat(statements: readonly ShownStatement[], { sinceMs, untilMs }: Period): Generator<Row> {
  for (const { wallet_id, currency, opening_balance, lines, closing_balance } of statements) {
    const balance = (entry: string, balance_after: Amount, timeMs: number): Row => ({
      ...{ wallet_id, currency, entry, ...NO_LINE, balance_after, created_at: toTimestamp(timeMs) },
    })
    yield balance('opening_balance', opening_balance, sinceMs)
    for (const line of lines()) yield { wallet_id, currency, entry: 'transaction', ...line }
    yield balance('closing_balance', closing_balance, untilMs)
  }
}
