import { and, asc, count, desc, eq, gte, inArray, lte, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Transaction } from '../db/database.ts'
import { countMatching, countOf, inOrderOf, keysOf } from '../db/lists.ts'
import { perConnection } from '../db/prepared.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Direction, Page } from '../http/query.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { transactions, type Wallet, type WalletTransaction, wallets } from './tables.ts'

export type { Wallet, WalletTransaction }

const statements = perConnection({
  byId: (query) =>
    query
      .select()
      .from(wallets)
      .where(and(eq(wallets.clientId, sql.placeholder('clientId')), eq(wallets.id, sql.placeholder('id'))))
      .limit(1)
      .prepare(),
  // The wallet in the currency comes before the default one; among several the oldest.
  paying: (query) =>
    query
      .select()
      .from(wallets)
      .where(
        and(
          eq(wallets.clientId, sql.placeholder('clientId')),
          or(eq(wallets.currencyId, sql.placeholder('currencyId')), eq(wallets.isDefault, true)),
        ),
      )
      .orderBy(sql`${wallets.currencyId} = ${sql.placeholder('currencyId')} DESC`, asc(wallets.id))
      .limit(1)
      .prepare(),
  default: (query) =>
    query
      .select()
      .from(wallets)
      .where(and(eq(wallets.clientId, sql.placeholder('clientId')), eq(wallets.isDefault, true)))
      .limit(1)
      .prepare(),
})

/** The client's own wallet, or undefined: another client's is as good as none. */
export const findWallet = (world: World, clientId: number, id: number): Wallet | undefined =>
  statements(world.db.query).byId.get({ clientId, id })

/** Which wallet it is and what it holds: what of a wallet never changes. */
export type WalletIdentity = Pick<Wallet, 'id' | 'currencyId'>

/** Pricing asks for the same wallets again and again; opening one is what makes an answer another. */
const identities = worldPart(() => new Map<string, WalletIdentity>(), 'derived')

const remembered = (world: World, question: string, find: () => Wallet | undefined): WalletIdentity | undefined => {
  const known = world.of(identities).get(question)
  if (known) return known
  const wallet = find()
  if (!wallet) return undefined
  const identity = { id: wallet.id, currencyId: wallet.currencyId }
  world.of(identities).set(question, identity)
  return identity
}

/** The client's own wallet of that id. */
export const findWalletIdentity = (world: World, clientId: number, id: number): WalletIdentity | undefined =>
  remembered(world, `own ${clientId} ${id}`, () => findWallet(world, clientId, id))

/** The wallet that pays when none is named: the one in the product's currency, else the default (contract C9). */
export const findPayingWallet = (world: World, clientId: number, currencyId: number): WalletIdentity | undefined =>
  remembered(world, `paying ${clientId} ${currencyId}`, () =>
    statements(world.db.query).paying.get({ clientId, currencyId }),
  )

/** The client's default wallet, or undefined while it has none. */
export const findDefaultWallet = (world: World, clientId: number): WalletIdentity | undefined =>
  remembered(world, `default ${clientId}`, () => statements(world.db.query).default.get({ clientId }))

/** Any client's wallet, for its operator; or undefined. */
export const findAnyWallet = (tx: Transaction, id: number): Wallet | undefined =>
  tx.select().from(wallets).where(eq(wallets.id, id)).limit(1).get()

/** The wallets of a client, or of all when none is named, the oldest first. */
export const allWallets = (tx: Transaction, clientId: number | undefined): Wallet[] =>
  tx
    .select()
    .from(wallets)
    .where(clientId === undefined ? undefined : eq(wallets.clientId, clientId))
    .orderBy(asc(wallets.id))
    .all()

/** Opens an empty wallet; the first of a client is its default one. */
export const openWallet = (
  tx: Transaction,
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
      isDefault: (others?.count ?? 0) === 0,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    })
    .returning()
    .get()
}

export const WALLET_SORTS = ['id', 'amount'] as const
export const TRANSACTION_SORTS = ['id', 'amount', 'created_at'] as const

export interface WalletQuery {
  page: Page
  currencyId: number | undefined
  type: Wallet['type'] | undefined
  sort: { field: (typeof WALLET_SORTS)[number]; direction: Direction }
}

