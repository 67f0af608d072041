import { join } from 'node:path'
import { ADA } from '../records.ts'
import { ask } from './connection.ts'
import { fillWith, numberedId } from './copies.ts'
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
/** The columns that differ from copy to copy. */
const COPIES: Record<string, Record<string, string>> = {
  beneficiaries: {
    id: numberedId('ben'),
    email: "'ada.' || n || '@example.com'",
    email_folded: "'ada.' || n || '@example.com'",
    last_name: "'Lovelace ' || n % 1000",
    last_name_folded: "'lovelace ' || n % 1000",
    total_payouts: 'n % 100',
    total_amount_minor: 'n % 10000',
    created_at_ms: 'created_at_ms + n',
  },
  payouts: {
    id: numberedId('pyt'),
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
  fillWith(join(dataDir, 'scrip.sqlite'), (copy) => {
    for (const [table, changes] of Object.entries(COPIES)) copy(table, { changes, count: records })
  })
}
