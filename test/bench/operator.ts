import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../src/db/data-folder.ts'
import { type Ask, bytesOf, Connection } from '../rigs/connection.ts'
import { LiveFolder } from '../rigs/live-folder.ts'
import { percentile } from '../rigs/report.ts'
import { logIn, run, type Server } from '../rigs/server.ts'
import { writeCatalogOf } from './catalog.ts'
import { aligned, count, mebibytes, milliseconds } from './table.ts'

/** How long an operator's commands take on much data, and what clients of the server notice of them. */

export interface OperatorOptions {
  transactions: number
  products: number
  folder: string
}

const CLIENTS = 8
/** Of each client, about fifty requests a second. */
const PAUSE_MS = 20
const QUIET_MS = 10_000
/** What clients ask for, in turns. */
const NAMES = ['wallets', 'products', 'transactions', 'writes'] as const

export const operator = async ({ transactions, products, folder }: OperatorOptions): Promise<void> => {
  const live = await LiveFolder.make(folder, 100)
  await live.command('wallet', 'fund', '1', '1')
  fill(live.dataDir, transactions)
  const { size } = statSync(databasePath(live.dataDir))
  console.log(`${count(transactions)} transactions, ${mebibytes(size)}; ${count(products)} products`)
  const catalog = join(folder, 'many.json')
  writeCatalogOf(catalog, products)
  const server = await live.serve()
  const visitors = new Visitors(server, await logIn(server.port, live.payer.username, live.payer.password))
  const rows = [['command', 'takes', 'requests', ...NAMES.flatMap((name) => [`p99 of ${name}`, 'longest'])]]
  const beside = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const startedMs = performance.now()
    const latenciesMs = await visitors.during(work)
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    const figures = latenciesMs.flatMap((ofOne) => [percentile(ofOne, 0.99), percentile(ofOne, 1)].map(milliseconds))
    rows.push([name, `${seconds} s`, count(latenciesMs.flat().length), ...figures])
  }
  const command = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await live.command(...args)
    if (exitCode !== 0) throw new Error(`scrip ${args.join(' ')}: ${exitCode} ${stderr}`)
  }
  await beside('none', () => Bun.sleep(QUIET_MS))
  await beside('backup', () => command('backup', join(folder, 'backup.sqlite')))
  await beside('verify', () => command('verify'))
  await beside('statement', () => command('statement', 'payer', '--month', monthOf(new Date()), '--csv'))
  await beside('catalog import', () => command('catalog', 'import', catalog))
  await server.stop()
  const startedMs = performance.now()
  const { exitCode, stdout } = await run(['verify', '--data-dir', live.dataDir])
  if (exitCode !== 0) throw new Error(`verify: ${stdout}`)
  rows.push(['verify, alone', `${((performance.now() - startedMs) / 1_000).toFixed(1)} s`])
  console.log(aligned(rows).join('\n'))
}

const monthOf = (time: Date): string => time.toISOString().slice(0, 'YYYY-MM'.length)

/** Clients who read, buy prices and save beneficiaries at a steady pace. */
class Visitors {
  readonly #asks: readonly Ask[]

  constructor(
    private readonly server: Server,
    token: string,
  ) {
    const headers = { Authorization: `Bearer ${token}` }
    this.#asks = [
      { path: '/api/v1/wallets', headers },
      { path: '/api/v1/products?limit=20', headers },
      { path: '/api/v1/transactions?limit=20', headers },
      {
        path: '/api/v1/beneficiaries',
        headers,
        body: '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}',
      },
    ]
  }

  /** How long the requests took, of each kind. */
  async during(work: () => Promise<unknown>): Promise<number[][]> {
    const latenciesMs = this.#asks.map((): number[] => [])
    let isOver = false
    const visit = async (client: number): Promise<void> => {
      const connection = await Connection.open(this.server.port)
      for (let turn = client; !isOver; turn++) {
        await Bun.sleep(PAUSE_MS)
        const question = this.#asks[turn % this.#asks.length] as Ask
        const startedMs = performance.now()
        const { status, body } = await connection.send(bytesOf(question))
        latenciesMs[turn % this.#asks.length]?.push(performance.now() - startedMs)
        if (status >= 300) throw new Error(`${question.path}: ${status} ${body}`)
      }
      connection.close()
    }
    const visits = Array.from({ length: CLIENTS }, (_, client) => visit(client))
    await work().finally(() => (isOver = true))
    await Promise.all(visits)
    return latenciesMs
  }
}

/** Copies the last funding of wallet 1 with its ledger entry and its event, so that the ledger balances. */
const fill = (dataDir: string, copies: number): void => {
  const sqlite = new Database(databasePath(dataDir))
  sqlite.run('PRAGMA synchronous = OFF')
  sqlite.run('PRAGMA cache_size = -262144')
  const balance = sqlite
    .query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE name = 'transactions_balance'")
    .get()
  sqlite
    .transaction(() => {
      sqlite.run('DROP TRIGGER transactions_balance') // it compares with the wallet as it is now
      const ids = (table: string): number =>
        sqlite.query<{ id: number }, []>(`SELECT max(id) AS id FROM ${table}`).get()?.id ?? 0
      const entry = `${ids('journal_entries')} + n`
      copyRow(sqlite, 'journal_lines', copies, "account = 'wallet'", {
        id: `${ids('journal_lines')} + n`,
        entry_id: entry,
      })
      copyRow(sqlite, 'journal_lines', copies, "account = 'funding'", {
        id: `${ids('journal_lines')} + n`,
        entry_id: entry,
      })
      copyRow(sqlite, 'journal_entries', copies, 'true', { id: entry })
      copyRow(sqlite, 'transactions', copies, 'true', {
        id: `${ids('transactions')} + n`,
        entry_id: entry,
        balance_after_minor: 'balance_after_minor + n * amount_minor',
      })
      const event = ids('events')
      copyRow(sqlite, 'events', copies, 'true', { id: `${event} + n`, event_id: "'evt_' || printf('%025d', n)" })
      sqlite.run(
        'UPDATE wallets SET amount_minor = (SELECT balance_after_minor FROM transactions ORDER BY id DESC LIMIT 1) WHERE id = 1',
      )
      sqlite.run(balance?.sql ?? '')
    })
    .immediate()
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  sqlite.close()
}

/** Copies the last row that meets a condition; n counts from 1. */
const copyRow = (
  sqlite: Database,
  table: string,
  copies: number,
  condition: string,
  changes: Record<string, string>,
): void => {
  const columns = sqlite.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all()
  const names = columns.map(({ name }) => name)
  sqlite.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${copies})
    INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.map((name) => changes[name] ?? name).join(', ')}
      FROM (SELECT * FROM ${table} WHERE ${condition} ORDER BY id DESC LIMIT 1), numbers`)
}
