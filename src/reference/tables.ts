import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const countries = sqliteTable('countries', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  officialName: text('official_name').notNull(),
  alpha2: text('alpha_2').notNull(),
  alpha3: text('alpha_3').notNull(),
  numericCode: text('numeric_code').notNull(),
  dialingPrefix: text('dialing_prefix').notNull(),
})

export const currencies = sqliteTable('currencies', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  currency: text('currency').notNull(),
  precision: integer('precision').notNull(),
})

export type Country = typeof countries.$inferSelect
/** `currency` is the ISO 4217 code, `precision` the number of decimals (spec 2.5). */
export type Currency = typeof currencies.$inferSelect
