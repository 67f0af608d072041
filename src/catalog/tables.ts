import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const categories = table(schema.categories)
export const subcategories = table(schema.subcategories)
export const products = table(schema.products)
export const productBands = table(schema.product_bands)
export const clientDiscounts = table(schema.client_discounts)
