import { Database as SqliteDatabase } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { migrate, SchemaMismatch } from '../../src/db/migrate.ts'
import type { Clock } from '../../src/kernel/clock.ts'

const at = (timeMs: number): Clock => ({ nowMs: () => timeMs })
const NEW_YEAR = at(Date.UTC(2030, 0, 1))

interface Applied {
  version: number
  name: string
  sha256: string
  applied_at: string
}
const appliedTo = (sqlite: SqliteDatabase) =>
  sqlite.query<Applied, []>('SELECT * FROM migrations ORDER BY version').all()
const schemaOf = (sqlite: SqliteDatabase) =>
  sqlite.query<{ sql: string | null }, []>('SELECT sql FROM sqlite_schema ORDER BY type, name').all()

const migrated = () => {
  const sqlite = new SqliteDatabase(':memory:', { strict: true })
  migrate(sqlite, NEW_YEAR)
  return sqlite
}

describe('migrations', () => {
  test('are applied in order, and recorded with digest and time', () => {
    const applied = appliedTo(migrated())
    expect(applied.length).toBeGreaterThan(0)
    expect(applied.map(({ version }) => version)).toEqual(applied.map((_, index) => index + 1))
    for (const { version, ...row } of applied) {
      expect(row).toEqual({
        name: expect.stringMatching(new RegExp(`^${String(version).padStart(4, '0')}_[a-z_]+$`)),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        applied_at: '2030-01-01T00:00:00.000Z',
      })
    }
  })

  test('are applied once', () => {
    const sqlite = migrated()
    const before = { applied: appliedTo(sqlite), schema: schemaOf(sqlite) }
    migrate(sqlite, at(Date.UTC(2031, 0, 1)))
    expect({ applied: appliedTo(sqlite), schema: schemaOf(sqlite) }).toEqual(before)
  })

  test('are applied to the database of an earlier release without losing rows', () => {
    const whole = migrated()
    const [first] = appliedTo(whole)
    const sqlite = new SqliteDatabase(':memory:', { strict: true })
    const foundation = schemaAsOf(1)
    sqlite.run(foundation.sql)
    sqlite.run('INSERT INTO seeds (name, sha256) VALUES (?, ?)', ['kept', 'digest'])
    sqlite.run(
      'CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT',
    )
    sqlite.run('INSERT INTO migrations VALUES (1, ?, ?, ?)', [foundation.name, first?.sha256 ?? '', 'long ago'])
    migrate(sqlite, NEW_YEAR)
    expect(appliedTo(sqlite).map(({ applied_at }) => applied_at)).toEqual([
      'long ago',
      ...appliedTo(whole)
        .slice(1)
        .map(() => '2030-01-01T00:00:00.000Z'),
    ])
    expect(schemaOf(sqlite)).toEqual(schemaOf(whole))
    expect(sqlite.query('SELECT sha256 FROM seeds').values()).toEqual([['digest']])
  })

  test('make transactions of an earlier release searchable, in lower case of any script', () => {
    const sqlite = databaseAsOf(3)
    sqlite.run(`
      INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (1, 'acme', '', 1, 0);
      INSERT INTO currencies VALUES (139, 'US Dollar', 'USD', 2);
      INSERT INTO wallets (id, client_id, currency_id, type, amount_minor, credit_limit_minor, is_default, created_at_ms, updated_at_ms)
        VALUES (1, 1, 139, 'PREPAID', 0, 0, 1, 0, 0);
      INSERT INTO journal_entries VALUES (1, 'funding', NULL, 0);`)
    const insert =
      sqlite.query(`INSERT INTO transactions (wallet_id, client_id, entry_id, amount_minor, transaction_type,
      status, balance_after_minor, source_type, source_id, remarks, created_at_ms, amount_rank)
      VALUES (1, 1, 1, 1, 'CREDIT', 'COMPLETED', 1, 'funding', ?, ?, 0, 0.01)`)
    for (const [sourceId, remarks] of [
      ['PYT_1', null],
      [null, 'École Ünal'],
      ['7', 'Bonus'],
    ]) {
      insert.run(sourceId ?? null, remarks ?? null)
    }
    migrate(sqlite, NEW_YEAR)
    expect(sqlite.query('SELECT search_folded FROM transactions ORDER BY id').values()).toEqual([
      ['pyt_1\0'],
      ['\0école ünal'],
      ['7\0bonus'],
    ])
    expect(() => sqlite.run("UPDATE transactions SET remarks = 'Another'")).toThrow('transactions are final')
  })

  test('keep the balances of an earlier release', () => {
    const sqlite = databaseAsOf(7)
    sqlite.run(`
      INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (1, 'acme', '', 1, 0);
      INSERT INTO currencies VALUES (139, 'US Dollar', 'USD', 2);
      INSERT INTO wallets (id, client_id, currency_id, type, amount_minor, credit_limit_minor, is_default, created_at_ms, updated_at_ms)
        VALUES (1, 1, 139, 'PREPAID', 0, 0, 1, 0, 0);`)
    const line = sqlite.query(`INSERT INTO journal_lines (entry_id, account, wallet_id, currency_id, amount_minor)
      VALUES (?, ?, ?, 139, ?)`)
    const entry = sqlite.query("INSERT INTO journal_entries VALUES (?, 'funding', NULL, 0)")
    const post = (id: number) =>
      sqlite.transaction(() => {
        line.run(id, 'wallet', 1, 700)
        line.run(id, 'funding', null, -700)
        entry.run(id)
      })()
    const balances = () => sqlite.query('SELECT amount_minor, reserved_minor FROM wallets').values()
    post(1)
    migrate(sqlite, NEW_YEAR)
    expect(balances()).toEqual([[700, 0]])
    post(2)
    expect(balances()).toEqual([[700, 0]])
  })

  test('make the records of an earlier release searchable with either sigma, and keep their counts', () => {
    const sqlite = databaseAsOf(7)
    sqlite.run(`
      INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (1, 'acme', '', 1, 0);
      INSERT INTO beneficiaries VALUES
        ('ben_1', 1, 'A@X.GR', 'Νίκος', 'Παππάς', 'a@x.gr', 'νίκος', 'παππάς', NULL, NULL, '{}', 0, 0, NULL, 0);`)
    migrate(sqlite, NEW_YEAR)
    expect(sqlite.query('SELECT search_folded FROM beneficiaries').values()).toEqual([['a@x.gr\0νίκοσ παππάσ']])
    expect(sqlite.query('SELECT * FROM list_counts').values()).toEqual([['beneficiaries', 1, '', 0, 1]])
    sqlite.run('DELETE FROM beneficiaries')
    expect(sqlite.query('SELECT count FROM list_counts').values()).toEqual([[0]])
  })

  test('refuse a newer database without changing it', () => {
    const sqlite = migrated()
    const newest = appliedTo(sqlite).length + 1
    sqlite.run('INSERT INTO migrations VALUES (?, ?, ?, ?)', [newest, 'of_the_future', 'f'.repeat(64), 'later'])
    const before = { applied: appliedTo(sqlite), schema: schemaOf(sqlite) }
    expect(() => migrate(sqlite, NEW_YEAR)).toThrow(SchemaMismatch)
    expect(() => migrate(sqlite, NEW_YEAR)).toThrow(`the database is at schema ${newest}`)
    expect({ applied: appliedTo(sqlite), schema: schemaOf(sqlite) }).toEqual(before)
  })

  test('refuse a database with a different migration, and name it', () => {
    const sqlite = migrated()
    sqlite.run('UPDATE migrations SET sha256 = ? WHERE version = 1', ['0'.repeat(64)])
    expect(() => migrate(sqlite, NEW_YEAR)).toThrow(SchemaMismatch)
    expect(() => migrate(sqlite, NEW_YEAR)).toThrow('0001_foundation')
  })

  test('roll back if they fail', () => {
    const sqlite = new SqliteDatabase(':memory:', { strict: true })
    sqlite.run('CREATE TABLE wallets (id INTEGER PRIMARY KEY) STRICT')
    expect(() => migrate(sqlite, NEW_YEAR)).toThrow('wallets')
    expect(sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'table'").values()).toEqual([['wallets']])
  })
})

/** A database as the release with so many migrations left it. */
function databaseAsOf(version: number): SqliteDatabase {
  const sqlite = new SqliteDatabase(':memory:', { strict: true })
  sqlite.run(
    'CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT',
  )
  const applied = appliedTo(migrated()).slice(0, version)
  for (const { name, sha256 } of applied) {
    const { version } = appliedTo(sqlite).at(-1) ?? { version: 0 }
    sqlite.run(schemaAsOf(version + 1).sql)
    sqlite.run('INSERT INTO migrations VALUES (?, ?, ?, ?)', [version + 1, name, sha256, 'long ago'])
  }
  return sqlite
}

/** The text of a migration as it lies in the source. */
function schemaAsOf(version: number): { name: string; sql: string } {
  const folder = `${import.meta.dir}/../../src/db/migrations`
  const glob = new Bun.Glob(`${String(version).padStart(4, '0')}_*.sql`)
  const [file = ''] = [...glob.scanSync(folder)]
  const sql = new TextDecoder().decode(Bun.mmap(`${folder}/${file}`))
  return { name: file.replace('.sql', ''), sql }
}
