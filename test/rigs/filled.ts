import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { recount } from '../../src/db/counts.ts'
import { ADA } from '../records.ts'
import { ask } from './connection.ts'
import { logIn, serve } from './server.ts'

/** A data folder in which the client `sandbox` has more of everything than could be made one by one. */

const TEMPLATES: readonly { path: string; body: object }[] = [
  { path: '/api/v1/beneficiaries', body: ADA },
  { path: '/api/v1/orders', body: { product_id: 1, denomination: 100, quantity: 1, client_reference: 'template' } },
  {
    path: '/api/v1/payouts',
    body: {
      reference_id: 'template',
      wallet_id: 1,
      amount: 1.25,
      currency: 'USD',
      beneficiary_email: ADA.email,
      beneficiary_first_name: ADA.first_name,
      beneficiary_last_name: ADA.last_name,
    },
  },
]
const NUMBERED_ID = "printf('%025d', n)"
/** The columns that differ from copy to copy; n counts from 1. Columns that a table does not have are skipped. */
const COPIES: Record<string, Record<string, string>> = {
  beneficiaries: {
    id: `'ben_' || ${NUMBERED_ID}`,
    email: "'ada.' || n || '@example.com'",
    email_folded: "'ada.' || n || '@example.com'",
    last_name: "'Lovelace ' || n % 1000",
    last_name_folded: "'lovelace ' || n % 1000",
    total_payouts: 'n % 100',
    total_amount_minor: 'n % 10000',
    created_at_ms: 'created_at_ms + n',
  },
  payouts: {
    id: `'pyt_' || ${NUMBERED_ID}`,
    reference_id: "'bonus-' || n",
    search_folded: "'bonus-' || n || 'A' || 'ada.' || n || '@example.com'",
    amount_rank: 'amount_rank + n % 5000',
    created_at_ms: 'created_at_ms + n',
    status: "CASE n % 10 WHEN 0 THEN 'failed' ELSE 'completed' END",
    due_at_ms: 'NULL',
    due_event: 'NULL',
  },
  orders: { id: 'id + n', reference: "'gift-' || n", placed_at_ms: 'placed_at_ms + n' },
  transactions: {
    id: 'id + n',
    amount_rank: 'amount_rank + n % 5000',
    source_id: 'n',
    created_at_ms: 'created_at_ms + n',
  },
}

/** Makes the folder with this number of records of each kind. */
export const fill = async (dataDir: string, records: number): Promise<void> => {
  const server = await serve(['--data-dir', dataDir, '--rate-limit', 'off'])
  const token = await logIn(server.port, 'sandbox')
  for (const { path, body } of TEMPLATES) {
    const response = await ask(server.port, {
      path,
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${response.body}`)
  }
  await ask(server.port, { path: '/_sandbox/clock', body: '{"advance":"PT1M"}' })
  await server.stop()
  const sqlite = new Database(join(dataDir, 'scrip.sqlite'))
  sqlite.run('PRAGMA synchronous = OFF')
  sqlite.run('PRAGMA cache_size = -1000000')
  // An index is made in a fraction of the time in which it would grow.
  const grown = sqlite.query<Record<'type' | 'name' | 'sql', string>, []>(
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL",
  )
  const all = grown.all()
  for (const { type, name } of all) sqlite.run(`DROP ${type} ${name}`)
  for (const [table, changes] of Object.entries(COPIES)) copyRow(sqlite, table, changes, records)
  recount(sqlite)
  for (const { sql } of all) sqlite.run(sql)
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  sqlite.close()
}

/** Copies the last row of a table: whatever columns it has, they are as the program filled them. */
const copyRow = (sqlite: Database, table: string, changes: Record<string, string>, count: number): void => {
  const columns = sqlite.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all()
  const names = columns.map(({ name }) => name)
  const values = names.map((name) => changes[name] ?? name)
  sqlite.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO ${table} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM (SELECT * FROM ${table} ORDER BY id DESC LIMIT 1), numbers`)
}
