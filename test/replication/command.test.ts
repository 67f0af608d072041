// Runs with --all alone: it takes long.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PostgresTarget, parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { Database } from '../../src/db/database.ts'
import { databasePath } from '../../src/folder/files.ts'
import { lockForServing } from '../../src/folder/lock.ts'
import { HOUR_MS, systemClock } from '../../src/kernel/clock.ts'
import { type CopyAccess, joinInstallation, type Needs } from '../../src/replication/command.ts'
import { Connection } from '../../src/replication/connection.ts'
import { gateTotals } from '../../src/replication/gate.ts'
import { createDatabase } from '../../src/start/folder.ts'
import { Network, POSTGRES, Postgres } from '../postgres.ts'
import { temporaryFolder } from '../program.ts'

/** Commands on a copy, in the same process (contract C18). */

/** Longer than a server may serve after its last renewal. */
const LATE_MS = 1_700

const join = (target: PostgresTarget, dataDir: string, needs: Needs): Promise<CopyAccess> => {
  const create = () => createDatabase(dataDir, 'live', systemClock)
  return joinInstallation({ target, dataDir, signingKey: new Uint8Array(32), release: '0', needs, create })
}

describe.skipIf(POSTGRES === undefined)('a command', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await Postgres.start()
  })
  afterAll(() => postgres[Symbol.asyncDispose]())

  test('does not wait for a server that pulls the copy', async () => {
    const target = parsePostgresUrl(await postgres.create('pulled'))
    using first = temporaryFolder()
    await (await join(target, first.path, 'read')).leave()
    using second = temporaryFolder()
    using _server = lockForServing(second.path)
    await expect(join(target, second.path, 'read')).rejects.toThrow(
      'a server is still building the copy in this folder',
    )
  })

  test('commits on a busy machine, although it renews its lease late', async () => {
    const target = parsePostgresUrl(await postgres.create('busy'))
    using folder = temporaryFolder()
    const joined = await join(target, folder.path, 'write')
    const database = Database.openFile(databasePath(folder.path))
    const gate = joined.gateOf?.(database)
    if (gate) database.gateBy(gate)
    Bun.sleepSync(LATE_MS)
    await database.write(() => database.sqlite.run("INSERT INTO seeds VALUES ('late', 'x')"))
    database.leave()
    await joined.leave()
    expect(await postgres.sql("SELECT name FROM scrip.seeds WHERE name = 'late'", 'busy')).toEqual(['late'])
  })

  test('waits until it knows whether a commit without a response was made', async () => {
    await postgres.create('unknown')
    using network = await Network.to(postgres.port)
    using folder = temporaryFolder()
    const joined = await join(parsePostgresUrl(postgres.url('unknown', network.port)), folder.path, 'write')
    const database = Database.openFile(databasePath(folder.path))
    const gate = joined.gateOf?.(database)
    if (gate) database.gateBy(gate)
    network.cut('responses')
    const before = gateTotals.unknown
    const written = database.write(() => database.sqlite.run("INSERT INTO seeds VALUES ('unknown', 'x')"))
    while (gateTotals.unknown === before) await Bun.sleep(5)
    network.cut()
    await written
    database.leave()
    await joined.leave()
    expect(await postgres.sql("SELECT name FROM scrip.seeds WHERE name = 'unknown'", 'unknown')).toEqual(['unknown'])
  })

  test('waits for a PostgreSQL that is slow to give it the lease', async () => {
    const target = parsePostgresUrl(await postgres.create('slow'))
    using folder = temporaryFolder()
    await (await join(target, folder.path, 'read')).leave()
    const other = new Connection(target, 'other')
    const waits = `SELECT FROM pg_stat_activity WHERE datname = 'slow' AND wait_event_type = 'Lock'
      AND now() - query_start > interval '1500 ms'`
    const isLocked = Promise.withResolvers<void>()
    const transaction = other.transaction('', HOUR_MS, async (ask) => {
      await ask('SELECT FROM scrip.installation FOR UPDATE')
      isLocked.resolve()
      while ((await postgres.sql(`SELECT EXISTS (${waits})`))[0] === 'f') await Bun.sleep(20)
    })
    await isLocked.promise
    const joined = await join(target, folder.path, 'write')
    expect(joined.gateOf).toBeFunction()
    await joined.leave()
    await transaction
    other.close()
  })

  test("is refused at once by a server that asks for a password's hash of more than a million rounds", async () => {
    const text = (letter: string, body: string | Buffer, kind?: number): Buffer => {
      const head = Buffer.alloc(kind === undefined ? 5 : 9)
      head.write(letter)
      head.writeInt32BE(head.length - 1 + body.length, 1)
      if (kind !== undefined) head.writeInt32BE(kind, 5)
      return Buffer.concat([head, Buffer.from(body)])
    }
    const salt = `s=c2FsdA==,i=2000000000`
    let came = 0
    const data = (socket: Bun.Socket, bytes: Buffer): void => {
      came += 1
      if (came === 1) socket.write(text('R', 'SCRAM-SHA-256\0\0', 10))
      if (came === 2) socket.write(text('R', `r=${/r=(.*)$/.exec(bytes.toString())?.[1]}x,${salt}`, 11))
      if (came === 3) socket.end(text('E', 'SFATAL\0C28P01\0Mpassword authentication failed\0\0'))
    }
    using server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data } })
    const connection = new Connection(
      parsePostgresUrl(`postgres://scrip:secret@127.0.0.1:${server.port}/scrip`),
      'asked',
    )
    await expect(connection.ask('SELECT 1')).rejects.toThrow('password authentication failed')
    connection.close()
  })
})
