// Runs with --all alone: it takes long.

import { Database as SqliteDatabase } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { getPosition } from '../../src/db/copy-position.ts'
import { SCHEMA_VERSION } from '../../src/db/migrate.ts'
import { DomainError } from '../../src/kernel/failure.ts'
import { compareCopy } from '../../src/replication/compare.ts'
import type { Ask } from '../../src/replication/connection.ts'
import { FollowingCopy } from '../../src/replication/follower.ts'
import { checkServer } from '../../src/replication/installation.ts'
import { Lease } from '../../src/replication/lease.ts'
import { pullCopy } from '../../src/replication/pull.ts'
import { POSTGRES, Postgres } from '../postgres.ts'
import { temporaryFolder } from '../program.ts'
import { CLIENT, CURRENCY, openInstallation, wallet } from './opened.ts'

/** The gate, the lease and followers, against a real PostgreSQL (contract C18). */

const SCHEMA = SCHEMA_VERSION
const SEEDS = sqliteTable('seeds', { name: text('name').primaryKey() })

/** Sets the time of the last beat. */
const beatAt = (time: string) => `SELECT setval('scrip.last_beat', (extract(epoch FROM ${time}) * 1000000)::bigint)`

describe.skipIf(POSTGRES === undefined)('an installation', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await Postgres.start()
  })
  afterAll(() => postgres[Symbol.asyncDispose]())

  const open = () => openInstallation(postgres)
  /** Waits until PostgreSQL has a row, whether the copy knows it or not. */
  const recorded = async ({ sql }: Awaited<ReturnType<typeof open>>, name: string): Promise<void> => {
    while ((await sql(`SELECT 1 FROM scrip.seeds WHERE name = '${name}'`)).length === 0) await Bun.sleep(5)
  }

  test('holds the rows of a unit of work when it is acknowledged, and nobody reads them before', async () => {
    using installation = await open()
    const isThere = () => installation.database.query.select().from(SEEDS).all()
    expect(isThere()).toEqual([])
    installation.network.cut('responses')
    const written = installation.run("INSERT INTO seeds VALUES ('a', 'b')")
    await recorded(installation, 'a')
    expect(isThere()).toEqual([])
    installation.network.cut()
    await written
    expect(isThere()).toEqual([{ name: 'a' }])
    expect(await installation.sql('SELECT name, sha256 FROM scrip.seeds')).toEqual(['a|b'])
    expect(getPosition(installation.database.sqlite).seq).toBe(2)
    // PostgreSQL has waited for its disk: the copy does not wait for a second one.
    expect(installation.database.sqlite.query('PRAGMA synchronous').get()).toEqual({ synchronous: 1 })
    expect(await installation.sql('SELECT seq, epoch, rows FROM scrip.changes WHERE seq = 2')).toEqual([
      '2|1|{"seeds":[{"name":"a","sha256":"b"}]}',
    ])
  })

  test('reports to a copy that it is behind, also if its rows contradict the missing ones', async () => {
    using installation = await open()
    await installation.run(CLIENT)
    const bob = `(SELECT json_agg(to_jsonb(c) || '{"id":2,"username":"bob"}') FROM scrip.clients AS c)`
    const rows = `json_build_object('clients', ${bob})::text`
    await installation.sql(`SELECT scrip.commit(epoch, 3, ${rows}, false, true) FROM scrip.fence`)
    const written = installation.run(CLIENT.replace("1, 'ada'", "3, 'bob'"))
    await expect(written).rejects.toMatchObject({ failure: { code: 'unavailable' } })
    expect(installation.behind.map(String)).toEqual([
      expect.stringContaining('the record has a commit 3 that this copy lacks'),
    ])
    expect(await installation.sql('SELECT id, username FROM scrip.clients ORDER BY id')).toEqual(['1|ada', '2|bob'])
  })

  test('leaves an error of the work itself alone, whatever its text, and keeps the connection', async () => {
    using installation = await open()
    const { connection } = installation
    const backend = () => connection.ask('SELECT pg_backend_pid() AS pid')
    const before = await backend()
    const work = connection.transaction('ISOLATION LEVEL READ COMMITTED', 5_000, () => {
      throw new Error('nothing within')
    })
    await expect(work).rejects.toThrow(/^nothing within$/)
    expect(await backend()).toEqual(before)
  })

  test('has the values of SQLite: NUL, its escape, bytes, fractions and large numbers', async () => {
    using installation = await open()
    await installation.run(
      "INSERT INTO seeds VALUES ('nul', 'a' || char(0) || 'b'), ('escape', '␀0 ␀ \\u0000'), ('quote', '\"''\\')",
      "INSERT INTO voucher_stock (id, product_id, denomination_minor, fingerprint, sealed) VALUES (1, 1, 9007199254740993, 'f', x'00ff5c')",
    )
    expect(await installation.sql("SELECT sha256 FROM scrip.seeds WHERE name = 'nul'")).toEqual(['a␀0b'])
    expect(await installation.sql('SELECT denomination_minor, sealed FROM scrip.voucher_stock')).toEqual([
      '9007199254740993|\\x00ff5c',
    ])
    using folder = temporaryFolder()
    await pullCopy(installation.connection, folder.path, { schemaVersion: SCHEMA, isStopped: () => false })
    using copy = new SqliteDatabase(join(folder.path, 'scrip.sqlite'))
    expect(copy.query('SELECT name, hex(sha256) AS text FROM seeds ORDER BY name').all()).toEqual([
      { name: 'escape', text: Buffer.from('␀0 ␀ \\u0000').toString('hex').toUpperCase() },
      { name: 'nul', text: '610062' },
      { name: 'quote', text: Buffer.from('"\'\\').toString('hex').toUpperCase() },
    ])
    expect(copy.query('SELECT hex(sealed) AS sealed FROM voucher_stock').all()).toEqual([{ sealed: '00FF5C' }])
    expect(
      (await compareCopy(installation.connection, join(folder.path, 'scrip.sqlite'))).filter(({ first }) => first),
    ).toEqual([])
  })

  test('refuses one of several units of work that share a commit, and has the others', async () => {
    using installation = await open()
    await installation.sql("ALTER TABLE scrip.seeds ADD CHECK (name NOT LIKE '%@%')")
    const results = await Promise.allSettled(
      ['one', 'ada@example.com', 'two'].map((name) => installation.run(`INSERT INTO seeds VALUES ('${name}', '')`)),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await installation.sql('SELECT name FROM scrip.seeds ORDER BY name')).toEqual(['one', 'two'])
    expect(installation.database.sqlite.query('SELECT name FROM seeds ORDER BY name').all()).toEqual([
      { name: 'one' },
      { name: 'two' },
    ])
    // PostgreSQL logs the statements of errors.
    expect(readFileSync(join(postgres.folder, 'log'), 'utf8')).not.toContain('ada@example.com')
  })

  test('resolves a commit without a response: it was made, or never will be', async () => {
    using installation = await open()
    await installation.run("INSERT INTO seeds VALUES ('warm up', '')")
    installation.network.cut('responses')
    const made = installation.run("INSERT INTO seeds VALUES ('made', '')")
    await recorded(installation, 'made')
    installation.network.reset()
    installation.network.cut()
    await made
    expect(await installation.sql('SELECT name FROM scrip.seeds ORDER BY name')).toEqual(['made', 'warm up'])
    expect(installation.lease.epoch).toBeGreaterThan(1)
    installation.network.cut('requests')
    const lost = installation.run("INSERT INTO seeds VALUES ('lost', '')").catch((error: unknown) => error)
    await Bun.sleep(200)
    installation.network.reset()
    installation.network.cut()
    expect(await lost).toBeInstanceOf(DomainError)
    expect(await installation.sql('SELECT name FROM scrip.seeds ORDER BY name')).toEqual(['made', 'warm up'])
    await installation.run("INSERT INTO seeds VALUES ('next', '')")
    expect((await compareCopy(installation.connection, installation.path)).filter(({ first }) => first)).toEqual([])
  })

  test('refuses a server whose lease was taken, also when it does not know yet', async () => {
    using installation = await open()
    await installation.sql('UPDATE scrip.installation SET holder = NULL')
    await installation.sql("SELECT scrip.take('other', NULL)")
    const refused = await installation.run("INSERT INTO seeds VALUES ('late', '')").catch((error: unknown) => error)
    expect(refused).toMatchObject({ failure: { code: 'unavailable', headers: { 'Retry-After': '1' } } })
    expect(await installation.sql('SELECT count(*) FROM scrip.seeds')).toEqual(['0'])
    expect(installation.database.sqlite.query('SELECT count(*) AS count FROM seeds').get()).toEqual({ count: 0 })
    expect(installation.lease.isGood).toBe(false)
  })

  test('gives the lease to one holder, and to another when it is free or has run out', async () => {
    using installation = await open()
    const other = new Lease({
      connection: installation.connection,
      holder: 'other',
      url: undefined,
      onLost: () => undefined,
    })
    expect(await other.take()).toBeUndefined()
    await installation.lease.free()
    expect(await other.take()).toEqual({ epoch: 2, seq: 1, schemaVersion: SCHEMA })
    await other.free()
    await installation.sql(
      `UPDATE scrip.installation SET holder = 'gone'; ${beatAt("clock_timestamp() - interval '2.1 s'")}`,
    )
    expect(await other.take()).toMatchObject({ epoch: 3 })
    await other.free()
    await installation.sql(
      `UPDATE scrip.installation SET holder = 'gone'; ${beatAt("clock_timestamp() + interval '1 h'")}`,
    )
    expect(await other.take()).toMatchObject({ epoch: 4 })
    await other.free()
  })

  test('is followed by a copy, whose triggers stay on', async () => {
    using installation = await open()
    using folder = temporaryFolder()
    await pullCopy(installation.connection, folder.path, { schemaVersion: SCHEMA, isStopped: () => false })
    const path = join(folder.path, 'scrip.sqlite')
    await installation.run(CURRENCY, CLIENT, wallet(1, 1))
    await installation.run(
      "INSERT INTO beneficiaries VALUES ('ben_1', 1, 'a@b.c', 'A', 'B', 'a@b.c', 'a', 'b', '', NULL, NULL, '{}', 0, 0, NULL, 0)",
    )
    using copy = new FollowingCopy(path)
    expect(await copy.follow(installation.connection.ask)).toBe(false)
    expect(copy.position).toMatchObject({ installation: installation.name, seq: 3 })
    using sqlite = new SqliteDatabase(path)
    const triggers = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
    expect(sqlite.query(triggers).all()).toEqual(installation.database.sqlite.query(triggers).all())
    expect((await compareCopy(installation.connection, path)).filter(({ first }) => first)).toEqual([])
  })

  test('needs PostgreSQL 15 or newer', async () => {
    using installation = await open()
    const { ask } = installation.connection
    const as = (version: number) =>
      checkServer(async <Row extends object>(...question: Parameters<Ask>) =>
        (await ask<Row>(...question)).map((row) => ({ ...row, version })),
      )
    await expect(as(140_019)).rejects.toThrow('the record needs PostgreSQL 15 or newer, and this is 14\nUpgrade it')
    expect(await as(150_000)).toBe(true)
  })
})
