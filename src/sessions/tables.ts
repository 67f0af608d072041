import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const clients = sqliteTable('clients', columns.clients)
export const logins = sqliteTable('logins', columns.logins)
