import type { Query } from '../db/database.ts'
import { DataFault } from '../kernel/exit.ts'
import { plus } from '../kernel/money.ts'
import { walletsOf } from './queries.ts'
import { balanceBefore, ledgerBalances, movedIn, type Period, transactionsIn } from './statement-queries.ts'
import type { Wallet, WalletTransaction } from './tables.ts'

/** The movements of a wallet in a period (contract C17). */
export interface WalletStatement {
  wallet: Wallet
  openingMinor: number
  transactions: Iterable<WalletTransaction>
  closingMinor: number
  /** The sums of the movements. */
  creditedMinor: number
  debitedMinor: number
  count: number
}

/**
 * The statements of a client's wallets. The ledger proves the transactions of the period; their balances are those of the lines around
 * it. Only if these do not agree, as after a step back of the clock, the whole ledger of the wallet gives the balances.
 * @throws DataFault if the ledger and the transactions of a wallet do not agree
 */
export const statementsOf = (query: Query, clientId: number, period: Period): WalletStatement[] =>
  [...walletsOf(query, { clientId })].map((wallet) => {
    const moved = movedIn(query, wallet, period)
    const { creditedMinor, debitedMinor, count } = moved
    const movedMinor = plus(creditedMinor, -debitedMinor)
    const atEnds = {
      openingMinor: balanceBefore(query, wallet, period.sinceMs),
      closingMinor: balanceBefore(query, wallet, period.untilMs),
    }
    const leads = ({ openingMinor, closingMinor }: typeof atEnds) => plus(openingMinor, movedMinor) === closingMinor
    const isProven = movedMinor === moved.ledgerMinor && leads(atEnds)
    const balances = isProven ? atEnds : ledgerBalances(query, wallet, period)
    if (!leads(balances)) {
      throw new DataFault(
        `the transactions of wallet ${wallet.id} do not lead from its opening to its closing balance\nRun scrip verify.`,
      )
    }
    const transactions = transactionsIn(query, wallet, period, moved)
    return { wallet, ...balances, creditedMinor, debitedMinor, count, transactions }
  })
