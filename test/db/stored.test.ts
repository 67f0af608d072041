// Runs in process alone: it counts the steps of statements, which no response shows.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { administrationOf } from '../../src/acts/administration.ts'
import { lastDoneMs, refusedSinceDone } from '../../src/audit/queries.ts'
import { todayOf } from '../../src/commands/desk/today.ts'
import { countDue as countDueOrders } from '../../src/orders/queries.ts'
import { stockReport } from '../../src/orders/stock-report.ts'
import { countDue } from '../../src/payouts/queries.ts'
import { countLow } from '../../src/wallets/queries.ts'
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

/** Each figure of `/metrics` that is read from the data, and Today (contract C4). */
const FIGURES: [string, () => unknown][] = [
  ['the last backup', () => lastDoneMs(query, 'backup')],
  ['backups that failed', () => refusedSinceDone(query, 'backup')],
  ['due work', () => [countDue(query), countDueOrders(query)]],
  ['wallets that are low', () => countLow(query)],
  ['webhooks that fail', () => failingSinceMs(query)],
  ['stock', () => stockReport(query, nowMs())],
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
      repeat('wallets', { id: '1000 + n', is_default: '0' })
      repeat('webhooks', { id: "'whk_' || n", failing_since_ms: 'NULL' })
      repeat('audit', { id: '1000 + n', act: 'NULL', command: "'client add'" })
      sqlite.run('UPDATE stock_published SET up_to_id = 100000')
    })

    test.each(FIGURES)('%s', async (name, read) => {
      expect(await stepsOf(read)).toBeLessThanOrEqual(2 * (before.get(name) ?? 0))
    })
  },
)
