import { isAmong, OPEN_ORDERS } from './0001_schema.ts'

/** Totals of records by what their lists filter. */
export interface Counts {
  /** Ends with `_counts`. */
  name: `${string}_counts`
  /** The table of the records. */
  of: string
  /** Columns, or expressions such as `ROW.created_at_ms / 86400000 AS day`. */
  by: readonly string[]
  /** Columns whose sums are kept, too. */
  sums?: readonly string[]
  /** The condition of the records that are counted, as in `ROW.amount_minor < 0`. Without it, all are. */
  where?: string
}

/** A part of the first schema: never edited once released. */
export const COUNTS: readonly Counts[] = [
  { name: 'beneficiary_counts', of: 'beneficiaries', by: ['client_id'] },
  { name: 'payout_counts', of: 'payouts', by: ['client_id', 'status', 'currency_id'], sums: ['amount_minor'] },
  {
    name: 'transaction_counts',
    of: 'transactions',
    by: ['client_id', 'wallet_id', 'currency_id', 'transaction_type', 'status', 'source_type'],
    sums: ['amount_minor'],
  },
  {
    name: 'wallet_counts',
    of: 'wallets',
    by: ['client_id', 'currency_id', 'type', 'ROW.closed_at_ms IS NULL AS is_active'],
  },
  {
    name: 'order_counts',
    of: 'orders',
    by: ['client_id', 'product_id', 'status', 'wallet_id'],
    sums: ['payable_minor'],
  },
  {
    name: 'open_order_counts',
    of: 'orders',
    by: ['wallet_id'],
    sums: ['payable_minor'],
    where: `${isAmong('ROW.status', OPEN_ORDERS)} AND ROW.failed_at_ms IS NULL`,
  },
  {
    name: 'debit_day_counts',
    of: 'transactions',
    by: ['wallet_id', 'ROW.created_at_ms / 86400000 AS day'],
    sums: ['amount_minor'],
    where: "ROW.transaction_type = 'DEBIT'",
  },
  { name: 'event_counts', of: 'events', by: ['client_id', 'type'] },
  { name: 'audit_counts', of: 'audit', by: ['outcome', 'command', 'user'] },
  { name: 'delivery_counts', of: 'webhook_deliveries', by: ['client_id', 'webhook_id'] },
  {
    name: 'stock_counts',
    of: 'voucher_stock',
    by: [
      ...['product_id', 'denomination_minor', 'ROW.order_id IS NOT NULL AS is_taken'],
      ...['ROW.damaged_at_ms IS NOT NULL AS is_damaged', 'coalesce(ROW.expires_at_ms, 9e15) AS expires_at_ms'],
    ],
  },
  {
    name: 'sale_day_counts',
    of: 'orders',
    by: [
      ...['ROW.placed_at_ms / 86400000 AS day', 'product_id', 'denomination_minor'],
      'coalesce(ROW.failed_at_ms, ROW.cancelled_at_ms) IS NOT NULL AS is_over',
    ],
    sums: ['quantity', 'delivered_quantity'],
  },
]
