import { Database } from 'bun:sqlite'
import { databasePath } from '../../src/db/data-folder.ts'

/** Copies the last funding of wallet 1 with its ledger entry and its event, so that the ledger balances. */
export const fill = (dataDir: string, copies: number): void => {
  const sqlite = new Database(databasePath(dataDir))
  sqlite.run('PRAGMA synchronous = OFF')
  sqlite.run('PRAGMA cache_size = -262144')
  const balance = sqlite
    .query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE name = 'transactions_balance'")
    .get()
  sqlite
    .transaction(() => {
      sqlite.run('DROP TRIGGER transactions_balance') // it compares with the wallet as it is now
      const ids = (table: string): number =>
        sqlite.query<{ id: number }, []>(`SELECT max(id) AS id FROM ${table}`).get()?.id ?? 0
      const entry = `${ids('journal_entries')} + n`
      copyRow(sqlite, 'journal_lines', copies, "account = 'wallet'", {
        id: `${ids('journal_lines')} + n`,
        entry_id: entry,
      })
      copyRow(sqlite, 'journal_lines', copies, "account = 'funding'", {
        id: `${ids('journal_lines')} + n`,
        entry_id: entry,
      })
      copyRow(sqlite, 'journal_entries', copies, 'true', { id: entry })
      copyRow(sqlite, 'transactions', copies, 'true', {
        id: `${ids('transactions')} + n`,
        entry_id: entry,
        balance_after_minor: 'balance_after_minor + n * amount_minor',
      })
      const event = ids('events')
      copyRow(sqlite, 'events', copies, 'true', { id: `${event} + n`, event_id: "'evt_' || printf('%025d', n)" })
      sqlite.run(
        'UPDATE wallets SET amount_minor = (SELECT balance_after_minor FROM transactions ORDER BY id DESC LIMIT 1) WHERE id = 1',
      )
      sqlite.run(balance?.sql ?? '')
    })
    .immediate()
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  sqlite.close()
}

/** Copies the last row that meets a condition; n counts from 1. */
const copyRow = (
  sqlite: Database,
  table: string,
  copies: number,
  condition: string,
  changes: Record<string, string>,
): void => {
  const columns = sqlite.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all()
  const names = columns.map(({ name }) => name)
  sqlite.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${copies})
    INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.map((name) => changes[name] ?? name).join(', ')}
      FROM (SELECT * FROM ${table} WHERE ${condition} ORDER BY id DESC LIMIT 1), numbers`)
}
