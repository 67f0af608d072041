import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const orders = table(schema.orders)
export type Order = typeof orders.$inferSelect

/** The states of an order (contract C12). */
export const ORDER_STATUSES = orders.status.enumValues
export type OrderStatus = Order['status']

export const vouchers = table(schema.vouchers)
export type Voucher = typeof vouchers.$inferSelect

export const voucherStock = table(schema.voucher_stock)
export const stockPublished = table(schema.stock_published)
export const voucherKey = table(schema.voucher_key)
