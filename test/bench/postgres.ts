import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getPosition } from '../../src/db/copy-position.ts'
import { databasePath } from '../../src/folder/files.ts'
import { Network, Postgres } from '../postgres.ts'
import { type Running, run } from '../program.ts'
import { PAYEE } from '../records.ts'
import { type Ask, bytesOf } from '../rigs/connection.ts'
import { LiveFolder } from '../rigs/live-folder.ts'
import { percentile } from '../rigs/report.ts'
import { logIn, serve } from '../rigs/server.ts'
import { UNNUMBERED } from './load.ts'
import { atPace } from './pace.ts'
import { type Contender, folder, Load, medianOf, type Rounds } from './programs.ts'
import { count, markdown, milliseconds, ratio } from './table.ts'

/**
 * The cost of PostgreSQL: reads and payouts, in turn with a server without it, near PostgreSQL and with a
 * longer round trip; and how far a warm server is behind. All of them share the processors.
 */

/** To PostgreSQL, and the same back. */
const DELAY_MS = 1.5
/** The time for which a warm server is watched. */
const PAYOUTS_PER_SECOND = 500
const PACE_MS = 10_000
const PACE_CONNECTIONS = 64
const LOOK_MS = 2
const READS = ['wallets', 'products?limit=20', 'countries/1', 'transactions?limit=20', 'payouts?limit=20']

type Served = { server: Running; token: string }

const payoutBy = (token: string, reference: string): Ask => ({
  path: '/api/v1/payouts',
  headers: { Authorization: `Bearer ${token}` },
  body: JSON.stringify({ reference_id: reference, wallet_id: 1, amount: 1.25, currency: 'USD', ...PAYEE }),
})

/** The loads: a name, the connections, and the exchanges. */
const ROWS: [name: string, connections: number, exchangesBy: (token: string) => Contender['exchanges']][] = [
  ['reads, 32 in flight', 32, (token) => readsBy(token)],
  ['payouts, 64 in flight', 64, (token) => payoutsBy(token)],
  ['payouts, one alone', 1, (token) => payoutsBy(token)],
]

const readsBy = (token: string): Contender['exchanges'] =>
  READS.map((name) => {
    const headers = { Authorization: `Bearer ${token}` }
    return { request: bytesOf({ path: `/api/v1/${name}`, headers }), status: 200 }
  })

const payoutsBy = (token: string): Contender['exchanges'] => [
  { request: bytesOf(payoutBy(token, `bench-${UNNUMBERED}`)), status: 201 },
]

/** Prints both tables. */
export const postgres = async (rounds: Rounds): Promise<void> => {
  await using database = await Postgres.start()
  const record = new Record(database, await LiveFolder.make(join(folder, 'source'), 1))
  using network = await Network.to(database.port)
  network.delayMs = DELAY_MS
  const servers: [name: string, served: Served][] = [
    ['without', await record.serve('without')],
    ['PostgreSQL', await record.serve('near', database.port)],
    [`${2 * DELAY_MS} ms more`, await record.serve('far', network.port)],
  ]
  const load = new Load()
  const table = [['', '', 'a second', 'ratio', 'p50', 'p99', 'CPU µs']]
  for (const [name, connections, exchangesBy] of ROWS) {
    const contenders = servers.map(
      ([, { server, token }]): Contender => ({ server, exchanges: exchangesBy(token), measured: [] }),
    )
    await load.compete(contenders, connections, rounds)
    const without = medianOf(contenders[0] as Contender, 'perSecond')
    for (const [index, contender] of contenders.entries()) {
      const perSecond = medianOf(contender, 'perSecond')
      const [p50, p99] = [medianOf(contender, 'p50Ms'), medianOf(contender, 'p99Ms')].map(milliseconds) as [
        string,
        string,
      ]
      const cpu = medianOf(contender, 'cpuUs').toFixed(0)
      table.push([name, servers[index]?.[0] ?? '', count(perSecond), ratio(perSecond / without), p50, p99, cpu])
    }
  }
  for (const [, { server }] of servers) await server.stop()
  console.log(`${markdown(table)}\n\n${await record.lag()}`)
}

class Record {
  constructor(
    private readonly database: Postgres,
    private readonly source: LiveFolder,
  ) {}

  async serve(name: string, port?: number): Promise<Served> {
    const { dataDir, payer } = this.source.copyTo(join(folder, name))
    if (port !== undefined) {
      await this.database.create(name)
      const env = this.#env(name, this.database.port)
      const { exitCode, stderr } = await run(['postgres', 'init', '--data-dir', dataDir], { env })
      if (exitCode !== 0) throw new Error(`scrip postgres init: ${exitCode} ${stderr}`)
    }
    const server = await this.#start(dataDir, name, port)
    return { server, token: await logIn(server.port, payer.username, payer.password) }
  }

  /** The time that each commit takes from PostgreSQL to the copy of a warm server. */
  async lag(): Promise<string> {
    const { server, token } = await this.serve('followed', this.database.port)
    const dataDir = join(folder, 'warm')
    const warm = await this.#start(dataDir, 'followed', this.database.port)
    using copy = new Database(databasePath(dataDir))
    const from = getPosition(copy).seq
    const atMs = new Map<number, number>()
    let seen = from
    let isOver = false
    const look = async (): Promise<void> => {
      for (; !isOver; await Bun.sleep(LOOK_MS)) {
        const { seq } = getPosition(copy)
        for (; seen < seq; seen += 1) atMs.set(seen + 1, Date.now())
      }
    }
    const looking = look()
    const endMs = performance.now() + PACE_MS
    const payout = (number: number): Ask => payoutBy(token, `lag-${number}`)
    await atPace(server.port, PAYOUTS_PER_SECOND, payout, () => performance.now() > endMs, PACE_CONNECTIONS)
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
    const [p50, p99] = [0.5, 0.99].map((part) => milliseconds(percentile(lagsMs, part)))
    return `A warm server is behind by ${p50} (p50) and ${p99} (p99) at ${PAYOUTS_PER_SECOND} payouts a second.`
  }

  #start(dataDir: string, name: string, port: number | undefined): Promise<Running> {
    const env = port === undefined ? {} : this.#env(name, port)
    return serve(['--mode', 'live', '--rate-limit', 'off', '--data-dir', dataDir], { env })
  }

  #env(name: string, port: number) {
    return {
      SCRIP_VOUCHER_KEY: readFileSync(join(this.source.dataDir, 'voucher.key'), 'utf8').trim(),
      SCRIP_SIGNING_KEY: '22'.repeat(32),
      SCRIP_POSTGRES: this.database.url(name, port),
    }
  }
}
