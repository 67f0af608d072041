import { expect } from 'bun:test'
import { isOfCounts } from '../../src/db/counts.ts'
import { type Database, queryOn } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'

/** The cost of statements in steps of SQLite's own machine, which do not depend on the speed of this one. */

/** A row takes some twenty steps. A row of a table may be read for each row of an index. */
export const STEPS_PER_ROW = 40
/** The rows that a page may visit besides those that it shows. */
export const SPARE_ROWS = 200
/** The number of records of each value that is rare. The oldest ones have it, so that a list of the newest finds them last. */
export const RARE = 3

export const SIZES = [1_000, 20_000]

/** Records of one client. The first ones have rare values. */
const RECORDS = (count: number) => `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO payouts
    (id, client_id, reference_id, status, wallet_id, currency_id, amount_minor, amount_rank, fees_minor, paid_minor, paid_amount_minor,
      beneficiary_total_minor, beneficiary_identifiers, search_folded, metadata, created_at_ms)
    SELECT printf('pyt_%08d', i), 1, i, iif(i <= ${RARE}, 'failed', 'created'), 1, iif(i > ${RARE} AND i <= 2 * ${RARE}, 2, 1), i, i % 100,
      0, 1, 1, 1, '[]', 'text ' || i, '{}', i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO beneficiaries
    SELECT printf('ben_%08d', i), 1, i, i, i, i, i % 100, i % 7, 'text ' || i, NULL, NULL, '{}', i % 10, i % 9, i, i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO transactions
    (id, wallet_id, client_id, currency_id, entry_id, amount_minor, transaction_type, status, balance_after_minor, source_type,
      created_at_ms, amount_rank, search_folded)
    SELECT i, iif(i <= ${RARE}, 2, 1), 1, iif(i <= ${RARE}, 2, 1), i, i, iif(i <= ${RARE}, 'CREDIT', 'DEBIT'), 'COMPLETED', 1,
      iif(i <= ${RARE}, 'funding', 'payout'), i, i % 100, 'text ' || i FROM n;
  INSERT INTO currencies VALUES (1, 'US Dollar', 'USD', 2), (2, 'Euro', 'EUR', 2);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO wallets
    (id, client_id, currency_id, type, amount_minor, is_default, closed_at_ms, created_at_ms, updated_at_ms)
    SELECT i, 1, iif(i <= ${RARE}, 2, 1), iif(i <= ${RARE}, 'POSTPAID', 'PREPAID'), i % 100, 0, iif(i <= ${RARE}, 1, NULL), 1, 1 FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO orders
    (id, client_id, reference, product_id, product_name, currency_id, denomination_minor, quantity, wallet_id, transaction_id, total_minor,
      discount_minor, net_minor, gst_minor, fee_minor, payable_minor, charges, search_folded, status, placed_at_ms)
    SELECT i, 1, 'r' || i, iif(i <= ${RARE}, 2, 1), 'Tea', 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1, '{}', '', iif(i <= ${RARE}, 'FAILED', 'PENDING'), 1
    FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO events
    (id, event_id, client_id, type, record, data, created_at_ms)
    SELECT i, 'evt_' || i, 1, iif(i <= ${RARE}, 'order.created', iif(i % 2, 'payout.created', 'payout.queued')), 'x', '{}', i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO webhook_deliveries
    (id, client_id, webhook_id, event_id, event_type, attempt, status, duration_ms, created_at_ms)
    SELECT i, 1, iif(i <= ${RARE}, 'whk_2', 'whk_1'), 'evt_' || i, 'payout.created', 1, 'delivered', 1, 1 FROM n;`

/** A connection that keeps the statements that it runs, with their values. */
export const observed = ({ sqlite }: Database) => {
  const statements: string[] = []
  const query = queryOn(
    new Proxy(sqlite, {
      get: (target, property) =>
        property === 'prepare' || property === 'query'
          ? (sql: string) => {
              const statement = target.prepare(sql)
              const run =
                (how: 'all' | 'get' | 'values') =>
                (...values: never[]) => {
                  statements.push(inlined(sql, [...values]))
                  return statement[how](...values)
                }
              return { all: run('all'), get: run('get'), values: run('values') }
            }
          : Reflect.get(target, property, target),
    }),
  )
  return { query, statements }
}

const inlined = (sql: string, values: unknown[]): string =>
  sql.replaceAll('?', () => {
    const value = values.shift()
    return typeof value === 'string' ? `'${value}'` : String(value)
  })

/** Only counts are kept: the other triggers refuse records without a ledger. */
export const fill = ({ sqlite }: Database, size: number): void => {
  migrate(sqlite, { nowMs: () => 0 })
  sqlite.run('PRAGMA foreign_keys = OFF')
  const triggers = sqlite.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
  for (const { name } of triggers.all()) if (!isOfCounts(name)) sqlite.run(`DROP TRIGGER ${name}`)
  sqlite.run(RECORDS(size))
}

/** The steps that the sqlite3 command takes for the statements of each page. */
export const stepsOf = async (file: string, pages: readonly { statements: readonly string[] }[]): Promise<number[]> => {
  const script = pages.flatMap(({ statements }) => [...statements.map((sql) => `${sql};`), '.print next'])
  const command = Bun.spawn(['sqlite3', '-readonly', file], {
    stdin: new Blob(['.stats on\n', script.join('\n')]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([command.stdout.text(), command.stderr.text()])
  expect(errors).toBe('')
  expect(await command.exited).toBe(0)
  const steps = (part: string) =>
    Array.from(part.matchAll(/^Virtual Machine Steps: +(\d+)$/gm), ([, count]) => Number(count))
  return output
    .split(/^next$/m)
    .slice(0, pages.length)
    .map((part) => steps(part).reduce((sum, count) => sum + count, 0))
}
