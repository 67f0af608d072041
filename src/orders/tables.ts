import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The states of an order (contract C12). */
export const ORDER_STATUSES = [
  'PENDING',
  'PROCESSING',
  'DELIVERED',
  'PARTIALLY_DELIVERED',
  'FAILED',
  'CANCELLED',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const orders = sqliteTable('orders', {
  id: integer('id').primaryKey(),
  clientId: integer('client_id').notNull(),
  reference: text('reference').notNull(),
  productId: integer('product_id').notNull(),
  productName: text('product_name').notNull(),
  currencyId: integer('currency_id').notNull(),
  denominationMinor: integer('denomination_minor').notNull(),
  quantity: integer('quantity').notNull(),
  deliveredQuantity: integer('delivered_quantity').notNull(),
  email: text('email'),
  walletId: integer('wallet_id').notNull(),
  transactionId: integer('transaction_id').notNull(),
  totalMinor: integer('total_minor').notNull(),
  discountMinor: integer('discount_minor').notNull(),
  netMinor: integer('net_minor').notNull(),
  gstMinor: integer('gst_minor').notNull(),
  feeMinor: integer('fee_minor').notNull(),
  conversionMinor: integer('conversion_minor'),
  payableMinor: integer('payable_minor').notNull(),
  /** In the wallet's currency, whatever the reason. */
  refundedMinor: integer('refunded_minor').notNull(),
  charges: text('charges').notNull(),
  status: text('status', { enum: ORDER_STATUSES }).notNull(),
  failureReason: text('failure_reason'),
  dueAtMs: integer('due_at_ms'),
  placedAtMs: integer('placed_at_ms').notNull(),
  deliveredAtMs: integer('delivered_at_ms'),
  failedAtMs: integer('failed_at_ms'),
  cancelledAtMs: integer('cancelled_at_ms'),
})

export type Order = typeof orders.$inferSelect

export const vouchers = sqliteTable('vouchers', {
  id: integer('id').primaryKey(),
  orderId: integer('order_id').notNull(),
  reference: text('reference').notNull(),
  sealed: blob('sealed', { mode: 'buffer' }).notNull(),
  expiresAtMs: integer('expires_at_ms'),
  /** The stock code; null where codes are generated. */
  stockId: integer('stock_id'),
  refundedAtMs: integer('refunded_at_ms'),
})

export type Voucher = typeof vouchers.$inferSelect

export const voucherStock = sqliteTable('voucher_stock', {
  id: integer('id').primaryKey(),
  productId: integer('product_id').notNull(),
  denominationMinor: integer('denomination_minor').notNull(),
  fingerprint: text('fingerprint').notNull(),
  sealed: blob('sealed', { mode: 'buffer' }).notNull(),
  expiresAtMs: integer('expires_at_ms'),
  orderId: integer('order_id'),
  damagedAtMs: integer('damaged_at_ms'),
})

/** One row: codes with a greater id belong to an unfinished import. */
export const stockPublished = sqliteTable('stock_published', {
  id: integer('id').primaryKey(),
  upToId: integer('up_to_id').notNull(),
})

/** One row: the mark of the key that seals the codes. */
export const voucherKey = sqliteTable('voucher_key', {
  id: integer('id').primaryKey(),
  mark: text('mark').notNull(),
})
