import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** What has to hold of a database file at every moment, asked of the file itself. Each answers the rows that break it. */
const INVARIANTS: Record<string, string> = {
  'every entry balances in every currency':
    'SELECT entry_id, currency_id, sum(amount_minor) FROM journal_lines GROUP BY 1, 2 HAVING sum(amount_minor) <> 0',
  'every line has its entry': 'SELECT id FROM journal_lines WHERE entry_id NOT IN (SELECT id FROM journal_entries)',
  'a wallet is the sum of its lines': `SELECT id FROM wallets WHERE amount_minor <>
    (SELECT coalesce(sum(amount_minor), 0) FROM journal_lines WHERE wallet_id = wallets.id AND account = 'wallet')`,
  'what is reserved belongs to what is under way': `SELECT id FROM wallets WHERE reserved_minor <>
    (SELECT coalesce(sum(payable_minor), 0) FROM orders WHERE wallet_id = wallets.id
      AND status NOT IN ('DELIVERED', 'FAILED', 'CANCELLED') AND failed_at_ms IS NULL) +
    (SELECT coalesce(sum(paid_minor), 0) FROM payouts WHERE wallet_id = wallets.id
      AND status NOT IN ('completed', 'failed', 'cancelled', 'expired'))`,
  'balances follow one another': `SELECT id FROM (SELECT id, balance_after_minor,
      sum(iif(transaction_type = 'CREDIT', 1, -1) * amount_minor) OVER (PARTITION BY wallet_id ORDER BY id) AS summed
    FROM transactions) WHERE balance_after_minor <> summed`,
  'every order and payout was paid for': `SELECT id FROM orders WHERE transaction_id NOT IN (SELECT id FROM transactions)
    UNION ALL SELECT id FROM payouts WHERE id NOT IN (SELECT source_id FROM transactions WHERE source_type = 'payout')`,
  'what was delivered has its vouchers': `SELECT id FROM orders WHERE delivered_quantity <>
    (SELECT count(*) FROM vouchers WHERE order_id = orders.id)`,
  'every kept answer was given with its effect': `SELECT key FROM idempotency_keys
    WHERE status = 201 AND body ->> 'id' NOT IN (SELECT id FROM beneficiaries UNION ALL SELECT id FROM payouts)`,
  'the file is whole': "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
  'every reference is met': 'SELECT * FROM pragma_foreign_key_check',
}

/** The names of the invariants that a data folder breaks. */
export const brokenInvariants = (dataDir: string): string[] => {
  const sqlite = new Database(join(dataDir, 'scrip.sqlite'), { readonly: true })
  const broken = Object.entries(INVARIANTS).flatMap(([name, sql]) => (sqlite.query(sql).all().length > 0 ? [name] : []))
  sqlite.close()
  return broken
}
