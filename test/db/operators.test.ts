// Runs in process alone: it counts steps of SQLite, which no response shows.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { auditRows, lastDoneMs, refusedSinceDone } from '../../src/audit/queries.ts'
import { beneficiariesOf } from '../../src/beneficiaries/queries.ts'
import { Database, type Query } from '../../src/db/database.ts'
import type { Narrowing, Rows } from '../../src/db/narrowing.ts'
import { eventsOf } from '../../src/events/queries.ts'
import { countDue as countDueOrders, openOrders, ordersOf } from '../../src/orders/queries.ts'
import { stockReport } from '../../src/orders/stock-report.ts'
import { countDue as countDuePayouts, payoutsOf, waitingPayouts } from '../../src/payouts/queries.ts'
import { countLow, debitedSince, lowWallets, walletsOf } from '../../src/wallets/queries.ts'
import { balanceBefore, transactionsOf } from '../../src/wallets/statement-queries.ts'
import { attemptsTo, failingSinceMs, failingWebhooks } from '../../src/webhooks/queries.ts'
import { temporaryFolder } from '../program.ts'
import { fill, observed, SIZES, SPARE_ROWS, STEPS_PER_ROW, stepsOf } from './steps.ts'

/** /metrics, the desk's Today and the lists of operators cost no more with many records than with few (contract C4). */

const LIMIT = 20
const STEPS_MAX = (LIMIT + SPARE_ROWS) * STEPS_PER_ROW
const HASH = '0'.repeat(64)

/** All that waits, fails and runs low does so for all records. */
const TROUBLE = (count: number) => `
  INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (1, 'one', '', 1, 1), (2, 'two', '', 1, 1);
  UPDATE payouts SET due_at_ms = 1, due_event = 'expired';
  UPDATE orders SET due_at_ms = 1;
  UPDATE wallets SET is_low = 1;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO webhooks
    (id, client_id, name, url, events, signing, active, secret, failing_since_ms, created_at_ms, updated_at_ms)
    SELECT 'whk_' || i, 1, '', '', '[]', 'standard', 1, x'', i, 1, 1 FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO audit
    (id, at_ms, user, command, subject, outcome, previous_hash, hash)
    SELECT i, i, iif(i < 3, 'root by ada', 'root'), iif(i < 3, 'restore', iif(i % 10, 'wallet fund', 'backup')), 'x', iif(i % 7 OR i > ${count} - 20, 'done', 'refused'), '${HASH}', '${HASH}' FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO voucher_stock
    (id, product_id, denomination_minor, fingerprint, sealed) SELECT i, 1, 100, i, x'' FROM n;
  UPDATE stock_published SET up_to_id = ${count};`

const READS: [what: string, read: (query: Query) => unknown][] = [
  ['orders that are due', countDueOrders],
  ['payouts that are due', countDuePayouts],
  ['orders that wait', (query) => openOrders(query, LIMIT)],
  ['the sums of the payouts that wait', (query) => waitingPayouts(query, {}).sums?.()],
  ['wallets that are low', (query) => [countLow(query), ...lowWallets(query, { limit: LIMIT })]],
  ['the debits of a wallet since a day', (query) => debitedSince(query, 1, 0)],
  ['the balance of a wallet before a time', (query) => balanceBefore(query, { id: 1 } as never, 500)],
  ['webhooks that fail', (query) => [failingSinceMs(query), failingWebhooks(query, LIMIT)]],
  ['the last backup', (query) => lastDoneMs(query, 'backup')],
  ['backups that failed since then', (query) => refusedSinceDone(query, 'backup')],
  ['the stock', (query) => stockReport(query, 1)],
]

type List = (query: Query, narrowing: Narrowing) => Rows<unknown>

/** Each list with its statuses: a frequent one, a rare one, and one without a record. */
const LISTS: [name: string, list: List, statuses: readonly string[]][] = [
  ['payouts', payoutsOf, ['created', 'failed', 'queued']],
  ['payouts that wait', waitingPayouts, []],
  ['orders', ordersOf, ['PENDING', 'FAILED', 'DELIVERED']],
  ['transactions', transactionsOf, ['COMPLETED', 'FAILED']],
  ['transactions of a wallet', (query, narrowing) => transactionsOf(query, narrowing, 1), []],
  ['transactions of a wallet with few', (query, narrowing) => transactionsOf(query, narrowing, 2), []],
  ['beneficiaries', beneficiariesOf, []],
  ['beneficiaries with an e-mail', (query, narrowing) => beneficiariesOf(query, narrowing, '17'), []],
  ['wallets', walletsOf, []],
  ['events', eventsOf, []],
  ['deliveries', (query, narrowing) => attemptsTo(query, 'whk_1', narrowing), []],
  ['acts', auditRows, ['done', 'refused']],
  ['acts of a command', (query, narrowing) => auditRows(query, narrowing, { command: 'restore' }), ['done']],
  ['acts of a person', (query, narrowing) => auditRows(query, narrowing, { user: 'ada' }), ['done']],
  ['acts of most', (query, narrowing) => auditRows(query, narrowing, { user: 'root', command: 'wallet' }), []],
]

/** The lists whose records have different times. */
const TIMED = ['payouts', 'beneficiaries', 'transactions', 'events', 'acts']
const [SINCE_MS, UNTIL_MS] = [400, 450]

describe.skipIf(Bun.which('sqlite3') === null)('operators read', () => {
  const folder = temporaryFolder()
  const databases = new Map<string, Database>()
  beforeAll(() => {
    for (const size of SIZES) {
      const file = join(folder.path, `${size}.sqlite`)
      const database = Database.openFile(file)
      fill(database, size)
      database.sqlite.run(TROUBLE(size))
      databases.set(file, database)
    }
  })
  afterAll(() => {
    for (const database of databases.values()) database.close()
    folder[Symbol.dispose]()
  })

  const stepsFor = async (read: (query: Query) => unknown): Promise<number[]> => {
    const steps: number[] = []
    for (const [file, database] of databases) {
      const { query, statements } = observed(database)
      read(query)
      steps.push(...(await stepsOf(file, [{ statements }])))
    }
    return steps
  }

  test.each(READS)('%s in as few steps', async (_, read) => {
    for (const steps of await stepsFor(read)) expect(steps).toBeWithin(1, STEPS_MAX)
  })

  test.each(LISTS)('a page of %s and its total, whatever narrows them', async (name, list, statuses) => {
    const narrowings: Narrowing[] = [{}, { clientId: 1 }, { clientId: 2 }]
    for (const status of statuses) narrowings.push({ status }, { status, clientId: 1 })
    if (TIMED.includes(name)) {
      const period = { sinceMs: SINCE_MS, untilMs: UNTIL_MS }
      narrowings.push(period, { ...period, clientId: 1 }, { ...period, clientId: 2 })
    }
    for (const one of narrowings) {
      const narrowing = { ...one, newestFirst: true, limit: LIMIT }
      const read = (query: Query) => {
        const rows = list(query, narrowing)
        expect([...rows].length).toBe(Math.min(rows.count(), LIMIT))
      }
      const steps = await stepsFor(read)
      expect([name, one, steps.filter((count) => count > STEPS_MAX)]).toEqual([name, one, []])
    }
  })
})
