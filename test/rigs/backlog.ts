import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { count, mebibytes, milliseconds } from '../bench/table.ts'
import { residentBytes, temporaryFolder } from '../program.ts'
import { ask, bytesOf, Connection } from './connection.ts'
import { Receiver } from './receiver.ts'
import { percentile, type Rig } from './report.ts'
import { logIn, serve } from './server.ts'

/** A million deliveries that wait for dead receivers: the memory stays flat, requests are as before. */

const MIB = 1_048_576
const CLIENTS = { long: 10, short: 2 }
const WEBHOOKS_OF_A_CLIENT = 20
/** For each webhook. */
const PENDING = { long: 5_000, short: 500 }
/** Retries are at most six hours apart. */
const PAUSE_MS_MAX = 21_600_000
const WATCHED_MS = { long: 30_000, short: 2_000 }
const REQUEST_EVERY_MS = 10
const GROWN_BYTES_MAX = 64 * MIB
const LONGER_MS_MAX = 100

interface Size {
  clients: number
  pending: number
  watchedMs: number
}

export const backlog: Rig = async ({ isShort }) => {
  const key = isShort ? 'short' : 'long'
  const size = { clients: CLIENTS[key], pending: PENDING[key], watchedMs: WATCHED_MS[key] }
  using temporary = temporaryFolder()
  const folder = temporary.path
  const findings: string[] = []
  // Accepts connections, and says nothing.
  const receiver = await Receiver.open(() => undefined)
  try {
    const dataDir = join(folder, 'data')
    const webhooks = await registered(dataDir, receiver.port, size)
    const quiet = await watched(dataDir, size)
    fill(dataDir, webhooks, size.pending)
    const busy = await watched(dataDir, size)
    if (busy.grownBytes > quiet.grownBytes + GROWN_BYTES_MAX) findings.push(`it grows by ${mebibytes(busy.grownBytes)}`)
    // A short run shares the machine with other tests.
    if (!isShort && busy.p99Ms > quiet.p99Ms + LONGER_MS_MAX)
      findings.push(`p99 of requests is ${milliseconds(busy.p99Ms)} instead of ${milliseconds(quiet.p99Ms)}`)
    const rows = [
      ['', 'without', 'with'],
      ['deliveries that wait', '0', count(webhooks.length * size.pending)],
      ['p99 of requests', milliseconds(quiet.p99Ms), milliseconds(busy.p99Ms)],
      ['attempts meanwhile', '0', count(attemptsIn(dataDir))],
      ['memory after the start', mebibytes(quiet.startBytes), mebibytes(busy.startBytes)],
      ['growth of it', mebibytes(quiet.grownBytes), mebibytes(busy.grownBytes)],
    ]
    return { tables: [rows], findings }
  } finally {
    await receiver.close()
  }
}

/** Webhooks of several clients: every other one leads to a port that nobody listens to. */
const registered = async (dataDir: string, port: number, { clients }: Size): Promise<string[]> => {
  const server = await serve(['--data-dir', dataDir, '--rate-limit', 'off'])
  const ids: string[] = []
  for (let number = 0; number < clients; number++) {
    const [name, password] = [`client${number}`, 'password']
    await ask(server.port, { path: '/_sandbox/clients', body: JSON.stringify({ name, password }) })
    const headers = { Authorization: `Bearer ${await logIn(server.port, `sbx_default.${name}`, password)}` }
    for (let hook = 0; hook < WEBHOOKS_OF_A_CLIENT; hook++) {
      const url = `http://127.0.0.1:${hook % 2 === 0 ? port : 1}/`
      const body = JSON.stringify({ name: 'dead', url, events: ['*'] })
      const { body: created } = await ask(server.port, { path: '/api/v1/webhooks', headers, body })
      ids.push((JSON.parse(created.toString()) as { id: string }).id)
    }
  }
  await server.stop()
  return ids
}

const fileOf = (dataDir: string): string => join(dataDir, 'scrip.sqlite')

/** As after hours without a success: each delivery has failed, and its next attempt is due some time from now on. */
const fill = (dataDir: string, webhooks: readonly string[], pending: number): void => {
  using database = new Database(fileOf(dataDir))
  const nowMs = Date.now()
  const client = database.query<{ clientId: number }, [string]>(
    'SELECT client_id AS clientId FROM webhooks WHERE id = ?',
  )
  const queue = database.query(
    `INSERT INTO webhook_queue (webhook_id, event_id, record, failures, due_at_ms)
     SELECT ?, id, record, 1, ? + (id * 7919 * 1000) % ${PAUSE_MS_MAX} FROM events WHERE client_id = ?`,
  )
  database.run('BEGIN')
  const filled = new Set<number>()
  for (const id of webhooks) {
    const { clientId } = client.get(id) ?? { clientId: 0 }
    if (!filled.has(clientId)) insertEvents(database, clientId, pending, nowMs)
    filled.add(clientId)
    queue.run(id, nowMs, clientId)
  }
  database.run(`UPDATE webhooks SET failing_since_ms = ${nowMs}`)
  database.run('COMMIT')
}

const insertEvents = (database: Database, clientId: number, pending: number, nowMs: number): void =>
  void database.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${pending})
     INSERT INTO events (event_id, client_id, type, record, data, created_at_ms)
     SELECT 'evt_${clientId}_' || i, ${clientId}, 'payout.completed', 'payout ' || i,
       '{"id":' || i || ',"note":"' || hex(zeroblob(300)) || '"}', ${nowMs} FROM n`,
  )

interface Watched {
  p99Ms: number
  startBytes: number
  grownBytes: number
}

/** Sends requests, of which every other one writes, to a server on the folder. */
const watched = async (dataDir: string, { watchedMs }: Size): Promise<Watched> => {
  const server = await serve(['--data-dir', dataDir, '--rate-limit', 'off'])
  const headers = { Authorization: `Bearer ${await logIn(server.port, 'sandbox')}` }
  const connection = await Connection.open(server.port)
  const startBytes = residentBytes(server.pid)
  const times: number[] = []
  const endsMs = performance.now() + watchedMs
  for (let number = 0; performance.now() < endsMs; number++) {
    const body = JSON.stringify({ email: `a${number}@example.com`, first_name: 'Ada', last_name: 'Lovelace' })
    const sentMs = performance.now()
    await connection.send(
      bytesOf(number % 2 ? { path: '/api/v1/beneficiaries', headers, body } : { path: '/api/v1/wallets', headers }),
    )
    times.push(performance.now() - sentMs)
    await Bun.sleep(REQUEST_EVERY_MS)
  }
  connection.close()
  const grownBytes = Math.max(0, residentBytes(server.pid) - startBytes)
  await server.stop()
  return { p99Ms: percentile(times, 0.99), startBytes, grownBytes }
}

const attemptsIn = (dataDir: string): number => {
  using database = new Database(fileOf(dataDir))
  return database.query<{ n: number }, []>('SELECT count(*) AS n FROM webhook_deliveries').get()?.n ?? 0
}
