import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const exchangeRates = sqliteTable('exchange_rates', columns.exchangeRates)
