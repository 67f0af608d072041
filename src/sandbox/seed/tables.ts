import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../../db/columns.ts'

/** The number of vouchers that orders have taken of each product. */
export const stockTaken = sqliteTable('stock_taken', columns.stockTaken)
