import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const categories = sqliteTable('categories', columns.categories)
export const subcategories = sqliteTable('subcategories', columns.subcategories)
export const products = sqliteTable('products', columns.products)
export const productBands = sqliteTable('product_bands', columns.productBands)
export const clientDiscounts = sqliteTable('client_discounts', columns.clientDiscounts)
