import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../db/database.ts'
import { preparedInsert, preparedInsertReturning, preparedWrites } from '../db/prepared.ts'
import { SEARCH_SEAM } from '../db/search.ts'
import { DomainError } from '../kernel/failure.ts'
import { plus } from '../kernel/money.ts'
import {
  type ACCOUNTS,
  inMajorUnits,
  journalEntries,
  journalLines,
  type SOURCE_TYPES,
  transactions,
  type Wallet,
  type WalletTransaction,
  wallets,
} from './tables.ts'

/**
 * The double-entry ledger (contract C11): every movement is an entry whose lines sum to zero in each currency, written
 * in the transaction of the record that caused it. Nothing here is ever changed or deleted.
 */

type WalletAccount = 'wallet' | 'reserved'
type OwnAccount = Exclude<(typeof ACCOUNTS)[number], WalletAccount>

/** What an entry adds to one account: signed minor units. */
export type Line = { currencyId: number; amountMinor: number } & (
  | { account: OwnAccount }
  | { account: WalletAccount; walletId: number }
)

/** Why money moves. */
export interface Cause {
  sourceType: (typeof SOURCE_TYPES)[number]
  sourceId: string | null
  remarks: string | null
  nowMs: number
}

/** How an amount in another currency became the wallet's (contract C9). */
export interface Exchange {
  sourceCurrency: string
  destinationCurrency: string
  rateE8: number
  conversionMinor: number
}

const statements = preparedWrites({
  lastEntry: (query) =>
    query
      .select({ id: sql<number | null>`max(${journalEntries.id})` })
      .from(journalEntries)
      .prepare(),
  insertLine: (query) => preparedInsert(query, journalLines),
  insertEntry: (query) => preparedInsert(query, journalEntries),
  insertTransaction: (query) =>
    preparedInsertReturning(query, transactions, {
      amountRank: inMajorUnits(
        sql.placeholder('amountMinor'),
        query
          .select({ currencyId: wallets.currencyId })
          .from(wallets)
          .where(eq(wallets.id, sql.placeholder('walletId'))),
      ),
    }),
  balance: (query) =>
    query
      .select({ amountMinor: wallets.amountMinor, reservedMinor: wallets.reservedMinor })
      .from(wallets)
      .where(eq(wallets.id, sql.placeholder('id')))
      .limit(1)
      .prepare(),
  touch: (query) =>
    query
      .update(wallets)
      .set({ updatedAtMs: sql`${sql.placeholder('nowMs')}` })
      .where(eq(wallets.id, sql.placeholder('id')))
      .prepare(),
})

/** Writes an entry. Lines of nothing are left out. */
const post = (tx: Tx, cause: Omit<Cause, 'remarks'>, lines: readonly Line[]): number => {
  const moving = lines.filter((line) => line.amountMinor !== 0)
  assertBalanced(moving)
  const { lastEntry, insertLine, insertEntry } = statements(tx)
  const entryId = (lastEntry.get()?.id ?? 0) + 1
  for (const line of moving) insertLine({ id: null, entryId, walletId: null, ...line })
  insertEntry({ id: entryId, sourceType: cause.sourceType, sourceId: cause.sourceId, createdAtMs: cause.nowMs })
  return entryId
}

/**
 * Moves a wallet's money against other accounts, and records it for the client: a debit when the amount is negative.
 *
 * @throws DomainError insufficient_balance or amount_too_large
 */
