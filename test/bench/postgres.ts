import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import client from 'postgres'
import { getMark } from '../../src/db/copy-mark.ts'
import { databasePath } from '../../src/db/data-folder.ts'
import { Postgres } from '../postgres.ts'
import { type Running, run } from '../program.ts'
import { LiveFolder } from '../rigs/live-folder.ts'
import { percentile } from '../rigs/report.ts'
import { logIn, serve } from '../rigs/server.ts'
import { atPace } from './deliveries.ts'
import type { Exchange } from './load.ts'
import { fill } from './million.ts'
import { folder, Load } from './programs.ts'
import { aligned, count, median, milliseconds, ratio } from './table.ts'
import { type Contender, compete, ratiosOf, summary } from './throughput.ts'
import { numbered, UNNUMBERED, wireBytes } from './works.ts'

/**
 * What a record in PostgreSQL costs: reads and payouts, by turns with a server that has none, near PostgreSQL and with a
 * longer round trip; how far a warm server is behind; how long it pulls a copy. All of them share the processors.
 */

export interface PostgresOptions {
  rounds: number
  seconds: number
  transactions: number
  /** A part of the names of what is measured. */
  only: string
}

/** To PostgreSQL, and the same back. */
const DELAY_MS = 1.5
/** Kept while a warm server is looked at. */
const PAYOUTS_PER_SECOND = 1_000
const PACE_MS = 10_000
const PACE_CONNECTIONS = 64
const LOOK_MS = 2
/** Payouts whose rows PostgreSQL commits once more, without a server. */
const COMMITTED_AGAIN = 1_000

const READS = ['wallets', 'products?limit=20', 'countries/1', 'transactions?limit=20', 'payouts?limit=20']

