import { type List, listOf } from '../../acts/cells.ts'
import type { Shown } from '../../acts/kind.ts'
import type { Narrowing } from '../../db/narrowing.ts'
import { statementsOf, type WalletStatement } from '../../wallets/statement.ts'
import type { Reading } from '../records/administration.ts'
import { LINE, statement } from '../records/statement.ts'
import type { ShownList } from './lists.ts'

/** A client's month on the desk: the sums of its wallets, then their movements. */

const LINES_SHOWN = 100

const SUMS: Shown<WalletStatement> = {
  wallet_id: ({ wallet }) => wallet.id,
  opening_balance: ({ openingMinor, wallet }, { walletAmount }) => walletAmount(openingMinor, wallet.id),
  in: ({ creditedMinor, wallet }, { walletAmount }) => walletAmount(creditedMinor, wallet.id),
  out: ({ debitedMinor, wallet }, { walletAmount }) => walletAmount(debitedMinor, wallet.id),
  closing_balance: ({ closingMinor, wallet }, { walletAmount }) => walletAmount(closingMinor, wallet.id),
  movements: ({ count }) => count,
}

/** Columns that a file has too, in the order of a bank's statement. */
const COLUMNS = ['created_at', 'wallet_id', 'source_type', 'source_id', 'remarks', 'transaction_type', 'amount']
const LINES = Object.fromEntries(
  [...COLUMNS, 'balance_after'].map((name) => [name, LINE[name]]).filter(([, column]) => column),
)

type Paged = Narrowing & { offset: number }

/** @param isWhole true for every line, as for paper */
export const statementFor = (
  data: Reading,
  { clientId, sinceMs, untilMs, offset }: Paged,
  isWhole: boolean,
): ShownList => {
  const filters = { by: ['client', 'month'], statuses: [], pageRows: LINES_SHOWN }
  if (clientId === undefined || sinceMs === undefined || untilMs === undefined)
    return { columns: [], rows: [], total: 0, ...filters }
  data.database.sqlite.run('BEGIN') // balances and movements come from one state while a server writes
  const statements = statementsOf(data.query, clientId, { sinceMs, untilMs })
  const all = Iterator.from(statements).flatMap(({ wallet, transactions }) =>
    Iterator.from(transactions).map((line) => ({ ...line, walletId: wallet.id })),
  )
  const lines = isWhole ? all : all.drop(offset).take(LINES_SHOWN)
  return {
    ...listOf({ ...LINES, wallet_id: ({ walletId }) => walletId } as Shown<never>, lines as Iterable<never>, data),
    total: statements.reduce((total, { count }) => total + count, 0),
    sums: listOf(SUMS, statements, data),
    ...filters,
  }
}

/** The statement as the command prints it for spreadsheets. */
export const statementFile = (data: Reading, { clientId, sinceMs, untilMs }: Narrowing): List => {
  const name = clientId === undefined ? null : data.clientName(clientId)
  if (name === null || sinceMs === undefined || untilMs === undefined) return { columns: [], rows: [] }
  const config = { ...data.config, format: 'csv' as const }
  return statement({ ...data, config }, name, { month: { sinceMs, untilMs } }) as List
}
