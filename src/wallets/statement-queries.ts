import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { connectionOf, type Query } from '../db/database.ts'
import { type Narrowing, narrowedRows, type Rows, rowsById } from '../db/narrowing.ts'
import { ledgerEntries, ledgerLines, transactions, type Wallet, type WalletTransaction, wallets } from './tables.ts'

export { TRANSACTION_STATUSES } from './tables.ts'

/** A period, from its first instant to the first one after it. */
export interface Period {
  sinceMs: number
  untilMs: number
}

export const transactionsOf = (query: Query, narrowing: Narrowing, walletId?: number): Rows<WalletTransaction> => {
  const matches = walletId === undefined ? undefined : isOfWallet(walletId)
  return narrowedRows(query, LISTED, narrowing, {
    matches,
    isCounted: true,
    ...(matches && { index: 'transactions_wallet' }),
  })
}

const sumOf = (type: WalletTransaction['transactionType']) =>
  sql`iif(${transactions.transactionType} = ${sql.raw(`'${type}'`)}, ${transactions.amountMinor}, 0)`

const LISTED = {
  table: transactions,
  clientId: transactions.clientId,
  status: transactions.status,
  atMs: transactions.createdAtMs,
  texts: [transactions.id, transactions.searchLowerCase],
  isAmount: (major: number) => eq(transactions.amountRank, major),
  counts: 'transaction_counts',
  summed: { currencyId: transactions.currencyId, amounts: { in: sumOf('CREDIT'), out: sumOf('DEBIT') } },
  indexes: {
    ...{ client: 'transactions_client', status: 'transactions_client', time: 'transactions_time' },
    ...{ texts: 'transactions_client', amount: 'transactions_amount' },
  },
} as const

/** Also names the client, by which the index of a wallet begins. */
const isOfWallet = (walletId: number) =>
  and(
    eq(transactions.walletId, walletId),
    sql`${transactions.clientId} = (SELECT ${wallets.clientId} FROM ${wallets} WHERE ${wallets.id} = ${walletId})`,
  )

/** The transactions of a wallet between two ids, of which those of a period are returned. */
export const transactionsIn = (query: Query, { id }: Wallet, { sinceMs, untilMs }: Period, ids: Moved) => {
  const { id: transactionId, createdAtMs } = transactions
  // With a bare column, SQLite would read the period by its times, and sort it again for each thousand rows.
  const isWithin = sql`+${createdAtMs} >= ${sinceMs} AND +${createdAtMs} < ${untilMs}`
  const isBetween = sql`${transactionId} BETWEEN ${ids.firstId} AND ${ids.lastId}`
  return rowsById(query, transactions, and(isOfWallet(id), isBetween, isWithin))
}

/** The balance of a wallet before a time, from its last transaction. While the clock goes forward, the ledger has the same. */
export const balanceBefore = (query: Query, { id }: Wallet, timeMs: number): number =>
  query
    .select({ minor: transactions.balanceAfterMinor })
    .from(transactions)
    .where(and(eq(transactions.walletId, id), lt(transactions.createdAtMs, timeMs)))
    .orderBy(desc(transactions.createdAtMs), desc(transactions.id))
    .limit(1)
    .get()?.minor ?? 0

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

interface Moved {
  creditedMinor: number
  debitedMinor: number
  count: number
  /** The sum of the ledger lines of their entries. */
  ledgerMinor: number
  firstId: number
  lastId: number
}

export const movedIn = (query: Query, { id }: Wallet, { sinceMs, untilMs }: Period): Moved =>
  connectionOf(query)
    .query<Moved, [number, number, number]>(
      `SELECT coalesce(sum(iif(transaction_type = 'CREDIT', amount_minor, 0)), 0) AS creditedMinor,
          coalesce(sum(iif(transaction_type = 'DEBIT', amount_minor, 0)), 0) AS debitedMinor, count(*) AS count,
          coalesce(sum((SELECT sum(amount_minor) FROM journal_lines AS line WHERE line.entry_id = moved.entry_id
            AND line.wallet_id = moved.wallet_id AND account = 'wallet')), 0) AS ledgerMinor,
          coalesce(min(id), 0) AS firstId, coalesce(max(id), 0) AS lastId
        FROM transactions AS moved INDEXED BY transactions_statement
        WHERE wallet_id = ? AND created_at_ms >= ? AND created_at_ms < ?`,
    )
    .get(id, sinceMs, untilMs) ?? { creditedMinor: 0, debitedMinor: 0, count: 0, ledgerMinor: 0, firstId: 0, lastId: 0 }
