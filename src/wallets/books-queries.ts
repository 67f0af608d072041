import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Query } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { entriesById, type LedgerEntry } from './ledger-queries.ts'
import type { Period } from './statement-queries.ts'
import { ledgerEntries, ledgerLines, transactions, wallets } from './tables.ts'

/** The ledger for books: entries of a period, and the balances of its accounts (contract C17). */

/** Every entry moves the money of one wallet, so those of a client balance by themselves. */
const isOfClient = (clientId: number | undefined): SQL | undefined =>
  clientId === undefined
    ? undefined
    : sql`EXISTS (SELECT 1 FROM ${ledgerLines} JOIN ${wallets} ON ${wallets.id} = ${ledgerLines.walletId}
        WHERE ${ledgerLines.entryId} = ${ledgerEntries.id} AND ${wallets.clientId} = ${clientId})`

export interface BookEntry extends LedgerEntry {
  /** The remarks of the client's transaction. */
  remarks: string | null
}

const CHUNK = 500

/** The entries of a period, the oldest first, a chunk at a time. */
export function* bookEntries(
  query: Query,
  clientId: number | undefined,
  { sinceMs, untilMs }: Period,
): Generator<BookEntry> {
  const { createdAtMs } = ledgerEntries
  const where = and(gte(createdAtMs, sinceMs), lt(createdAtMs, untilMs), isOfClient(clientId))
  const inPeriod = and(gte(transactions.createdAtMs, sinceMs), lt(transactions.createdAtMs, untilMs))
  // Transactions stand in the order of their entries.
  const moved = Iterator.from(rowsById(query, transactions, inPeriod))
  let next = moved.next()
  const remarksOf = (entryId: number): string | null => {
    while (!next.done && next.value.entryId < entryId) next = moved.next()
    return !next.done && next.value.entryId === entryId ? next.value.remarks : null
  }
  let chunk: number[] = []
  function* withLines(): Generator<BookEntry> {
    for (const entry of entriesById(query, chunk).reverse()) yield { ...entry, remarks: remarksOf(entry.id) }
    chunk = []
  }
  for (const entry of rowsById(query, ledgerEntries, where)) {
    chunk.push(entry.id)
    if (chunk.length === CHUNK) yield* withLines()
  }
  yield* withLines()
}

/** The accounts that have lines before a time, with their balances. */
export const accountBalances = (query: Query, clientId: number | undefined, beforeMs: number) => {
  const { account, walletId, currencyId, amountMinor, entryId } = ledgerLines
  return query
    .select({ account, walletId, currencyId, amountMinor: sql<number>`sum(${amountMinor})` })
    .from(ledgerLines)
    .innerJoin(ledgerEntries, eq(ledgerEntries.id, entryId))
    .where(and(lt(ledgerEntries.createdAtMs, beforeMs), isOfClient(clientId)))
    .groupBy(account, walletId, currencyId)
    .orderBy(account, walletId, currencyId)
    .all()
}
