import type { Database as Sqlite } from 'bun:sqlite'
import { expect } from 'bun:test'

/** The rules that the ledger of a database satisfies at all times, read by plain SQL (contract C11). */

const rows = <Row>(sqlite: Sqlite, sql: string): Row[] => sqlite.query<Row, []>(sql).all()

/** Rows that break the ledger by themselves. */
export const LEDGER_FAULTS: Record<string, string> = {
  'an entry whose lines do not sum to zero': `SELECT entry_id, currency_id, sum(amount_minor) AS sum FROM journal_lines
    GROUP BY entry_id, currency_id HAVING sum <> 0`,
  'a currency whose lines do not sum to zero':
    'SELECT currency_id, sum(amount_minor) AS sum FROM journal_lines GROUP BY currency_id HAVING sum <> 0',
  'a line without an entry': 'SELECT id FROM journal_lines WHERE entry_id NOT IN (SELECT id FROM journal_entries)',
  'a wallet unlike its lines': `SELECT w.id, w.amount_minor, w.reserved_minor,
      coalesce(sum(CASE l.account WHEN 'wallet' THEN l.amount_minor END), 0) AS amount_lines,
      coalesce(sum(CASE l.account WHEN 'reserved' THEN l.amount_minor END), 0) AS reserved_lines
    FROM wallets w LEFT JOIN journal_lines l ON l.wallet_id = w.id GROUP BY w.id
    HAVING amount_lines <> w.amount_minor OR reserved_lines <> w.reserved_minor`,
  'a wallet below its limit': 'SELECT id, amount_minor FROM wallets WHERE amount_minor < -credit_limit_minor',
  // Opening balances keep their date if the clock of a world went back before the first write.
  'an entry out of order': `SELECT id FROM (
      SELECT id, created_at_ms, lag(created_at_ms) OVER (ORDER BY id) AS before FROM journal_entries
      WHERE id NOT IN (SELECT entry_id FROM transactions WHERE remarks = 'Opening balance')
    ) WHERE created_at_ms < before`,
}
/** Rows where the ledger disagrees with its orders and payouts. */
export const BOOK_FAULTS: Record<string, string> = {
  'a reserve unlike what orders and payouts under way have paid': `SELECT w.id, w.reserved_minor,
      (SELECT coalesce(sum(payable_minor), 0) FROM orders o WHERE o.wallet_id = w.id AND
        (status IN ('PENDING', 'PROCESSING') OR (status = 'PARTIALLY_DELIVERED' AND failed_at_ms IS NULL)))
      + (SELECT coalesce(sum(paid_minor), 0) FROM payouts p WHERE p.wallet_id = w.id AND
        status IN ('created', 'queued', 'processing', 'settling', 'action_required')) AS open
    FROM wallets w GROUP BY w.id HAVING open <> w.reserved_minor`,
  'an entry without lines': 'SELECT id FROM journal_entries WHERE id NOT IN (SELECT entry_id FROM journal_lines)',
}
const CHAIN = 'SELECT * FROM transactions ORDER BY wallet_id, id'

interface Movement {
  id: number
  wallet_id: number
  entry_id: number
  amount_minor: number
  transaction_type: string
  balance_after_minor: number
}

const expectNone = (sqlite: Sqlite, faults: Record<string, string>): void => {
  for (const [fault, sql] of Object.entries(faults))
    expect({ fault, rows: rows(sqlite, sql) }).toEqual({ fault, rows: [] })
}

/** The ledger by itself. */
export const expectSoundLedger = (sqlite: Sqlite): void => {
  expectNone(sqlite, LEDGER_FAULTS)
  expectUnbrokenChain(sqlite)
}

/** The ledger and the orders and payouts that stand behind it. */
export const expectSoundBooks = (sqlite: Sqlite): void => {
  expectSoundLedger(sqlite)
  expectNone(sqlite, BOOK_FAULTS)
}

/** Each movement continues its wallet's chain, and equals the entry's line of the wallet. */
const expectUnbrokenChain = (sqlite: Sqlite): void => {
  const lineOf = sqlite.query<{ sum: number }, [number, number]>(
    "SELECT coalesce(sum(amount_minor), 0) AS sum FROM journal_lines WHERE account = 'wallet' AND entry_id = ? AND wallet_id = ?",
  )
  const balances = new Map<number, number>()
  for (const movement of rows<Movement>(sqlite, CHAIN)) {
    const signed = movement.transaction_type === 'CREDIT' ? movement.amount_minor : 0 - movement.amount_minor
    expect({ id: movement.id, sum: lineOf.get(movement.entry_id, movement.wallet_id)?.sum }).toEqual({
      id: movement.id,
      sum: signed,
    })
    const balance = (balances.get(movement.wallet_id) ?? 0) + signed
    expect({ id: movement.id, balance: movement.balance_after_minor }).toEqual({ id: movement.id, balance })
    balances.set(movement.wallet_id, balance)
  }
  const wallets = rows<{ id: number; amount_minor: number }>(sqlite, 'SELECT id, amount_minor FROM wallets')
  for (const { id, amount_minor } of wallets) expect([id, balances.get(id) ?? 0]).toEqual([id, amount_minor])
}

/** The lines of the last entries, the oldest first. */
export const linesSince = (sqlite: Sqlite, entryId: number) =>
  sqlite
    .query<
      { entry: number; source: string; account: string; wallet: number | null; currency: string; amount: number },
      [number]
    >(
      `SELECT e.id AS entry, e.source_type AS source, l.account, l.wallet_id AS wallet, c.currency, l.amount_minor AS amount
       FROM journal_lines l JOIN journal_entries e ON e.id = l.entry_id JOIN currencies c ON c.id = l.currency_id
       WHERE e.id > ? ORDER BY l.id`,
    )
    .all(entryId)

export const lastEntryOf = (sqlite: Sqlite): number =>
  sqlite.query<{ id: number }, []>('SELECT max(id) AS id FROM journal_entries').get()?.id ?? 0
