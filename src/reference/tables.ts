import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const countries = sqliteTable('countries', columns.countries)
export const currencies = sqliteTable('currencies', columns.currencies)
