import { schema } from '../../db/migrations/0001_schema.ts'
import { table } from '../../db/table.ts'

/** How many vouchers of a product orders have taken. */
export const stockTaken = table(schema.stock_taken)
