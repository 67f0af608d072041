import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { databasePath } from '../../src/db/data-folder.ts'
import { Database } from '../../src/db/database.ts'
import { lockForServing } from '../../src/db/folder-lock.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { joinRecord } from '../../src/record/command.ts'
import { createDatabase } from '../../src/start/folder.ts'
import { POSTGRES, Postgres, temporaryFolder } from '../postgres.ts'

/** Commands on a copy of the record, in the same process (contract C18). */

/** Longer than a server may serve after its last renewal. */
const LATE_MS = 1_700

describe.skipIf(POSTGRES === undefined)('a command', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await Postgres.start()
  })
  afterAll(() => postgres[Symbol.asyncDispose]())

  test('waits for nobody where a server pulls the copy that it would read', async () => {
    const target = parsePostgresUrl(await postgres.create('pulled'))
    const signingKey = new Uint8Array(32).fill(1)
    const join = (dataDir: string) => {
      const create = () => createDatabase(dataDir, 'live', systemClock)
      return joinRecord({ target, dataDir, signingKey, release: '0', needs: 'read', create })
    }
    using first = temporaryFolder()
    await (await join(first.path)).leave()
    using second = temporaryFolder()
    using _server = lockForServing(second.path)
    await expect(join(second.path)).rejects.toThrow('a server makes the copy of this folder')
  })

  test('commits on a busy machine, where it was late to renew its lease', async () => {
    const target = parsePostgresUrl(await postgres.create('busy'))
    using folder = temporaryFolder()
    const dataDir = folder.path
    const create = () => createDatabase(dataDir, 'live', systemClock)
    const signingKey = new Uint8Array(32).fill(1)
    const joined = await joinRecord({ target, dataDir, signingKey, release: '0', needs: 'write', create })
    const database = Database.openFile(databasePath(dataDir))
    const gate = joined.gateOf?.(database)
    if (gate) database.gateBy(gate)
    Bun.sleepSync(LATE_MS)
    await database.write(() => database.sqlite.run("INSERT INTO seeds VALUES ('late', 'x')"))
    database.leave()
    await joined.leave()
    expect(await postgres.sql("SELECT name FROM scrip.seeds WHERE name = 'late'", 'busy')).toEqual(['late'])
  })
})
