// Runs with --all alone: it takes long.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { MINUTE_MS, SECOND_MS, systemClock } from '../../src/kernel/clock.ts'
import { Outage } from '../../src/kernel/outage.ts'
import { RecordServer } from '../../src/replication/server.ts'
import { createDatabase } from '../../src/start/folder.ts'
import { POSTGRES, Postgres } from '../postgres.ts'
import { temporaryFolder } from '../program.ts'

/** What the log says while PostgreSQL is away (contract C18). */

const logInto = (lines: string[]) => {
  const write = (message: string): void => void lines.push(message)
  return { info: write, warn: write, error: write }
}
const AWAY = 'the record cannot be used'
const BACK = 'the record can be used again'

test('an outage is a line a minute, and its end is one', () => {
  const lines: string[] = []
  let nowMs = 0
  const outage = new Outage(logInto(lines), { on: AWAY, over: BACK }, () => nowMs)
  const last = (forMs: number): void => {
    for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += SECOND_MS) outage.seen('no answer')
  }
  outage.over()
  last(3 * MINUTE_MS)
  expect(lines).toEqual([AWAY, AWAY, AWAY])
  outage.over()
  outage.over()
  expect(lines.splice(0)).toEqual([AWAY, AWAY, AWAY, BACK])
  last(SECOND_MS)
  expect(lines).toEqual([AWAY])
})

describe.skipIf(POSTGRES === undefined)('a server whose record can be read, and not written', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await Postgres.start()
  })
  afterAll(() => postgres[Symbol.asyncDispose]())

  test('says so once, and that it can be written again', async () => {
    const url = await postgres.create('unwritten')
    const sql = (text: string) => postgres.sql(text, 'unwritten')
    using folder = temporaryFolder()
    const lines: string[] = []
    const server = () =>
      RecordServer.open({
        target: parsePostgresUrl(url),
        dataDir: folder.path,
        signingKey: new Uint8Array(32),
        release: '1',
        log: logInto(lines),
      })
    const active = Promise.withResolvers<void>()
    const roles = {
      url: 'http://one',
      create: () => createDatabase(folder.path, 'live', systemClock),
      requireKeys: () => undefined,
      bringUpToDate: () => undefined,
      serve: () => active.resolve(),
      letGo: async () => undefined,
    }
    const first = await server()
    await first.start(roles)
    await first.stop()
    lines.length = 0

    const take = await sql("SELECT pg_get_functiondef('scrip.take'::regproc)")
    await sql('CREATE SEQUENCE scrip.tries')
    await sql(
      `CREATE OR REPLACE FUNCTION scrip.take(p_holder text, p_url text) RETURNS TABLE (epoch bigint, seq bigint, schema_version bigint)
        LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('scrip.tries'); RAISE EXCEPTION 'read only'; END $$`,
    )
    const second = await server()
    const started = second.start(roles)
    while (Number((await sql('SELECT last_value FROM scrip.tries'))[0]) < 3) await Bun.sleep(20)
    expect(lines).toEqual([AWAY])
    await sql(take.join('\n'))
    await started
    await active.promise
    expect(lines).toEqual([AWAY, BACK, 'active'])
    await second.stop()
  })
})
