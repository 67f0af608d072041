// Runs in process alone: it counts the steps of statements, which no response shows.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { administrationOf } from '../../src/acts/administration.ts'
import { auditRows, lastDoneMs, refusedSinceDone } from '../../src/audit/queries.ts'
import { todayOf } from '../../src/commands/desk/today.ts'
import { countDue as countDueOrders } from '../../src/orders/queries.ts'
import { stockReport } from '../../src/orders/stock-report.ts'
import { countDue } from '../../src/payouts/queries.ts'
import { countLow } from '../../src/wallets/queries.ts'
import { statementsOf } from '../../src/wallets/statement.ts'
import { transactionsOf } from '../../src/wallets/statement-queries.ts'
import { failingSinceMs } from '../../src/webhooks/queries.ts'
import { forFile } from '../harness.ts'
import { openLive } from '../orders/live.ts'
import { PAYEE } from '../records.ts'
import { watchStatements } from './watch.ts'

/** The statements that some work executes, with their values. */
let executed: string[] = []
watchStatements((sql, values) => {
  const left = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
  executed.push(sql.replaceAll('?', () => left.shift() ?? 'NULL'))
})

const STORED = 20_000
const live = forFile(await openLive())
const { sqlite, query } = live.database
await live.stock(1, '1', '2')
await live.order(1, 1)
await live.post('/payouts', { reference_id: 'one', wallet_id: 1, amount: 1, currency: 'USD', ...PAYEE })
await live.post('/webhooks', { name: 'one', url: 'https://example.com/', events: ['*'] })
sqlite.run(`INSERT INTO audit (id, at_ms, user, command, subject, outcome, act, previous_hash, hash) VALUES
  (1, 1, 'ada', 'backup', '', 'done', 'a1', hex(zeroblob(32)), hex(zeroblob(32))),
  (2, 2, 'ada', 'backup', '', 'refused', 'a2', hex(zeroblob(32)), hex(zeroblob(32)))`)

sqlite.run("INSERT INTO clients SELECT 2, 'other', '', NULL, NULL, 1, NULL, NULL, NULL, NULL, 0, 0, 0")
const HELD = '(SELECT amount_minor FROM wallets WHERE id = 1)'
/** A second wallet, which has no transactions. */
sqlite.run(`INSERT INTO wallets (id, client_id, currency_id, type, amount_minor, is_default, created_at_ms, updated_at_ms)
  SELECT 2, 1, currency_id, 'PREPAID', 0, 0, 0, 0 FROM wallets WHERE id = 1`)

/** Stores a row again and again, with other values in some columns; `n` is the number of the copy. */
const repeat = (table: string, values: Record<string, string>): void => {
  const columns = sqlite.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all()
  const chosen = columns.map(({ name }) => values[name] ?? `one."${name}"`).join(', ')
  sqlite.run(`WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < ${STORED})
    INSERT INTO ${table} SELECT ${chosen} FROM numbers, (SELECT * FROM ${table} LIMIT 1) AS one`)
}

/** The steps that the sqlite3 command takes for the statements of some work. */
const stepsOf = async (work: () => unknown): Promise<number> => {
  executed = []
  await work()
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const script = ['.stats on', ...executed.map((sql) => `${sql.replaceAll('\n', ' ')};`)].join('\n')
  const child = Bun.spawn(['sqlite3', '-readonly', join(live.folder, 'scrip.sqlite')], {
    stdin: new Blob([script]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect(stderr).toBe('')
  return Array.from(stdout.matchAll(/^Virtual Machine Steps: +(\d+)$/gm)).reduce((sum, [, n]) => sum + Number(n), 0)
}

const { worlds, reference } = live.deps
const world = worlds.default
const nowMs = () => world.clock.nowMs()

const month = { sinceMs: nowMs() - 86_400_000, untilMs: nowMs() + 86_400_000 }
const newest = { newestFirst: true, limit: 1 }

/** Each figure of `/metrics` that is read from the data, Today (contract C4), and lists that an index leads to. */
const FIGURES: [string, () => unknown][] = [
  ['the last backup', () => lastDoneMs(query, 'backup')],
  ['backups that failed', () => refusedSinceDone(query, 'backup')],
  ['due work', () => [countDue(query), countDueOrders(query)]],
  ['wallets that are low', () => countLow(query)],
  ['webhooks that fail', () => failingSinceMs(query)],
  ['stock', () => stockReport(query, nowMs())],
  ['the acts that were refused', () => [...auditRows(query, { status: 'refused', ...newest })]],
  ['the transactions of a wallet', () => [1, 2].map((wallet) => [...transactionsOf(query, newest, wallet)])],
  ['a statement', () => statementsOf(query, 1, month).map(({ transactions }) => [...transactions])],
  ['Today', () => todayOf({ ...administrationOf(world, reference), config: {} as never, database: live.database })],
]

describe.skipIf(Bun.which('sqlite3') === null)(
  'A figure takes as long with 20,000 records of each kind as with one:',
  () => {
    const before = new Map<string, number>()

    test('with one', async () => {
      for (const [name, read] of FIGURES) {
        before.set(name, await stepsOf(read))
      }
      expect([...before].filter(([, steps]) => steps === 0)).toEqual([])
      repeat('payouts', { id: "'pay_' || n", reference_id: "'r' || n", status: "'completed'", due_at_ms: 'NULL' })
      repeat('orders', { id: '1000 + n', reference: "'r' || n", status: "'DELIVERED'" })
      repeat('voucher_stock', { id: '1000 + n', fingerprint: "'f' || n", order_id: '1000 + n' })
      repeat('wallets', { id: '1000 + n', client_id: '2', is_default: '0' })
      repeat('webhooks', { id: "'whk_' || n", failing_since_ms: 'NULL' })
      repeat('audit', { id: '1000 + n', act: 'NULL', command: "'client add'" })
      const later = String(nowMs() + 40 * 86_400_000)
      const entry = { entry_id: '1000 + n' }
      sqlite.transaction(() => {
        repeat('journal_lines', { id: '100000 + n', ...entry, account: "'wallet'", wallet_id: '1', amount_minor: '1' })
        repeat('journal_lines', {
          id: '200000 + n',
          ...entry,
          account: "'funding'",
          wallet_id: 'NULL',
          amount_minor: '-1',
        })
        repeat('journal_entries', { id: '1000 + n', created_at_ms: later })
      })()
      repeat('transactions', { id: '1000 + n', created_at_ms: later, balance_after_minor: HELD, ...entry })
      sqlite.run('UPDATE stock_published SET up_to_id = 100000')
    })

    test.each(FIGURES)('%s', async (name, read) => {
      expect(await stepsOf(read)).toBeLessThanOrEqual(2 * (before.get(name) ?? 0))
    })
  },
)