/** One page of the client's wallets, and how many match in all. */
export const listWallets = ({ db }: World, clientId: number, { page, currencyId, type, sort }: WalletQuery) => {
  const matching = and(
    eq(wallets.clientId, clientId),
    currencyId === undefined ? undefined : eq(wallets.currencyId, currencyId),
    type === undefined ? undefined : eq(wallets.type, type),
  )
  const inOrder = sort.direction === 'ASC' ? asc : desc
  const rows = db.query
    .select()
    .from(wallets)
    .where(matching)
    .orderBy(...(sort.field === 'amount' ? [inOrder(amountOfWallet)] : []), inOrder(wallets.id))
    .limit(page.limit)
    .offset(offsetOf(page))
    .all()
  const total = db.query.select({ count: count() }).from(wallets).where(matching).get()
  return { rows, totalCount: total?.count ?? 0 }
}

export interface TransactionQuery {
  page: Page
  walletId: number | undefined
  transactionType: WalletTransaction['transactionType'] | undefined
  status: WalletTransaction['status'] | undefined
  sourceType: WalletTransaction['sourceType'] | undefined
  createdFromMs: number | undefined
  createdToMs: number | undefined
  sort: { field: (typeof TRANSACTION_SORTS)[number]; direction: Direction }
}

/** One page of the movements of the client's wallets, and how many match in all. */
export const listTransactions = ({ db }: World, clientId: number, { page, sort, ...filter }: TransactionQuery) => {
  const { walletId, transactionType, status, sourceType, createdFromMs, createdToMs } = filter
  const narrower = [
    transactionType === undefined ? undefined : eq(transactions.transactionType, transactionType),
    status === undefined ? undefined : eq(transactions.status, status),
    sourceType === undefined ? undefined : eq(transactions.sourceType, sourceType),
    createdFromMs === undefined ? undefined : gte(transactions.createdAtMs, createdFromMs),
    createdToMs === undefined ? undefined : lte(transactions.createdAtMs, createdToMs),
  ].filter((condition) => condition !== undefined)
  const matching = and(
    eq(transactions.clientId, clientId),
    walletId === undefined ? undefined : eq(transactions.walletId, walletId),
    ...narrower,
  )
  const totalCount =
    narrower.length === 0
      ? countOf(db.query, 'transactions', clientId, walletId === undefined ? undefined : String(walletId))
      : countMatching(db.query, transactions, matching)
  const keys = keysOf<number>(db.query, transactions, {
    matching,
    orderBy: [
      ...{ id: [], amount: [amountOfTransaction], created_at: [transactions.createdAtMs] }[sort.field],
      transactions.id,
    ],
    direction: sort.direction,
    limit: page.limit,
    offset: offsetOf(page),
    totalCount,
  })
  const rows = db.query
    .select({ id: transactions.id, transaction: transactions, currencyId: wallets.currencyId })
    .from(transactions)
    .innerJoin(wallets, eq(wallets.id, transactions.walletId))
    .where(inArray(transactions.id, keys))
    .all()
  return { rows: inOrderOf(keys, rows), totalCount }
}

/** The movement of one of the client's own wallets, with its currency; or undefined. */
export const findTransaction = ({ db }: World, clientId: number, id: number) =>
  db.query
    .select({ transaction: transactions, currencyId: wallets.currencyId })
    .from(transactions)
    .innerJoin(wallets, eq(wallets.id, transactions.walletId))
    .where(and(eq(transactions.id, id), eq(wallets.clientId, clientId)))
    .limit(1)
    .get()

/** Amounts of different currencies compare as they are published: in major units. */
const inMajorUnits = (amountMinor: SQLiteColumn, currencyId: SQLiteColumn | SQL): SQL =>
  sql`${amountMinor} / power(10.0, (SELECT precision FROM currencies WHERE currencies.id = ${currencyId}))`
const amountOfWallet = inMajorUnits(wallets.amountMinor, wallets.currencyId)
const amountOfTransaction = inMajorUnits(
  transactions.amountMinor,
  sql`(SELECT currency_id FROM wallets WHERE wallets.id = ${transactions.walletId})`,
)
