import { join } from 'node:path'
import { parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { Connection } from '../../src/replication/connection.ts'
import { PostgresGate } from '../../src/replication/gate.ts'
import { makeInstallation } from '../../src/replication/installation.ts'
import { Lease } from '../../src/replication/lease.ts'
import { tablesOf } from '../../src/replication/tables.ts'
import { Network, type Postgres } from '../postgres.ts'
import { temporaryFolder } from '../program.ts'

/** An installation in PostgreSQL, the copy that writes to it, and rows to write. */

const SECRET = new Uint8Array(32)
let number = 0

/** An installation, and the copy that writes to it. */
export const openInstallation = async (postgres: Postgres) => {
  const name = `record${++number}`
  const url = await postgres.create(name)
  const network = await Network.to(postgres.port)
  const target = parsePostgresUrl(postgres.url(name, network.port))
  const connection = new Connection(target, 'test')
  const beats = new Connection(target, 'test beats')
  const folder = temporaryFolder()
  const path = join(folder.path, 'scrip.sqlite')
  const database = Database.openFile(path)
  migrate(database.sqlite, { nowMs: () => 0 })
  const tables = tablesOf(database.sqlite)
  await makeInstallation(connection, database, { id: name, release: '1', signingKey: SECRET })
  const lease = new Lease({ connection: beats, holder: 'test', url: 'http://one', onLost: () => undefined })
  await lease.take()
  const behind: unknown[] = []
  const onBehind = (error: unknown): void => void behind.push(error)
  const gate = new PostgresGate({ sqlite: database.sqlite, tables, connection, lease, onBehind })
  database.gateBy(gate)
  const run = (...statements: string[]) =>
    database.write(() => {
      for (const statement of statements) database.sqlite.run(statement)
    })
  return {
    name,
    url,
    network,
    connection,
    beats,
    folder,
    path,
    database,
    lease,
    gate,
    behind,
    run,
    sql: (text: string) => postgres.sql(text, name),
    [Symbol.dispose]: () => {
      void lease.free()
      gate.close()
      database.leave()
      connection.close()
      folder[Symbol.dispose]()
      network[Symbol.dispose]()
    },
  }
}

export const CLIENT =
  "INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (1, 'ada', 'x', 1, 0)"
export const CURRENCY = "INSERT INTO currencies (id, name, currency, precision) VALUES (1, 'US Dollar', 'USD', 2)"
export const wallet = (id: number, isDefault: number): string =>
  `INSERT INTO wallets (id, client_id, currency_id, type, amount_minor, is_default, created_at_ms, updated_at_ms) VALUES (${id}, 1, 1, 'PREPAID', 0, ${isDefault}, 0, 0)`
