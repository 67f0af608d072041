import type { Query } from '../db/database.ts'
import { plus } from '../kernel/money.ts'
import { walletsOf } from './queries.ts'
import { ledgerBalances, movedIn, type Period, transactionsOf } from './statement-queries.ts'
import type { Wallet, WalletTransaction } from './tables.ts'

/** The movements of a wallet in a period (contract C17). */
export interface WalletStatement {
  wallet: Wallet
  openingMinor: number
  transactions: Iterable<WalletTransaction>
  closingMinor: number
}

/** The ledger and the transactions of a wallet do not agree. */
export class StatementFault extends Error {
  override readonly name = 'StatementFault'
}

/**
 * The statements of a client's wallets. The ledger gives the balances and proves the transactions.
 * @throws StatementFault
 */
export const statementsOf = (query: Query, clientId: number, period: Period): WalletStatement[] =>
  [...walletsOf(query, { clientId })].map((wallet) => {
    const { openingMinor, closingMinor } = ledgerBalances(query, wallet, period)
    const movedMinor = movedIn(query, wallet, period)
    if (plus(openingMinor, movedMinor) !== closingMinor) {
      throw new StatementFault(
        `the transactions of wallet ${wallet.id} do not lead from its opening to its closing balance\nRun scrip verify.`,
      )
    }
    const transactions = transactionsOf(query, { clientId, ...period }, wallet.id)
    return { wallet, openingMinor, transactions, closingMinor }
  })
