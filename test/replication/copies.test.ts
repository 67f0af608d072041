// Runs with --all alone: it takes long.

import { Database as SqliteDatabase } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COUNT_FAULTS } from '../../src/db/counts.ts'
import { SCHEMA_VERSION } from '../../src/db/migrate.ts'
import { HOUR_MS } from '../../src/kernel/clock.ts'
import { compareCopy } from '../../src/replication/compare.ts'
import { CopyUnfit } from '../../src/replication/copy-check.ts'
import { FollowingCopy } from '../../src/replication/follower.ts'
import { Lease } from '../../src/replication/lease.ts'
import { pullCopy } from '../../src/replication/pull.ts'
import { POSTGRES, Postgres } from '../postgres.ts'
import { temporaryFolder } from '../program.ts'
import { CLIENT, CURRENCY, openInstallation, wallet } from './opened.ts'

/** Copies that follow PostgreSQL, against a real PostgreSQL (contract C18). */

describe.skipIf(POSTGRES === undefined)('a copy', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await Postgres.start()
  })
  afterAll(() => postgres[Symbol.asyncDispose]())
  afterEach(() => void setSystemTime())

  /** An installation, and a copy in a folder of its own. */
  const open = async () => {
    const installation = await openInstallation(postgres)
    const folder = temporaryFolder()
    await pullCopy(installation.connection, folder.path, { schemaVersion: SCHEMA_VERSION, isStopped: () => false })
    const path = join(folder.path, 'scrip.sqlite')
    const copy = new FollowingCopy(path)
    return {
      installation,
      path,
      copy,
      follow: async () => {
        while (await copy.follow(installation.connection.ask));
      },
      differences: async () => (await compareCopy(installation.connection, path)).filter(({ first }) => first),
      [Symbol.dispose]: () => {
        copy[Symbol.dispose]()
        folder[Symbol.dispose]()
        installation[Symbol.dispose]()
      },
    }
  }

  /** More than one part of a commit. */
  const MANY = `INSERT INTO seeds WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    SELECT 'seed ' || i, hex(zeroblob(100)) FROM n`
  const counted = (path: string) =>
    new SqliteDatabase(path).query<{ count: number }, []>('SELECT count(*) AS count FROM seeds').get()?.count

  test('has every part of a unit of work, as PostgreSQL has it', async () => {
    using opened = await open()
    const { installation, copy } = opened
    await installation.run(MANY)
    const parts = await installation.sql('SELECT seq FROM scrip.changes WHERE seq > 1 ORDER BY seq')
    expect(parts.length).toBeGreaterThan(2)
    expect(parts).toEqual(parts.map((_, index) => String(index + 2)))
    expect(installation.gate.seq).toBe(parts.length + 1)
    expect(await installation.sql('SELECT max(seq) FROM scrip.changes')).toEqual(parts.slice(-1))
    await installation.run("INSERT INTO seeds VALUES ('next', '')")
    await opened.follow()
    expect(copy.position).toMatchObject({ seq: parts.length + 2, epoch: 1 })
    expect(counted(opened.path)).toBe(60_001)
    expect(await opened.differences()).toEqual([])
  })

  test('keeps its own totals, which PostgreSQL does not have', async () => {
    using opened = await open()
    const { installation, path } = opened
    const payout = (id: string) =>
      `INSERT INTO payouts (id, client_id, reference_id, status, wallet_id, currency_id, amount_minor, amount_rank, fees_minor,
        paid_minor, paid_amount_minor, beneficiary_total_minor, search_folded, beneficiary_identifiers, metadata, created_at_ms)
        VALUES ('${id}', 1, '${id}', 'created', 1, 1, 100, 1, 0, 1, 1, 1, '', '[]', '{}', 0)`
    const totals = (file: string) => {
      using sqlite = new SqliteDatabase(file)
      expect(sqlite.query(COUNT_FAULTS).all()).toEqual([])
      return sqlite.query('SELECT status, n, amount_minor FROM payout_counts WHERE n > 0').values()
    }
    await installation.run(CURRENCY, CLIENT, wallet(1, 1), ...['a', 'b', 'c'].map(payout))
    await opened.follow()
    await installation.run("UPDATE payouts SET status = 'failed' WHERE id = 'a'", "DELETE FROM payouts WHERE id = 'b'")
    // A row that takes the place of another one is written over it.
    await installation.run("UPDATE payouts SET reference_id = 'd', description = 'x' WHERE id = 'c'", payout('e'))
    await opened.follow()
    const expected = [
      ['created', 2, 200],
      ['failed', 1, 100],
    ]
    expect(totals(installation.path)).toEqual(expected)
    expect(totals(path)).toEqual(expected)
    using folder = temporaryFolder()
    await pullCopy(installation.connection, folder.path, { schemaVersion: SCHEMA_VERSION, isStopped: () => false })
    expect(totals(join(folder.path, 'scrip.sqlite'))).toEqual(expected)
    expect(await installation.sql("SELECT relname FROM pg_class WHERE relname LIKE '%\\_counts%'")).toEqual([])
    expect(await installation.sql("SELECT seq FROM scrip.changes WHERE rows::text LIKE '%\\_counts%'")).toEqual([])
  })

  test('has no part of a unit of work whose last part PostgreSQL refuses', async () => {
    using opened = await open()
    const { installation } = opened
    await installation.sql("ALTER TABLE scrip.seeds ADD CHECK (name <> 'seed 60000')")
    expect(await installation.run(MANY).catch((error: unknown) => error)).toBeInstanceOf(Error)
    expect(await installation.sql('SELECT max(seq) FROM scrip.changes')).toEqual(['1'])
    expect(counted(installation.path)).toBe(0)
    await installation.run("INSERT INTO seeds VALUES ('next', '')")
    await opened.follow()
    expect(counted(opened.path)).toBe(1)
    expect(await opened.differences()).toEqual([])
  })

  test('has the last version of a row that was deleted and inserted again in one commit', async () => {
    using opened = await open()
    const { installation } = opened
    const rowsOf = (path: string) => new SqliteDatabase(path).query('SELECT name, sha256 FROM seeds').all()
    await installation.run("INSERT INTO seeds VALUES ('a', '1')")
    await opened.follow()
    await installation.run("DELETE FROM seeds WHERE name = 'a'", "INSERT INTO seeds VALUES ('a', '2')")
    await opened.follow()
    expect(rowsOf(opened.path)).toEqual([{ name: 'a', sha256: '2' }])
    await installation.run("UPDATE seeds SET name = 'b' WHERE name = 'a'", "INSERT INTO seeds VALUES ('a', '3')")
    await installation.run("DELETE FROM seeds WHERE name = 'a'", "UPDATE seeds SET name = 'a' WHERE name = 'b'")
    await opened.follow()
    expect(rowsOf(opened.path)).toEqual([{ name: 'a', sha256: '2' }])
    expect(await installation.sql('SELECT name, sha256 FROM scrip.seeds')).toEqual(['a|2'])
    expect(await opened.differences()).toEqual([])
  })

  test('forgets a person who is erased in PostgreSQL, to the last byte of its files', async () => {
    using opened = await open()
    const { installation, path } = opened
    const person = 'ada.lovelace@example.com'
    const holders = () =>
      [path, `${path}-wal`].filter((file) => existsSync(file) && readFileSync(file).includes(person))
    await installation.run(`INSERT INTO seeds VALUES ('${person}', '')`)
    await opened.follow()
    expect(holders()).not.toEqual([])
    const erased = installation.database.write(() => {
      installation.database.sqlite.run(`UPDATE seeds SET name = 'erased' WHERE name = '${person}'`)
      installation.gate.eraseChanges()
    })
    await erased
    await opened.follow()
    expect(holders()).toEqual([])
    expect(
      await installation.sql(`SELECT seq FROM scrip.changes WHERE rows::text LIKE '%${person}%' AND seq < 3`),
    ).toEqual([])
    expect(await opened.differences()).toEqual([])
  })

  test('reports rows that PostgreSQL has lost, also after further commits there', async () => {
    using opened = await open()
    const { installation, copy } = opened
    await installation.run("INSERT INTO seeds VALUES ('lost', '')")
    await opened.follow()
    await installation.sql("UPDATE scrip.changes SET at = at - interval '1 second', epoch = 0 WHERE seq = 2")
    await installation.run("INSERT INTO seeds VALUES ('next', '')")
    const fault = await copy.follow(installation.connection.ask).catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(CopyUnfit)
    expect(fault).toMatchObject({ isAhead: true, message: expect.stringContaining('commit 2 of the copy differs') })
    expect(copy.position.seq).toBe(2)
  })

  test('is served by a machine whose clock is an hour behind, or ahead', async () => {
    using opened = await open()
    const { installation } = opened
    await installation.run("INSERT INTO seeds VALUES ('before', '')")
    let holder = installation.lease
    for (const byMs of [-HOUR_MS, HOUR_MS]) {
      setSystemTime(Date.now() + byMs)
      const other = new Lease({
        connection: installation.connection,
        holder: `clock ${byMs}`,
        url: undefined,
        onLost: () => undefined,
      })
      expect(await other.take()).toBeUndefined()
      expect(holder.isGood).toBe(false) // as when its machine has slept, until the next beat
      await holder.free()
      expect(await other.take()).toMatchObject({ seq: 2 })
      expect(other.isGood).toBe(true)
      expect(await holder.take()).toBeUndefined()
      holder = other
    }
    await holder.free()
  })
})
