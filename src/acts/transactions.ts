import { findAnyTransaction, type WalletTransaction } from '../wallets/queries.ts'
import { TRANSACTION_STATUSES, transactionsOf } from '../wallets/statement-queries.ts'
import { field, wholeNumber } from './fields.ts'
import { type Kind, listing, members, type Noun, type Shown, showing } from './kind.ts'

/** `scrip transactions`: every movement of the wallets (contract C11). */

const TRANSACTION_COLUMNS: Shown<WalletTransaction> = {
  ...members<WalletTransaction>('id', 'clientId', 'walletId'),
  currency: ({ walletId }, { walletCurrency }) => walletCurrency(walletId).currency,
  ...members<WalletTransaction>('transactionType', 'amountMinor', 'balanceAfterMinor'),
  ...members<WalletTransaction>('status', 'sourceType', 'sourceId', 'remarks', 'createdAtMs'),
}

const TRANSACTION: Kind<number, WalletTransaction> = {
  name: 'transaction',
  group: 'transactions',
  listed: 'transactions',
  argument: field('<id>', 'the transaction', { read: wholeNumber }),
  find: findAnyTransaction,
  columns: TRANSACTION_COLUMNS,
}

const NARROWED = {
  brief: 'id client transaction_type amount balance_after source_id created_at',
  client: true,
  times: 'made',
  statuses: TRANSACTION_STATUSES,
  takes: { wallet: field('--wallet <id>', 'only those of this wallet', { read: wholeNumber }) },
} as const

export const transactionList = listing(
  'List the transactions of all wallets, newest first',
  TRANSACTION_COLUMNS,
  (query, narrowing, { wallet }) => transactionsOf(query, narrowing, wallet),
  NARROWED,
)

export const transactionActs = {
  show: showing(TRANSACTION, 'Show a transaction'),
} satisfies Noun
