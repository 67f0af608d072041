import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordAct } from '../../src/audit/audit.ts'
import { queryOn, type Tx } from '../../src/db/database.ts'
import { Cipher } from '../../src/orders/cipher.ts'
import { freePort } from '../free-port.ts'
import { processorUs, type Running, start, startReady } from '../program.ts'
import { ADA, PAYEE } from '../records.ts'
import { type Ask, bytesOf, Connection } from '../rigs/connection.ts'
import { fillWith, numberedId } from '../rigs/copies.ts'
import { logIn } from '../rigs/server.ts'
import { folder, SANDBOX } from './programs.ts'
import { actIn } from './requests.ts'
import { count, markdown, median, ratio } from './table.ts'

/** The cost of requests, commands and pages as the number of records grows (contract C4): folders of several sizes, by turns. */

/**
 * A folder in which one client has made this number of payouts and beneficiaries. A tenth of it are other clients, their logins, which have
 * just expired, and acts in the audit.
 */
interface Grown {
  records: number
  dataDir: string
  username: string
  password: string
  server: Running
  serve: () => Promise<Running>
  metrics: string
  desk: Running
  /** The headers of a browser in the desk. */
  browser: Record<string, string>
}

/** Prints a table of the medians at each size, and how many times the largest one costs what the smallest one does. */
export const growth = async (sizes: readonly number[], rounds: number): Promise<void> => {
  const folders: Grown[] = []
  for (const records of sizes) folders.push(await grown(records))
  const rows = [['', ...sizes.map(count), 'growth']]
  for (const [name, costOf] of Object.entries(COSTS)) {
    const measured = folders.map((): number[] => [])
    for (let round = 0; round < rounds; round++)
      for (const [index, place] of folders.entries()) measured[index]?.push(await costOf(place))
    const costs = measured.map(median)
    rows.push([name, ...costs.map(count), ratio((costs.at(-1) ?? 0) / (costs[0] ?? 1))])
    process.stderr.write(`${rows.at(-1)?.join(' ')}\n`)
  }
  console.log(markdown(rows))
  for (const { server, desk } of folders) {
    await desk.stop()
    await server.stop()
  }
}

const FUNDS = '1000000000'
const EXECUTABLE = SANDBOX.slice(0, 1)

