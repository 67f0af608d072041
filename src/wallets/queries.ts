import { and, asc, count, eq, gte, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { contains, List, searchText } from '../db/lists.ts'
import { type Narrowing, narrowed, type Rows, rowsById } from '../db/narrowing.ts'
import type { Personal } from '../db/personal.ts'
import { isGiven, preparedAll, preparedFind, preparedOne } from '../db/prepared.ts'
import { transactions, type Wallet, type WalletTransaction, wallets } from './tables.ts'

export { ACCOUNTS, SOURCE_TYPES } from './tables.ts'
export type { Wallet, WalletTransaction }

const ownInCurrency = sql`(SELECT ${wallets.id} FROM ${wallets} WHERE ${wallets.clientId} = ${sql.placeholder('clientId')}
  AND ${wallets.currencyId} = (SELECT id FROM currencies WHERE currencies.currency = ${sql.placeholder('currency')}))`

export const findWallet = preparedFind(wallets)

const isOpen = and(eq(wallets.clientId, sql.placeholder('clientId')), isNull(wallets.closedAtMs))
const isInCurrency = eq(wallets.currencyId, sql.placeholder('currencyId'))
/** A literal. With a parameter, SQLite prepares the statement again for each run, because an index holds only such rows. */
const isDefault = sql`${wallets.isDefault} = 1`
const payable = preparedAll(wallets, and(isOpen, or(isInCurrency, isDefault)))

/** The wallet that pays if none is named: the oldest in the currency, otherwise the default one (contract C9). */
export const findPayingWallet = (query: Query, clientId: number, currencyId: number): Wallet | undefined => {
  // A client has few wallets, and SQLite takes ten times as long to sort them.
  const found = payable(query, { clientId, currencyId }).sort((one, other) => one.id - other.id)
  return found.find((wallet) => wallet.currencyId === currencyId) ?? found[0]
}

const defaultWallet = preparedOne(wallets, and(eq(wallets.clientId, sql.placeholder('clientId')), isDefault))

export const findDefaultWallet = (query: Query, clientId: number): Wallet | undefined =>
  defaultWallet(query, { clientId })

/** True if an order or a payout was ever paid. */
export const hasPaid = (query: Query): boolean =>
  query
    .select({ id: transactions.id })
    .from(transactions)
    .where(inArray(transactions.sourceType, ['order', 'payout']))
    .limit(1)
    .get() !== undefined

export const findAnyWallet = (query: Query, id: number): Wallet | undefined =>
  query.select().from(wallets).where(eq(wallets.id, id)).limit(1).get()

export const walletsOf = (query: Query, narrowing: Narrowing): Rows<Wallet> =>
  rowsById(query, wallets, narrowed({ clientId: wallets.clientId, atMs: wallets.createdAtMs }, narrowing), narrowing)

export const updateWallet = (
  tx: Tx,
  { id }: Wallet,
  change: Partial<Pick<Wallet, 'creditLimitMinor' | 'closedAtMs'>>,
  updatedAtMs: number,
): void => {
  tx.update(wallets)
    .set({ ...change, updatedAtMs })
    .where(eq(wallets.id, id))
    .run()
}

/** The number of wallets below their threshold. */
export const countLow = (query: Query): number =>
  query.select({ count: count() }).from(wallets).where(eq(wallets.isLow, true)).get()?.count ?? 0

/** Makes a wallet the default one. A client has one default wallet at all times. */
export const makeDefault = (tx: Tx, { id, clientId }: Wallet, updatedAtMs: number): void => {
  const isPresentDefault = and(eq(wallets.clientId, clientId), eq(wallets.isDefault, true))
  tx.update(wallets).set({ isDefault: false, updatedAtMs }).where(isPresentDefault).run()
  tx.update(wallets).set({ isDefault: true, updatedAtMs }).where(eq(wallets.id, id)).run()
}

/** Deletes the wallets of a client. Fails on a foreign key if one of them has a movement. */
export const deleteWallets = (tx: Tx, clientId: number): void =>
  void tx.delete(wallets).where(eq(wallets.clientId, clientId)).run()

/** Opens a wallet without money. The first wallet of a client is its default one. */
export const openWallet = (
  tx: Tx,
  wallet: Pick<Wallet, 'clientId' | 'currencyId' | 'type' | 'creditLimitMinor'>,
  nowMs: number,
): Wallet => {
  const others = tx.select({ count: count() }).from(wallets).where(eq(wallets.clientId, wallet.clientId)).get()
  return tx
    .insert(wallets)
    .values({
      ...wallet,
      amountMinor: 0,
      reservedMinor: 0,
      isLow: false,
      isDefault: (others?.count ?? 0) === 0,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    })
    .returning()
    .get()
}

/** Sets the threshold, null for none, and the flag that the wallet is low. */
export const updateThreshold = (tx: Tx, id: number, thresholdMinor: number | null): Wallet =>
  tx
    .update(wallets)
    .set({ thresholdMinor, isLow: sql`coalesce(${wallets.amountMinor} < ${thresholdMinor}, 0)` })
    .where(eq(wallets.id, id))
    .returning()
    .get()

/** The wallets of a client by id. A client has few of them. */
export const walletsOfClient = preparedAll(wallets, isGiven(wallets.clientId, 'clientId'), asc(wallets.id))

export const findTransaction = preparedFind(transactions)

export const transactionList = new List({
  table: transactions,
  filters: {
    walletId: transactions.walletId,
    currency: sql`${transactions.walletId} IN ${ownInCurrency}`,
    search: contains(transactions.searchLowerCase),
    transactionType: eq(transactions.transactionType, sql.placeholder('transactionType')),
    status: eq(transactions.status, sql.placeholder('status')),
    sourceType: eq(transactions.sourceType, sql.placeholder('sourceType')),
    createdFromMs: gte(transactions.createdAtMs, sql.placeholder('createdFromMs')),
    createdToMs: lte(transactions.createdAtMs, sql.placeholder('createdToMs')),
  },
  sorts: { id: [], amount: [transactions.amountRank], created_at: [transactions.createdAtMs] },
})

/** The database allows only one change of remarks, to `erased`. */
export const REMARK_TEXTS = {
  table: transactions,
  texts: ['remarks'],
  record: transactions.sourceId,
  search: ({ sourceId, remarks }) => ({ searchLowerCase: searchText(sourceId, remarks) }),
} as const satisfies Personal<typeof transactions>
