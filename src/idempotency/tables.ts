import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const idempotencyKeys = sqliteTable('idempotency_keys', columns.idempotencyKeys)