export const moveWallet = (
  tx: Tx,
  wallet: Wallet,
  cause: Cause,
  amountMinor: number,
  against: readonly Line[],
  exchange: Exchange | undefined,
): WalletTransaction => {
  const balance = balanceOf(tx, wallet.id)
  const balanceAfterMinor = plus(balance.amountMinor, amountMinor)
  if (amountMinor < 0 && balanceAfterMinor < -wallet.creditLimitMinor) {
    throw new DomainError({ code: 'insufficient_balance' })
  }
  const reserving = against.map((line) => (line.account === 'reserved' ? line.amountMinor : 0))
  plus(balance.reservedMinor, ...reserving, balanceAfterMinor) // the two fit together, so that every refund fits
  const entryId = post(tx, cause, [
    { account: 'wallet', walletId: wallet.id, currencyId: wallet.currencyId, amountMinor },
    ...against,
  ])
  touch(tx, wallet, cause.nowMs)
  return statements(tx).insertTransaction({
    id: null,
    walletId: wallet.id,
    clientId: wallet.clientId,
    entryId,
    amountMinor: Math.abs(amountMinor),
    transactionType: amountMinor < 0 ? 'DEBIT' : 'CREDIT',
    status: 'COMPLETED',
    sourceCurrency: exchange?.sourceCurrency ?? null,
    destinationCurrency: exchange?.destinationCurrency ?? null,
    rateE8: exchange?.rateE8 ?? null,
    conversionMinor: exchange?.conversionMinor ?? null,
    balanceAfterMinor,
    sourceType: cause.sourceType,
    sourceId: cause.sourceId,
    remarks: cause.remarks,
    createdAtMs: cause.nowMs,
    searchFolded: `${cause.sourceId ?? ''}${SEARCH_SEAM}${cause.remarks ?? ''}`.toLowerCase(),
  })
}

/** The wallet pays: what it pays is reserved until the order or payout is settled or refunded. */
export const reserve = (
  tx: Tx,
  wallet: Wallet,
  cause: Cause,
  amountMinor: number,
  exchange: Exchange | undefined,
): WalletTransaction => moveWallet(tx, wallet, cause, -amountMinor, [reservedLine(wallet, amountMinor)], exchange)

/** The wallet gets back what was reserved. */
export const refund = (
  tx: Tx,
  wallet: Wallet,
  cause: Cause,
  amountMinor: number,
  exchange: Exchange | undefined,
): WalletTransaction => moveWallet(tx, wallet, cause, amountMinor, [reservedLine(wallet, -amountMinor)], exchange)

/** What was reserved goes where it belongs. The lines sum to the amount, in the wallet's currency. */
export const settle = (
  tx: Tx,
  wallet: Wallet,
  cause: Omit<Cause, 'remarks'>,
  amountMinor: number,
  lines: readonly Line[],
): void => {
  post(tx, cause, [reservedLine(wallet, -amountMinor), ...lines])
  touch(tx, wallet, cause.nowMs)
}

/** Money comes in from outside. */
export const fund = (tx: Tx, wallet: Wallet, amountMinor: number, remarks: string | null, nowMs: number) =>
  moveWallet(
    tx,
    wallet,
    { sourceType: 'funding', sourceId: null, remarks, nowMs },
    amountMinor,
    [{ account: 'funding', currencyId: wallet.currencyId, amountMinor: -amountMinor }],
    undefined,
  )

/**
 * An operator corrects a balance, up or down.
 *
 * @throws DomainError insufficient_balance
 */
export const adjust = (tx: Tx, wallet: Wallet, amountMinor: number, remarks: string | null, nowMs: number) =>
  moveWallet(
    tx,
    wallet,
    { sourceType: 'adjustment', sourceId: null, remarks, nowMs },
    amountMinor,
    [{ account: 'adjustments', currencyId: wallet.currencyId, amountMinor: -amountMinor }],
    undefined,
  )

const reservedLine = (wallet: Wallet, amountMinor: number): Line => ({
  account: 'reserved',
  walletId: wallet.id,
  currencyId: wallet.currencyId,
  amountMinor,
})

/** Every amount that a wallet publishes is dated by it, what is reserved too. */
const touch = (tx: Tx, { id }: Wallet, nowMs: number): void => {
  statements(tx).touch.run({ id, nowMs })
}

/** Read inside the transaction: the row that a caller holds may be older. */
const balanceOf = (tx: Tx, walletId: number): Pick<Wallet, 'amountMinor' | 'reservedMinor'> =>
  statements(tx).balance.get({ id: walletId }) ?? { amountMinor: 0, reservedMinor: 0 }

const assertBalanced = (lines: readonly Line[]): void => {
  const sums = new Map<number, number>()
  for (const { currencyId, amountMinor } of lines) sums.set(currencyId, plus(sums.get(currencyId) ?? 0, amountMinor))
  for (const [currencyId, sum] of sums) {
    if (sum !== 0) throw new Error(`the lines in currency ${currencyId} sum to ${sum}, not to zero`)
  }
}
