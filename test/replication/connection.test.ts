import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { Connection, PostgresAway } from '../../src/replication/connection.ts'
import { POSTGRES, Postgres } from '../postgres.ts'

/** Without its patch, the client's library ends the program in most of them. */
const ENDED = 5

test.skipIf(POSTGRES === undefined)(
  'a transaction whose connection has ended is lost, and the program goes on',
  async () => {
    await using postgres = await Postgres.start()
    const url = await postgres.create('ended')
    const connection = new Connection(parsePostgresUrl(url), 'test')
    for (let ended = 0; ended < ENDED; ended++) {
      const lost = connection.transaction('', 10_000, async (ask) => {
        const [row] = await ask<{ pid: number }>('SELECT pg_backend_pid() AS pid')
        // The thread waits, so that it meets the end of the connection and the next query in one turn.
        Bun.spawnSync([
          join(POSTGRES ?? '', 'psql'),
          '-X',
          '-c',
          `SELECT pg_terminate_backend(${row?.pid}, 10000)`,
          url,
        ])
        await ask('SELECT 1')
      })
      const error: unknown = await lost.catch((reason) => reason)
      await Bun.sleep(0)
      expect(error).toBeInstanceOf(PostgresAway)
      expect(await connection.ask<{ n: number }>('SELECT 1 AS n')).toEqual([{ n: 1 }])
    }
    connection.close()
  },
)
