import type { WalletTransaction } from '../wallets/queries.ts'
import { TRANSACTION_STATUSES, transactionsOf } from '../wallets/statement-queries.ts'
import { field, wholeNumber } from './fields.ts'
import { listing, members, type Shown } from './kind.ts'

/** `scrip transactions`: every movement of the wallets (contract C11). */

const TRANSACTION_COLUMNS: Shown<WalletTransaction> = {
  ...members<WalletTransaction>('id', 'clientId', 'walletId'),
  currency: ({ walletId }, { walletCurrency }) => walletCurrency(walletId).currency,
  ...members<WalletTransaction>('transactionType', 'amountMinor', 'balanceAfterMinor'),
  ...members<WalletTransaction>('status', 'sourceType', 'sourceId', 'remarks', 'createdAtMs'),
}

const NARROWED = {
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
