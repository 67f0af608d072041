import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const exchangeRates = sqliteTable('exchange_rates', {
  currency: text('currency').primaryKey(),
  perBaseE8: integer('per_base_e8').notNull(),
  isBase: integer('is_base', { mode: 'boolean' }).notNull(),
})
