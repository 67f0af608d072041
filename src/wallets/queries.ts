import { and, asc, count, eq, gte, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { connectionOf, type Query, type Tx } from '../db/database.ts'
import { contains, counted, List, searchText } from '../db/lists.ts'
import { type Narrowing, narrowedRows, type Rows } from '../db/narrowing.ts'
import type { Personal } from '../db/personal.ts'
import { countUpTo, isGiven, preparedAll, preparedFind, preparedOne } from '../db/prepared.ts'
import { transactions, type Wallet, type WalletTransaction, wallets } from './tables.ts'

export { ACCOUNTS, SOURCE_TYPES } from './tables.ts'
export type { Wallet, WalletTransaction }

const isOfCurrency = (currencyId: SQLiteColumn): SQL =>
  sql`${currencyId} = (SELECT id FROM currencies WHERE currencies.currency = ${sql.placeholder('currency')})`

const createdAt = 'transactions_created'

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

export const walletsOf = (query: Query, narrowing: Narrowing): Rows<Wallet> => narrowedRows(query, LISTED, narrowing)

const LISTED = {
  table: wallets,
  clientId: wallets.clientId,
  atMs: wallets.createdAtMs,
  counts: 'wallet_counts',
  indexes: { client: 'wallets_client' },
} as const

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

/** A literal, as in {@link isDefault}. */
const isLow = sql`${wallets.isLow} = 1`

/** The wallets of a list that are below their threshold. */
export const lowWallets = (query: Query, narrowing: Narrowing): Rows<Wallet> =>
  narrowedRows(query, LISTED, narrowing, { matches: isLow, index: 'wallets_low' })

/** The number of wallets below their threshold, as far as it is counted. */
export const countLow = (query: Query): number => countUpTo(query, wallets, isLow)

export const debitedSince = (query: Query, walletId: number, day: number): number =>
  connectionOf(query)
    .query<{ minor: number }, [number, number]>(
      'SELECT coalesce(sum(amount_minor), 0) AS minor FROM debit_day_counts WHERE wallet_id = ? AND day >= ?',
    )
    .get(walletId, day)?.minor ?? 0

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
      minorPerMajor: sql`(SELECT power(10, precision) FROM currencies WHERE id = ${wallet.currencyId})`,
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

export const walletList = new List({
  table: wallets,
  counts: 'wallet_counts',
  filters: {
    currencyId: counted(wallets.currencyId, 'wallets_currency'),
    currency: counted(isOfCurrency(wallets.currencyId), 'wallets_currency'),
    type: counted(wallets.type, 'wallets_type'),
    isActive: {
      ...counted(sql`(${wallets.closedAtMs} IS NULL) = ${sql.placeholder('isActive')}`, 'wallets_open'),
      counts: sql`is_active = ${sql.placeholder('isActive')}`,
    },
  },
  sorts: {
    id: { columns: [], index: 'wallets_client' },
    amount: {
      columns: [sql`${wallets.amountMinor} * 1.0 / ${wallets.minorPerMajor}`],
      index: 'wallets_amount',
    },
  },
})

/** The wallets of a client by id. A client has few of them. */
export const walletsOfClient = preparedAll(wallets, isGiven(wallets.clientId, 'clientId'), asc(wallets.id))

export const findTransaction = preparedFind(transactions)

export const findAnyTransaction = (query: Query, id: number): WalletTransaction | undefined =>
  query.select().from(transactions).where(eq(transactions.id, id)).limit(1).get()

export const transactionList = new List({
  table: transactions,
  counts: 'transaction_counts',
  filters: {
    walletId: counted(transactions.walletId, 'transactions_wallet'),
    currency: counted(isOfCurrency(transactions.currencyId), 'transactions_currency'),
    search: { matches: contains(transactions.searchLowerCase) },
    transactionType: counted(transactions.transactionType, 'transactions_type'),
    // Every transaction is completed, so no index leads to some of them.
    status: counted(transactions.status),
    sourceType: counted(transactions.sourceType, 'transactions_source'),
    createdFromMs: { matches: gte(transactions.createdAtMs, sql.placeholder('createdFromMs')), index: createdAt },
    createdToMs: { matches: lte(transactions.createdAtMs, sql.placeholder('createdToMs')), index: createdAt },
  },
  sorts: {
    id: { columns: [], index: 'transactions_client' },
    amount: { columns: [transactions.amountRank], index: 'transactions_amount' },
    created_at: { columns: [transactions.createdAtMs], index: createdAt },
  },
})

/** The database allows only one change of remarks, to `erased`. */
export const REMARK_TEXTS = {
  table: transactions,
  texts: ['remarks'],
  record: transactions.sourceId,
  search: ({ sourceId, remarks }) => ({ searchLowerCase: searchText(sourceId, remarks) }),
} as const satisfies Personal<typeof transactions>
