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
  { name: 'payout_counts', of: 'payouts', by: ['client_id', 'status', 'currency_id'], sums: ['amount_minor'] },
]
