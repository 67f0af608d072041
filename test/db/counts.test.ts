import { Database as SqliteDatabase } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { COUNT_FAULTS, recount } from '../../src/db/counts.ts'
import { migrate } from '../../src/db/migrate.ts'
import { temporaryFolder } from '../program.ts'

/** Totals of payouts by client, status and currency, which triggers keep (decision 175). */

const payout = (id: string, status: string, currencyId: number, amountMinor: number) =>
  `INSERT INTO payouts (id, client_id, reference_id, status, wallet_id, currency_id, amount_minor, amount_rank, fees_minor, paid_minor,
    paid_amount_minor, beneficiary_total_minor, search_folded, beneficiary_identifiers, metadata, created_at_ms)
    VALUES ('${id}', 1, '${id}', '${status}', 1, ${currencyId}, ${amountMinor}, 1, 0, 1, 1, 1, '', '[]', '{}', 0)`

const opened = (file = ':memory:') => {
  const sqlite = new SqliteDatabase(file, { strict: true })
  migrate(sqlite, { nowMs: () => 0 })
  return sqlite
}
const countsIn = (sqlite: SqliteDatabase) =>
  sqlite.query('SELECT status, currency_id, n, amount_minor FROM payout_counts WHERE n <> 0').values()
const faultsIn = (sqlite: SqliteDatabase) => sqlite.query(COUNT_FAULTS).values().flat()

describe('the totals of payouts', () => {
  test('follow each insert, change and deletion, and an undone one', () => {
    using sqlite = opened()
    sqlite.run(payout('a', 'created', 1, 100))
    sqlite.run(payout('b', 'created', 1, 200))
    sqlite.run(payout('c', 'created', 2, 300))
    expect(countsIn(sqlite)).toEqual([
      ['created', 1, 2, 300],
      ['created', 2, 1, 300],
    ])
    sqlite.run("UPDATE payouts SET status = 'failed', description = 'late' WHERE id = 'a'")
    sqlite.run("UPDATE payouts SET description = 'later' WHERE id = 'b'")
    sqlite.run("DELETE FROM payouts WHERE id = 'c'")
    sqlite.run('SAVEPOINT dry')
    sqlite.run(payout('d', 'created', 3, 1))
    sqlite.run('ROLLBACK TO dry')
    sqlite.run('RELEASE dry')
    expect(countsIn(sqlite)).toEqual([
      ['created', 1, 1, 200],
      ['failed', 1, 1, 100],
    ])
    expect(faultsIn(sqlite)).toEqual([])
  })

  test('never refuse a record: a sum may leave the range of integers', () => {
    using sqlite = opened()
    for (const id of ['a', 'b']) sqlite.run(payout(id, 'created', 1, Number.MAX_SAFE_INTEGER))
    sqlite.run('UPDATE payout_counts SET amount_minor = 9223372036854775807')
    sqlite.run(payout('c', 'created', 1, 1))
    expect(countsIn(sqlite)).toEqual([['created', 1, 3, 2 ** 63]])
  })

  test('are found wrong by a recount, and made right by it', () => {
    using sqlite = opened()
    sqlite.run(payout('a', 'created', 1, 100))
    sqlite.run("INSERT INTO payout_counts VALUES (1, 'failed', 1, 2, 0)")
    sqlite.run('UPDATE payout_counts SET amount_minor = 99 WHERE n = 1')
    expect(faultsIn(sqlite)).toEqual([
      'payout_counts of 1 created 1 differ by 0, -1',
      'payout_counts of 1 failed 1 differ by 2, 0',
    ])
    recount(sqlite)
    expect(faultsIn(sqlite)).toEqual([])
    expect(countsIn(sqlite)).toEqual([['created', 1, 1, 100]])
  })

  test.skipIf(Bun.which('sqlite3') === null)('are loaded again whole from a dump of the sqlite3 command', async () => {
    using folder = temporaryFolder()
    const [file, loaded] = [join(folder.path, 'one.sqlite'), join(folder.path, 'two.sqlite')]
    using sqlite = opened(file)
    sqlite.run(payout('a', 'created', 1, 100))
    const dump = Bun.spawn(['sqlite3', file, '.dump'], { stdout: 'pipe' })
    const load = Bun.spawn(['sqlite3', loaded], { stdin: await new Response(dump.stdout).bytes(), stdout: 'pipe' })
    expect(await load.exited).toBe(0)
    const check = Bun.spawn(['sqlite3', loaded, `PRAGMA integrity_check; ${payout('b', 'created', 1, 1)}`])
    expect(await new Response(check.stdout).text()).toBe('ok\n')
    using again = new SqliteDatabase(loaded)
    expect(countsIn(again)).toEqual([['created', 1, 2, 101]])
    expect(faultsIn(again)).toEqual([])
    const schema = "SELECT name, sql FROM sqlite_schema WHERE name LIKE '%counts%' ORDER BY name"
    expect(again.query(schema).all()).toEqual(sqlite.query(schema).all())
  })
})