const grown = async (records: number): Promise<Grown> => {
  process.stderr.write(`making ${count(records)} ...\n`)
  const dataDir = join(folder, `grown-${records}`)
  const act = (...words: string[]) => actIn(dataDir, EXECUTABLE, words)
  const client = JSON.parse(await act('client', 'add', 'bench', '--json')) as { username: string; password: string }
  for (const [index, currency] of ['USD', 'EUR'].entries()) {
    await act('wallet', 'add', client.username, currency)
    await act('wallet', 'fund', String(index + 1), FUNDS)
  }
  const metricsPort = await freePort()
  const serve = () =>
    start(
      [
        ...['--mode', 'live', '--rate-limit', 'off', '--log-level', 'warn', '--metrics-port', String(metricsPort)],
        '--data-dir',
        dataDir,
      ],
      { command: [...EXECUTABLE, 'serve', '--port', '0'] },
    )
  const template = await serve()
  const token = await logIn(template.port, client.username, client.password)
  await send(template, { ...payoutOf('first'), headers: bearer(token) }, 201)
  await send(template, { path: '/api/v1/beneficiaries', body: JSON.stringify(ADA), headers: bearer(token) }, 201)
  await template.stop()
  multiply(join(dataDir, 'scrip.sqlite'), records, new Cipher(keyIn(dataDir)))
  await act('verify')
  const server = await serve()
  const metrics = `http://127.0.0.1:${metricsPort}/metrics`
  const desk = await startReady(['--desk-port', '0', '--data-dir', dataDir], { command: [...EXECUTABLE, 'desk'] })
  const page = await fetch(desk.ready)
  const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? ''
  const key = /data-key="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  return { records, dataDir, ...client, server, serve, metrics, desk, browser: { cookie, 'x-desk-key': key } }
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

const payoutOf = (reference_id: string): Ask => ({
  path: '/api/v1/payouts',
  body: JSON.stringify({ reference_id, wallet_id: 1, amount: 1.25, currency: 'USD', ...PAYEE }),
})

const keyIn = (dataDir: string): Buffer => Buffer.from(readFileSync(join(dataDir, 'voucher.key'), 'utf8').trim(), 'hex')

/** Copies the payout, with its entry in the ledger, and the beneficiary. The copies are older. `scrip verify` finds them sound. */
const multiply = (file: string, records: number, seal: Cipher): void =>
  fillWith(file, (copy, sqlite) => {
    const value = (sql: string) => (sqlite.query(sql).values()[0]?.[0] ?? 0) as number
    const [entry, line] = [value('SELECT max(id) FROM journal_entries'), value('SELECT max(id) FROM journal_lines')]
    const lines = value(`SELECT count(*) FROM journal_lines WHERE entry_id = ${entry}`)
    const paid = value('SELECT amount_minor FROM transactions ORDER BY id DESC LIMIT 1')
    const count = records - 1
    const payout = numberedId('pyt')
    const atMs = `created_at_ms - (${records} - n) * 1000`
    copy('payouts', {
      changes: {
        id: payout,
        reference_id: "'bonus-' || n",
        search_folded: "'bonus-' || n || 'A' || 'ada.' || n || '@example.com'",
        created_at_ms: atMs,
      },
      count,
    })
    copy('payout_events', { changes: { id: 'id + n', payout_id: payout, created_at_ms: atMs }, count })
    copy('journal_entries', { changes: { id: 'id + n', source_id: payout }, count })
    const lineId = `${line} + (n - 1) * ${lines} + id - ${line - lines}`
    copy('journal_lines', { where: `entry_id = ${entry}`, changes: { id: lineId, entry_id: 'entry_id + n' }, count })
    const balance = `balance_after_minor - n * ${paid}`
    const transaction = { id: 'id + n', entry_id: 'entry_id + n', balance_after_minor: balance, source_id: payout }
    copy('transactions', { changes: transaction, count })
    copy('events', { changes: { id: 'id + n', event_id: numberedId('evt'), data: "'{}'" }, count })
    copy('beneficiaries', {
      changes: {
        id: numberedId('ben'),
        email: "'ada.' || n || '@example.com'",
        email_folded: "'ada.' || n || '@example.com'",
        search_folded: "'ada.' || n || '@example.comAada lovelace'",
        created_at_ms: atMs,
      },
      count,
    })
    const others = Math.ceil(records / 10)
    copy('clients', { changes: { id: 'id + n', username: "'other-' || n" }, count: others })
    const login = { id: numberedId('lgn'), client_id: 'client_id + n', expires_at_ms: '1', number: '1' }
    copy('logins', { where: 'number = 1', changes: login, count: others })
    const act = { user: 'root', command: 'wallet fund', subject: '1 100', outcome: 'done', address: null } as const
    const tx = queryOn(sqlite) as Tx
    sqlite.transaction(() => {
      for (let atMs = 0; atMs < others; atMs++) recordAct(tx, seal, { ...act, atMs })
    })()
    sqlite.run(`UPDATE wallets SET amount_minor = amount_minor - ${count * paid},
      reserved_minor = reserved_minor + ${count * paid} WHERE id = 1`)
  })

const send = async ({ port }: Running, request: Ask, status: number): Promise<void> => {
  const connection = await Connection.open(port)
  const response = await connection.send(bytesOf(request))
  connection.close()
  if (response.status !== status) throw new Error(`${request.path}: ${response.status} ${response.body}`)
}

/** Long enough for the clock of the kernel, which counts a hundredth of a second. */
const MEASURED_MS = 1_000

/** Processor time of a server for one step, which is repeated for a second. */
const processorCost = async ({ pid }: Running, step: () => Promise<void>): Promise<number> => {
  await step()
  const before = processorUs(pid)
  const endMs = performance.now() + MEASURED_MS
  let steps = 0
  while (performance.now() < endMs) {
    await step()
    steps += 1
  }
  return (processorUs(pid) - before) / steps
}

let made = 0

type Cost = (place: Grown) => Promise<number>

const requests =
  (askOf: () => Ask, status = 200): Cost =>
  async ({ server, username, password }) => {
    const token = await logIn(server.port, username, password)
    const connection = await Connection.open(server.port)
    const cost = await processorCost(server, async () => {
      const request = askOf()
      const response = await connection.send(bytesOf({ ...request, headers: bearer(token) }))
      if (response.status !== status) throw new Error(`${request.path}: ${response.status} ${response.body}`)
    })
    connection.close()
    return cost
  }
const reads = (path: string): Cost => requests(() => ({ path: `/api/v1/${path}` }))
const lastPage =
  (path: string): Cost =>
  (place) =>
    reads(`${path}?page=${place.records / 20}`)(place)

/** The time of a command. Most of it is its start. */
const command =
  (...words: string[]): Cost =>
  async ({ dataDir }) => {
    const startedMs = performance.now()
    await actIn(dataDir, EXECUTABLE, words)
    return (performance.now() - startedMs) * 1_000
  }

const desk =
  (path: string): Cost =>
  ({ desk: { ready, pid }, browser }) =>
    processorCost({ pid } as Running, async () => {
      const response = await fetch(`${new URL(ready).origin}/data/${path}`, { headers: browser })
      const body = await response.text()
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`)
    })

/** In microseconds: of the processor for requests and pages, on the clock for commands and the start. */
const COSTS: Record<string, Cost> = {
  'a country': reads('countries/105'),
  'a payout': reads(`payouts/pyt_${'1'.padStart(25, '0')}`),
  'payouts, first page': reads('payouts'),
  'payouts, last page': lastPage('payouts'),
  'payouts, `status=failed`, none': reads('payouts?status=failed'),
  'payouts by amount, first page': reads('payouts?sort_by=amount'),
  'transactions, first page': reads('transactions?limit=20'),
  'transactions, `currency=EUR`, one': reads('transactions?currency=EUR'),
  'transactions, `transaction_type=CREDIT`, two': reads('transactions?transaction_type=CREDIT'),
  'beneficiaries, first page': reads('beneficiaries'),
  'beneficiaries by name, last page': (place) =>
    reads(`beneficiaries?sort_by=last_name&page=${place.records / 20}`)(place),
  'events, `type=order.*`, none': reads('events?type=order.*'),
  'a payout is made': requests(() => payoutOf(`grown-${++made}`), 201),
  login: ({ server, username, password }) =>
    processorCost(server, async () => {
      await logIn(server.port, username, password)
    }),
  'login and logout': ({ server, username, password }) =>
    processorCost(server, async () => {
      const token = await logIn(server.port, username, password)
      await send(server, { path: '/auth/logout', body: '{}', headers: bearer(token) }, 200)
    }),
  '/metrics': ({ server, metrics }) =>
    processorCost(server, async () => {
      await (await fetch(metrics)).text()
    }),
  'desk: Today': desk('today'),
  'desk: payouts': desk('list/payouts'),
  'desk: payouts, `status=failed`, none': desk('list/payouts?status=failed'),
  'desk: payouts of a day, none': desk('list/payouts?since=2020-01-01&until=2020-01-02'),
  'desk: search that finds nothing': desk('search?search=zzzzzzzz'),
  'the server starts': async (place) => {
    await place.server.stop()
    const startedMs = performance.now()
    place.server = await place.serve()
    return (performance.now() - startedMs) * 1_000
  },
  '`scrip statement`, a month without lines': command('statement', 'bench', '--month', '2099-01'),
  '`scrip payouts list --limit 20`': command('payouts', 'list', '--limit', '20'),
  '`scrip transactions --wallet`, one': command('transactions', '--wallet', '2'),
}
