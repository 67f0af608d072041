import { and, eq, sql } from 'drizzle-orm'
import type { Query } from '../db/database.ts'
import { type Narrowing, narrowed, type Rows, rowsById } from '../db/narrowing.ts'
import { ledgerEntries, ledgerLines, transactions, type Wallet, type WalletTransaction } from './tables.ts'

export { TRANSACTION_STATUSES } from './tables.ts'

/** A period, from its first instant to the first one after it. */
export interface Period {
  sinceMs: number
  untilMs: number
}

export const transactionsOf = (query: Query, narrowing: Narrowing, walletId?: number): Rows<WalletTransaction> => {
  const { id, clientId, status, createdAtMs: atMs, searchLowerCase, amountRank: amount } = transactions
  const where = and(
    narrowed({ clientId, status, atMs, texts: [id, searchLowerCase], amount }, narrowing),
    walletId === undefined ? undefined : eq(transactions.walletId, walletId),
  )
  return rowsById(query, transactions, where, narrowing)
}

/** The balances of a wallet at the beginning and at the end of a period, according to the ledger. */
export const ledgerBalances = (query: Query, { id }: Wallet, { sinceMs, untilMs }: Period) => {
  const heldBefore = (timeMs: number) =>
    sql<number>`coalesce(sum(${ledgerLines.amountMinor}) FILTER (WHERE ${ledgerEntries.createdAtMs} < ${timeMs}), 0)`
  const balances = query
    .select({ openingMinor: heldBefore(sinceMs), closingMinor: heldBefore(untilMs) })
    .from(ledgerLines)
    .innerJoin(ledgerEntries, eq(ledgerEntries.id, ledgerLines.entryId))
    .where(and(eq(ledgerLines.walletId, id), eq(ledgerLines.account, 'wallet')))
    .get()
  return balances ?? { openingMinor: 0, closingMinor: 0 }
}

/** The sum of the transactions of a wallet in a period. */
export const movedIn = (query: Query, { id, clientId }: Wallet, period: Period): number => {
  const { amountMinor, transactionType, clientId: ofClient, createdAtMs: atMs, walletId } = transactions
  const signed = sql`iif(${transactionType} = 'CREDIT', ${amountMinor}, -${amountMinor})`
  const moved = query
    .select({ minor: sql<number>`coalesce(sum(${signed}), 0)` })
    .from(transactions)
    .where(and(narrowed({ clientId: ofClient, atMs }, { clientId, ...period }), eq(walletId, id)))
    .get()
  return moved?.minor ?? 0
}
