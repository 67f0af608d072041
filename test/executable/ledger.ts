import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { BOOK_FAULTS, LEDGER_FAULTS } from '../wallets/books.ts'

/** Each check asks the file itself, and returns the rows that break it. */
const FAULTS: Record<string, string> = {
  ...LEDGER_FAULTS,
  ...BOOK_FAULTS,
  'a balance that does not continue the one before': `SELECT id FROM (SELECT id, balance_after_minor,
      sum(iif(transaction_type = 'CREDIT', 1, -1) * amount_minor) OVER (PARTITION BY wallet_id ORDER BY id) AS summed
    FROM transactions) WHERE balance_after_minor <> summed`,
  'an order or payout that was not paid for': `SELECT id FROM orders WHERE transaction_id NOT IN (SELECT id FROM transactions)
    UNION ALL SELECT id FROM payouts WHERE id NOT IN (SELECT source_id FROM transactions WHERE source_type = 'payout')`,
  'a delivery without its vouchers': `SELECT id FROM orders WHERE delivered_quantity <>
    (SELECT count(*) FROM vouchers WHERE order_id = orders.id)`,
  'a stored response without its effect': `SELECT key FROM idempotency_keys
    WHERE status = 201 AND body ->> 'id' NOT IN (SELECT id FROM beneficiaries UNION ALL SELECT id FROM payouts)`,
  'a file that is not whole': "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
  'a reference to nothing': 'SELECT * FROM pragma_foreign_key_check',
}

/** The problems of a data folder, in words. */
export const brokenInvariants = (dataDir: string): string[] => {
  const sqlite = new Database(join(dataDir, 'scrip.sqlite'), { readonly: true })
  const broken = Object.entries(FAULTS).flatMap(([name, sql]) => (sqlite.query(sql).all().length > 0 ? [name] : []))
  sqlite.close()
  return broken
}
