import { type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const wallets = sqliteTable('wallets', columns.wallets)
export type Wallet = typeof wallets.$inferSelect

export const ledgerEntries = sqliteTable('journal_entries', columns.journalEntries)
export const SOURCE_TYPES = ledgerEntries.sourceType.enumValues

export const ledgerLines = sqliteTable('journal_lines', columns.journalLines)
/** The first two accounts belong to a wallet, the others to the program, once per currency. */
export const ACCOUNTS = ledgerLines.account.enumValues

export const transactions = sqliteTable('transactions', columns.transactions)
export type WalletTransaction = typeof transactions.$inferSelect
export const TRANSACTION_STATUSES = transactions.status.enumValues

/** An amount in major units, in which amounts of different currencies compare. */
export const inMajorUnits = (amountMinor: SQLWrapper | Placeholder, currencyId: SQLWrapper | Placeholder): SQL =>
  sql`${amountMinor} / power(10.0, (SELECT precision FROM currencies WHERE currencies.id = ${currencyId}))`
