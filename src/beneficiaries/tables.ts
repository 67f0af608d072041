import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const beneficiaries = sqliteTable('beneficiaries', {
  id: text('id').primaryKey(),
  clientId: integer('client_id').notNull(),
  email: text('email').notNull(),
  firstName: text('first_name').notNull(),
  lastName: text('last_name').notNull(),
  emailLowerCase: text('email_folded').notNull(),
  firstNameLowerCase: text('first_name_folded').notNull(),
  lastNameLowerCase: text('last_name_folded').notNull(),
  searchLowerCase: text('search_folded').notNull(),
  country: text('country'),
  phone: text('phone'),
  metadata: text('metadata').notNull(),
  totalPayouts: integer('total_payouts').notNull(),
  totalAmountMinor: integer('total_amount_minor').notNull(),
  lastPayoutAtMs: integer('last_payout_at_ms'),
  createdAtMs: integer('created_at_ms').notNull(),
})

export type Beneficiary = typeof beneficiaries.$inferSelect
