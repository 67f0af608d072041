import { and, asc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { isOneOf, prepared, preparedInsertCounted } from '../db/prepared.ts'
import { inMajorUnits, ledgerEntries, ledgerLines, transactions, wallets } from './tables.ts'

/** Inserts a line of the next entry. */
export const insertLine = preparedInsertCounted(ledgerLines, {
  entryId: sql`(SELECT coalesce(max(id), 0) + 1 FROM journal_entries)`,
})
/** Inserts an entry, which seals its lines. Returns its id. */
export const insertEntry = preparedInsertCounted(ledgerEntries, {})
export const insertTransaction = preparedInsertCounted(transactions, {
  amountRank: inMajorUnits(sql.placeholder('amountMinor'), sql.placeholder('currencyId')),
})

export const moveBalance = prepared((tx: Tx) =>
  tx
    .update(wallets)
    .set({
      amountMinor: sql`${wallets.amountMinor} + ${sql.placeholder('spendableMinor')}`,
      reservedMinor: sql`${wallets.reservedMinor} + ${sql.placeholder('reservedMinor')}`,
      isLow: sql`coalesce(${wallets.amountMinor} + ${sql.placeholder('spendableMinor')} < ${wallets.thresholdMinor}, 0)`,
      updatedAtMs: sql`${sql.placeholder('nowMs')}`,
    })
    .where(eq(wallets.id, sql.placeholder('id')))
    .prepare(),
)

/** True for what moves the money of an order or a payout. */
const isOfRecord = inArray(ledgerEntries.sourceType, ['order', 'payout', 'refund'])

/** The payments of wallets for each order and payout, less refunds, in minor units, from the ledger alone. */
export const paymentsBySource = (query: Query) =>
  query
    .select({
      sourceId: sql<string>`${ledgerEntries.sourceId}`,
      walletId: sql<number>`${ledgerLines.walletId}`,
      currencyId: ledgerLines.currencyId,
      paidMinor: sql<number>`-sum(${ledgerLines.amountMinor})`,
      entryIds: sql<string>`group_concat(${ledgerEntries.id}, ', ')`,
    })
    .from(ledgerLines)
    .innerJoin(ledgerEntries, eq(ledgerEntries.id, ledgerLines.entryId))
    .where(and(eq(ledgerLines.account, 'wallet'), isOfRecord, isNotNull(ledgerEntries.sourceId)))
    .groupBy(ledgerEntries.sourceId, ledgerLines.walletId)
    .orderBy(sql`min(${ledgerEntries.id})`)
    .all()

export type LedgerEntry = typeof ledgerEntries.$inferSelect & {
  lines: Pick<typeof ledgerLines.$inferSelect, 'account' | 'walletId' | 'currencyId' | 'amountMinor'>[]
}

/** The latest entries with their lines, the newest first. */
export const latestEntries = (query: Query, limit: number): LedgerEntry[] => entriesWhere(query, undefined, limit)

/** Some entries with their lines, the newest first. */
export const entriesById = (query: Query, ids: readonly number[]): LedgerEntry[] =>
  entriesWhere(query, isOneOf(ledgerEntries.id, ids))

/** The entries of an order or a payout and its refunds, the newest first. */
export const entriesOf = (query: Query, sourceId: string): LedgerEntry[] =>
  entriesWhere(query, and(eq(ledgerEntries.sourceId, sourceId), isOfRecord))

const entriesWhere = (query: Query, where: SQL | undefined, limit?: number): LedgerEntry[] => {
  const found = rowsById(query, ledgerEntries, where, { limit, newestFirst: true })
  const byId = new Map([...found].map((entry): [number, LedgerEntry] => [entry.id, { ...entry, lines: [] }]))
  const isOfThem = isOneOf(ledgerLines.entryId, byId.keys())
  const lines = query.select().from(ledgerLines).where(isOfThem).orderBy(asc(ledgerLines.id)).all()
  for (const { entryId, ...line } of lines) byId.get(entryId)?.lines.push(line)
  return [...byId.values()]
}
