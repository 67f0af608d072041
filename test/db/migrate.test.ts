import { Database as SqliteDatabase } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { MIGRATIONS, migrate } from '../../src/db/migrate.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { DataFault } from '../../src/kernel/exit.ts'

const at = (timeMs: number): Clock => ({ nowMs: () => timeMs })
const NEW_YEAR = at(Date.UTC(2030, 0, 1))
const NEXT_YEAR = at(Date.UTC(2031, 0, 1))

/** The migrations of a release after this one. */
const NEXT = [...MIGRATIONS, { name: '0002_next', sql: 'ALTER TABLE seeds ADD COLUMN note TEXT' }]
const FAILING = [...MIGRATIONS, { name: '0002_failing', sql: 'CREATE TABLE next (id) STRICT' }]

const stateOf = (sqlite: SqliteDatabase) => ({
  applied: sqlite.query('SELECT * FROM migrations ORDER BY version').all(),
  schema: sqlite.query('SELECT sql FROM sqlite_schema ORDER BY type, name').values(),
  seeds: sqlite.query('SELECT name, sha256 FROM seeds').values(),
})

const migrated = (migrations = MIGRATIONS) => {
  const sqlite = new SqliteDatabase(':memory:', { strict: true })
  migrate(sqlite, NEW_YEAR, migrations)
  sqlite.run("INSERT INTO seeds (name, sha256) VALUES ('kept', 'digest')")
  return sqlite
}

const recorded = (version: number, name: string, year: number) => ({
  version,
  name,
  sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  applied_at: `${year}-01-01T00:00:00.000Z`,
})

describe('migrations', () => {
  test('are applied once, and recorded with digest and time', () => {
    const sqlite = migrated()
    const before = stateOf(sqlite)
    expect(before.applied).toEqual([recorded(1, '0001_schema', 2030)])
    migrate(sqlite, NEXT_YEAR)
    expect(stateOf(sqlite)).toEqual(before)
  })

  test('are applied to the database of an earlier release without losing rows', () => {
    const sqlite = migrated()
    migrate(sqlite, NEXT_YEAR, NEXT)
    const { applied, seeds, schema } = stateOf(sqlite)
    expect(applied).toEqual([recorded(1, '0001_schema', 2030), recorded(2, '0002_next', 2031)])
    expect(seeds).toEqual([['kept', 'digest']])
    expect(schema).toEqual(stateOf(migrated(NEXT)).schema)
  })

  test('change nothing if one of them fails', () => {
    const sqlite = migrated()
    const before = stateOf(sqlite)
    expect(() => migrate(sqlite, NEXT_YEAR, FAILING)).toThrow('next.id')
    expect(stateOf(sqlite)).toEqual(before)
  })

  test.each([
    ['newer', migrated(NEXT), MIGRATIONS, 'the database is at schema 2, and this program knows schemas up to 1'],
    [
      'of a build before the first release',
      ofEarlierBuild(),
      MIGRATIONS,
      'a build before the first release, or changed',
    ],
    ['without one of them', withoutFirst(), NEXT, 'migration 1 of the database is not recorded'],
  ])('refuse a database that is %s, without changing it', (_, sqlite, known, message) => {
    const before = stateOf(sqlite)
    expect(() => migrate(sqlite, NEXT_YEAR, known)).toThrow(DataFault)
    expect(() => migrate(sqlite, NEXT_YEAR, known)).toThrow(message)
    expect(stateOf(sqlite)).toEqual(before)
  })
})

function ofEarlierBuild(): SqliteDatabase {
  return migrated([{ name: '0001_foundation', sql: 'CREATE TABLE seeds (name TEXT, sha256 TEXT) STRICT' }])
}

function withoutFirst(): SqliteDatabase {
  const sqlite = migrated(NEXT)
  sqlite.run('DELETE FROM migrations WHERE version = 1')
  return sqlite
}
