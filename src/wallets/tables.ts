import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const wallets = sqliteTable('wallets', {
  id: integer('id').primaryKey(),
  clientId: integer('client_id').notNull(),
  currencyId: integer('currency_id').notNull(),
  type: text('type', { enum: ['PREPAID', 'POSTPAID'] }).notNull(),
  amountMinor: integer('amount_minor').notNull(),
  creditLimitMinor: integer('credit_limit_minor').notNull(),
  isDefault: integer('is_default', { mode: 'boolean' }).notNull(),
  createdAtMs: integer('created_at_ms').notNull(),
  updatedAtMs: integer('updated_at_ms').notNull(),
  reservedMinor: integer('reserved_minor').notNull(),
  /** Below it, the wallet is low; null without one (contract C16). */
  thresholdMinor: integer('threshold_minor'),
  isLow: integer('is_low', { mode: 'boolean' }).notNull().default(false),
  /** A closed wallet pays nothing. */
  closedAtMs: integer('closed_at_ms'),
})

export type Wallet = typeof wallets.$inferSelect

/** What a movement of money came from (contract C11). */
export const SOURCE_TYPES = ['order', 'payout', 'refund', 'funding', 'adjustment'] as const

/** The first two accounts belong to a wallet, the others to the program, once per currency. */
export const ACCOUNTS = [
  'wallet',
  'reserved',
  'supplier',
  'payouts',
  'tax',
  'fees',
  'conversion',
  'exchange',
  'funding',
  'adjustments',
] as const

export const ledgerEntries = sqliteTable('journal_entries', {
  id: integer('id').primaryKey(),
  sourceType: text('source_type', { enum: SOURCE_TYPES }).notNull(),
  sourceId: text('source_id'),
  createdAtMs: integer('created_at_ms').notNull(),
})

export const ledgerLines = sqliteTable('journal_lines', {
  id: integer('id').primaryKey(),
  entryId: integer('entry_id').notNull(),
  account: text('account', { enum: ACCOUNTS }).notNull(),
  walletId: integer('wallet_id'),
  currencyId: integer('currency_id').notNull(),
  amountMinor: integer('amount_minor').notNull(),
})

/** Contract C11. */
export const TRANSACTION_STATUSES = ['PENDING', 'COMPLETED', 'FAILED'] as const

export const transactions = sqliteTable('transactions', {
  id: integer('id').primaryKey(),
  walletId: integer('wallet_id').notNull(),
  clientId: integer('client_id').notNull(),
  entryId: integer('entry_id').notNull(),
  amountMinor: integer('amount_minor').notNull(),
  transactionType: text('transaction_type', { enum: ['CREDIT', 'DEBIT'] }).notNull(),
  status: text('status', { enum: TRANSACTION_STATUSES }).notNull(),
  sourceCurrency: text('source_currency'),
  destinationCurrency: text('destination_currency'),
  rateE8: integer('rate_e8'),
  conversionMinor: integer('conversion_minor'),
  balanceAfterMinor: integer('balance_after_minor').notNull(),
  sourceType: text('source_type', { enum: SOURCE_TYPES }).notNull(),
  sourceId: text('source_id'),
  remarks: text('remarks'),
  createdAtMs: integer('created_at_ms').notNull(),
  /** In major units, so that amounts of different currencies compare. */
  amountRank: real('amount_rank').notNull(),
  searchLowerCase: text('search_folded').notNull(),
})

export type WalletTransaction = typeof transactions.$inferSelect

/** In major units, so that amounts of different currencies compare. */
export const inMajorUnits = (amountMinor: SQLWrapper, currencyId: SQLWrapper): SQL =>
  sql`${amountMinor} / power(10.0, (SELECT precision FROM currencies WHERE currencies.id = ${currencyId}))`
