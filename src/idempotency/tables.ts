import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    clientId: integer('client_id').notNull(),
    key: text('key').notNull(),
    requestSha256: text('request_sha256').notNull(),
    status: integer('status').notNull(),
    body: text('body').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
  },
  (row) => [primaryKey({ columns: [row.clientId, row.key] })],
)
