import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

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
})

export type Wallet = typeof wallets.$inferSelect
