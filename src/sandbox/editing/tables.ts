import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../../db/columns.ts'

/** The changes of a world to its products: the members that differ from the catalog, as JSON. */
export const productChanges = sqliteTable('product_changes', columns.productChanges)