const payoutOf = (reference: string): string =>
  JSON.stringify({
    ...{ reference_id: reference, wallet_id: 1, amount: 1.25, currency: 'USD', beneficiary_email: 'ada@example.com' },
    ...{ beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' },
  })

/** Prints the figures. */
export const postgres = async ({ rounds, seconds, transactions, only }: PostgresOptions): Promise<void> => {
  await using database = await Postgres.start()
  const bench = new Bench(database, await LiveFolder.make(join(folder, 'source'), 1))
  const isMeasured = (name: string): boolean => name.includes(only)
  if (['reads, 32', 'payouts, 64', 'payouts, 1'].some(isMeasured))
    console.log(aligned(await bench.byTurns({ rounds, seconds, isMeasured })).join('\n'))
  if (isMeasured('lag')) {
    const { perSecond, lagsMs } = await bench.lag()
    const [p50, p99, max] = [0.5, 0.99, 1].map((part) => milliseconds(percentile(lagsMs, part)))
    console.log(`\nlag at ${count(perSecond)} payouts a second: p50 ${p50}, p99 ${p99}, longest ${max}`)
  }
  if (isMeasured('pull')) {
    const { uploadMs, pullMs } = await bench.pull(transactions)
    const [upload, pull] = [uploadMs, pullMs].map((ms) => `${(ms / 1_000).toFixed(1)} s`)
    console.log(`\n${count(transactions)} transactions: uploaded in ${upload}, pulled in ${pull}`)
  }
}

interface Served {
  server: Running
  token: string
}

class Bench {
  constructor(
    private readonly database: Postgres,
    private readonly source: LiveFolder,
  ) {}

  /** Each row against the server without PostgreSQL. */
  async byTurns(options: { rounds: number; seconds: number; isMeasured: (name: string) => boolean }) {
    const distance = [`${import.meta.dir}/distance.ts`, `${this.database.port}`, `${DELAY_MS}`]
    const network = Bun.spawn([process.execPath, ...distance], { stdout: 'pipe' })
    const { value } = await network.stdout.getReader().read()
    const servers: [name: string, served: Served][] = [
      ['without', await this.#serve('without')],
      ['PostgreSQL', await this.#serve('near', this.database.port)],
      [`${2 * DELAY_MS} ms more`, await this.#serve('far', Number(new TextDecoder().decode(value)))],
    ]
    const rows: [name: string, connections: number, exchangesOf: (token: string) => Exchange[]][] = [
      ['reads, 32', 32, reads],
      ['payouts, 64', 64, payouts],
      ['payouts, 1', 1, payouts],
    ]
    const load = new Load()
    const table = [['', '', 'a second', 'ratio', 'p50', 'p99', 'CPU µs']]
    for (const [name, connections, exchangesOf] of rows.filter(([each]) => options.isMeasured(each))) {
      const contenders = servers.map(
        ([each, { server, token }]): Contender => ({
          name: each,
          served: server,
          exchanges: exchangesOf(token),
          measured: [],
        }),
      )
      await compete(load, { connections }, contenders, options)
      for (const each of contenders) {
        const { perSecond, p50, p99, cpuUs } = summary(each)
        const share = ratio(median(ratiosOf(each, contenders[0] ?? each)))
        table.push([name, each.name, count(perSecond), share, p50, p99, cpuUs.toFixed(0)])
      }
      if (connections === 1)
        table.push([name, 'rows alone', '', '', milliseconds(await this.#commitMs('near')), '', ''])
    }
    for (const [, { server }] of servers) await server.stop()
    network.kill()
    return table
  }

  /** How long PostgreSQL takes for the rows of the last commits of a record, in another record that is new. */
  async #commitMs(name: string): Promise<number> {
    const texts = await this.database.sql(
      `SELECT rows FROM scrip.changes ORDER BY seq DESC LIMIT ${COMMITTED_AGAIN}`,
      name,
    )
    await this.#record('again', this.source.copyTo(join(folder, 'again')))
    const sql = client(this.database.url('again'), { max: 1, prepare: false, fetch_types: false })
    const times: number[] = []
    for (const text of texts.toReversed()) {
      const startedMs = performance.now()
      await sql.unsafe(`SELECT scrip.apply($rows$${text}$rows$)`)
      times.push(performance.now() - startedMs)
    }
    await sql.end()
    return percentile(times, 0.5)
  }

  /** Of each commit, how long it takes from PostgreSQL to the copy of a warm server. */
  async lag(): Promise<{ perSecond: number; lagsMs: number[] }> {
    const { server, token } = await this.#serve('followed', this.database.port)
    const dataDir = join(folder, 'warm')
    const warm = await this.#start(dataDir, 'followed', this.database.port)
    using copy = new Database(databasePath(dataDir))
    const from = getMark(copy).seq
    const atMs = new Map<number, number>()
    let seen = from
    let isOver = false
    const look = async (): Promise<void> => {
      for (; !isOver; await Bun.sleep(LOOK_MS)) {
        const { seq } = getMark(copy)
        for (; seen < seq; seen += 1) atMs.set(seen + 1, Date.now())
      }
    }
    const looking = look()
    const startedMs = performance.now()
    const headers = { Authorization: `Bearer ${token}` }
    const askFor = (number: number) => ({ path: '/api/v1/payouts', headers, body: payoutOf(`lag-${number}`) })
    const isPast = (): boolean => performance.now() > startedMs + PACE_MS
    const times = await atPace(server.port, PAYOUTS_PER_SECOND, askFor, isPast, PACE_CONNECTIONS)
    const perSecond = (times.length * 1_000) / (performance.now() - startedMs)
    const commits = await this.database.sql(
      `SELECT seq, extract(epoch FROM at) * 1000 FROM scrip.changes WHERE seq > ${from} ORDER BY seq`,
      'followed',
    )
    while (seen < from + commits.length) await Bun.sleep(LOOK_MS)
    isOver = true
    await looking
    await warm.stop()
    await server.stop()
    const lagsMs = commits.map((commit) => {
      const [seq = 0, committedMs = 0] = commit.split('|').map(Number)
      return (atMs.get(seq) ?? Number.POSITIVE_INFINITY) - committedMs
    })
    return { perSecond, lagsMs }
  }

  /** Uploads a large folder, and pulls it into another one beside a server. */
  async pull(transactions: number): Promise<{ uploadMs: number; pullMs: number }> {
    const large = this.source.copyTo(join(folder, 'large'))
    await large.command('wallet', 'fund', '1', '1')
    fill(large.dataDir, transactions)
    const startedMs = performance.now()
    await this.#record('large', large)
    const uploadMs = performance.now() - startedMs
    const active = await this.#start(large.dataDir, 'large', this.database.port)
    const emptyMs = performance.now()
    const warm = await this.#start(join(folder, 'pulled'), 'large', this.database.port)
    const pullMs = performance.now() - emptyMs
    await warm.stop()
    await active.stop()
    return { uploadMs, pullMs }
  }

  async #serve(name: string, port?: number): Promise<Served> {
    const live = this.source.copyTo(join(folder, name))
    if (port !== undefined) await this.#record(name, live)
    const server = await this.#start(live.dataDir, name, port)
    return { server, token: await logIn(server.port, live.payer.username, live.payer.password) }
  }

  /** Makes a record of a folder. */
  async #record(name: string, { dataDir }: LiveFolder): Promise<void> {
    await this.database.create(name)
    const env = this.#env(name, this.database.port)
    const { exitCode, stderr } = await run(['postgres', 'init', '--data-dir', dataDir], { env })
    if (exitCode !== 0) throw new Error(`scrip postgres init: ${exitCode} ${stderr}`)
  }

  #start(dataDir: string, name: string, port: number | undefined): Promise<Running> {
    const env = port === undefined ? {} : this.#env(name, port)
    return serve(['--mode', 'live', '--rate-limit', 'off', '--data-dir', dataDir], { env })
  }

  #env(name: string, port: number): Record<string, string> {
    return {
      SCRIP_VOUCHER_KEY: readFileSync(join(this.source.dataDir, 'voucher.key'), 'utf8').trim(),
      SCRIP_SIGNING_KEY: '22'.repeat(32),
      SCRIP_POSTGRES: this.database.url(name, port),
    }
  }
}

const reads = (token: string): Exchange[] =>
  READS.map((path) => ({ request: wireBytes({ path: `/api/v1/${path}` }, token), status: 200 }))

const payouts = (token: string): Exchange[] => [
  numbered({ request: wireBytes({ path: '/api/v1/payouts', body: payoutOf(UNNUMBERED) }, token), status: 201 }),
]
