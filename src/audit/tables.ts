import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const OUTCOMES = ['done', 'refused'] as const

export const audit = sqliteTable('audit', {
  id: integer('id').primaryKey(),
  atMs: integer('at_ms').notNull(),
  user: text('user').notNull(),
  command: text('command').notNull(),
  subject: text('subject').notNull(),
  /** JSON. */
  before: text('before'),
  /** JSON. */
  after: text('after'),
  outcome: text('outcome', { enum: OUTCOMES }).notNull(),
  address: text('address'),
  previousHash: text('previous_hash').notNull(),
  hash: text('hash').notNull(),
  /** Of the key of the hash; null before the data folder has a voucher key. */
  keyMark: text('key_mark'),
})

export type AuditRow = typeof audit.$inferSelect

/** One row: how many rows the audit has, and the hash of the last one; sealed, so that a tail that was cut off shows. */
export const auditHead = sqliteTable('audit_head', {
  id: integer('id').primaryKey(),
  count: integer('count').notNull(),
  hash: text('hash').notNull(),
  /** Null before the data folder has a voucher key. */
  seal: text('seal'),
})

/** The keys of rows from before a rekeying. */
export const auditKeys = sqliteTable('audit_keys', {
  mark: text('mark').primaryKey(),
  sealed: blob('sealed', { mode: 'buffer' }).notNull(),
})
