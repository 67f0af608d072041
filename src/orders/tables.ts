import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const orders = sqliteTable('orders', columns.orders)
export type Order = typeof orders.$inferSelect

export const ORDER_STATUSES = orders.status.enumValues
export type OrderStatus = Order['status']

export const vouchers = sqliteTable('vouchers', columns.vouchers)
export type Voucher = typeof vouchers.$inferSelect

export const voucherStock = sqliteTable('voucher_stock', columns.voucherStock)
export const stockPublished = sqliteTable('stock_published', columns.stockPublished)
export const voucherKey = sqliteTable('voucher_key', columns.voucherKey)
