import { and, eq, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { holdAny, searchText } from '../db/search.ts'
import { transactions, type WalletTransaction } from './tables.ts'

/** Transactions whose remarks may hold a text; only those of some orders and payouts, if they are given. */
export const remarksWith = (
  query: Query,
  part: string,
  sourceIds: readonly string[] | undefined,
): Iterable<WalletTransaction> => {
  const { sourceId, remarks } = transactions
  const isOf = sourceIds && sql`${sourceId} IN (SELECT value FROM json_each(${JSON.stringify(sourceIds)}))`
  return rowsById(query, transactions, and(isOf, holdAny([remarks], part)))
}

/** The database lets remarks become nothing but `erased`. */
export const updateRemarks = (tx: Tx, { id, sourceId }: WalletTransaction, remarks: string): void => {
  tx.update(transactions)
    .set({ remarks, searchLowerCase: searchText(sourceId, remarks) })
    .where(eq(transactions.id, id))
    .run()
}
