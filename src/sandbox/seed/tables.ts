import { schema } from '../../db/migrations/0001_schema.ts'
import { table } from '../../db/table.ts'

/** The number of vouchers that orders have taken of each product. */
export const stockTaken = table(schema.stock_taken)
