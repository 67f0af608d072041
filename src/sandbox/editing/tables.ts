import { schema } from '../../db/migrations/0001_schema.ts'
import { table } from '../../db/table.ts'

/** The changes of a world to its products: the members that differ from the catalog, as JSON. */
export const productChanges = table(schema.product_changes)
