import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'

/** How many vouchers of a product orders have taken. */
export const stockTaken = sqliteTable('stock_taken', {
  productId: integer('product_id').primaryKey(),
  quantity: integer('quantity').notNull(),
})
