import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const clients = sqliteTable('clients', {
  id: integer('id').primaryKey(),
  username: text('username').notNull(),
  passwordSha256: text('password_sha256').notNull(),
  vouchers: integer('vouchers', { mode: 'boolean' }).notNull(),
  quantityMax: integer('quantity_max'),
  disabled: integer('disabled', { mode: 'boolean' }).notNull(),
  createdAtMs: integer('created_at_ms').notNull(),
  /** As in `--rate-limit`; null if the limits of the server hold. */
  rateLimit: text('rate_limit'),
  /** Null if those of the server hold. */
  conversionFeeBasisPoints: integer('conversion_fee_basis_points'),
  payoutFeeBasisPoints: integer('payout_fee_basis_points'),
  /** The password before the last rotation, and until when it is good. */
  oldPasswordSha256: text('old_password_sha256'),
  oldPasswordUntilMs: integer('old_password_until_ms'),
})

export const logins = sqliteTable('logins', {
  id: text('id').primaryKey(),
  clientId: integer('client_id').notNull(),
  refreshGeneration: integer('refresh_generation').notNull(),
  expiresAtMs: integer('expires_at_ms').notNull(),
  revoked: integer('revoked', { mode: 'boolean' }).notNull(),
})
