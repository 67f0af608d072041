import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The changes of a world to its products: the members that differ from the catalog, as JSON. */
export const productChanges = sqliteTable('product_changes', {
  productId: integer('product_id').primaryKey(),
  change: text('change').notNull(),
})
