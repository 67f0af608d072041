import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { count, milliseconds } from '../bench/table.ts'
import { brokenInvariants } from '../executable/ledger.ts'
import { Network, POSTGRES, Postgres, temporaryFolder } from '../postgres.ts'
import { type Running, run } from '../program.ts'
import { bytesOf, Connection } from './connection.ts'
import { Dice } from './dice.ts'
import { LiveFolder } from './live-folder.ts'
import { percentile, progress, type Rig } from './report.ts'
import { logIn, serve } from './server.ts'
import { type Acknowledged, anyWrite, askFor, faultIn, recall, type Write } from './writes.ts'

/**
 * Two servers of one record, in a storm of writes and of an operator's commands, while one of them is killed or stopped, the
 * network to PostgreSQL is cut, or PostgreSQL is killed. Nothing that was acknowledged is missing or there twice, and copies
 * and record hold the same (contract C18).
 */

const WRITERS = 12
const STORM_MS = 400
/** How long a fault may keep everybody waiting. */
const PATIENCE_MS = 20_000
const RECALLED = 40
/** What the short form asks for in the end; the long one asks for everything. */
const RECALLED_SHORT = 300
const KEYS = {
  SCRIP_VOUCHER_KEY: '11'.repeat(32),
  SCRIP_SIGNING_KEY: '22'.repeat(32),
}

const FAULTS = ['kill', 'stop', 'cut both', 'cut answers', 'cut questions', 'postgres'] as const
type Fault = (typeof FAULTS)[number]

export const record: Rig = async ({ rounds, seed, isShort, only }) => {
  if (POSTGRES === undefined) return { tables: [], findings: [] }
  const faults = FAULTS.filter((fault) => only === undefined || fault.includes(only))
  await using postgres = await Postgres.start()
  using folder = temporaryFolder()
  const pair = await Pair.make(postgres, folder.path, new Dice(seed))
  try {
    await pair.begin()
    for (let round = 0; round < (isShort ? faults.length : rounds); round += 1) {
      await pair.round(faults[round % faults.length] ?? 'kill')
    }
    return await pair.end(isShort ? RECALLED_SHORT : Number.POSITIVE_INFINITY)
  } finally {
    await pair.dispose()
  }
}

interface Member {
  dataDir: string
  network: Network
  server: Running | undefined
}

class Pair {
  readonly #members: Member[]
  readonly #acknowledged: Acknowledged[] = []
  /** Their answers were lost: they are asked for again, by their keys. */
  readonly #open: Write[] = []
  readonly #findings: string[] = []
  readonly #gaps = new Map<Fault, number[]>()
  #token = ''
  #active = 0
  #writes = 0
  #funded = 0
  #lastMs = performance.now()
  #longestMs = 0
  #isOver = false
  #writers: Promise<void>[] = []

  private constructor(
    private readonly postgres: Postgres,
    private readonly live: LiveFolder,
    networks: readonly Network[],
    folders: readonly string[],
    private readonly dice: Dice,
  ) {
    this.#members = networks.map((network, index) => ({ dataDir: folders[index] ?? '', network, server: undefined }))
  }

  static async make(postgres: Postgres, folder: string, dice: Dice): Promise<Pair> {
    await postgres.create('rig')
    const live = await LiveFolder.make(join(folder, 'a'), 60_000)
    const networks = [await Network.to(postgres.port), await Network.to(postgres.port)]
    const pair = new Pair(postgres, live, networks, [live.dataDir, join(folder, 'b')], dice)
    const { exitCode, stderr } = await run(['postgres', 'init', '--data-dir', live.dataDir], {
      env: pair.#env(0),
    })
    if (exitCode !== 0) throw new Error(`scrip postgres init: ${exitCode} ${stderr}`)
    return pair
  }

  #keys(): Record<string, string> {
    const key = join(this.live.dataDir, 'voucher.key')
    return existsSync(key)
      ? { SCRIP_VOUCHER_KEY: readFileSync(key, 'utf8').trim(), SCRIP_SIGNING_KEY: KEYS.SCRIP_SIGNING_KEY }
      : KEYS
  }

  #env(index: number): Record<string, string> {
    const port = this.#members[index]?.network.port
    return { ...this.#keys(), SCRIP_POSTGRES: this.postgres.url('rig', port) }
  }

  async #serve(index: number): Promise<void> {
    const member = this.#members[index]
    if (!member) return
    const flags = ['--mode', 'live', '--data-dir', member.dataDir, '--rate-limit', 'off']
    member.server = await serve(flags, { env: this.#env(index) })
  }

  async begin(): Promise<void> {
    await this.#serve(0)
    await this.#serve(1)
    this.#token = await logIn(this.#members[0]?.server?.port ?? 0, this.live.payer.username, this.live.payer.password)
    this.#writers = Array.from({ length: WRITERS }, () => this.#write())
  }

  /** Writes until the rig is over, to whichever server takes it. */
  async #write(): Promise<void> {
    let connection: Connection | undefined
    let at = -1
    while (!this.#isOver) {
      const again = this.dice.chance(0.3) ? this.#open.shift() : undefined
      const write = again ?? anyWrite(this.dice, `n${++this.#writes}`)
      try {
        if (!connection?.isOpen || at !== this.#active) {
          connection?.close()
          at = this.#active
          connection = await Connection.open(this.#members[at]?.server?.port ?? 1)
        }
        const timer = setTimeout((one: Connection) => one.giveUp(), 2_500, connection)
        const answer = await connection.send(bytesOf(askFor(write, this.#token))).finally(() => clearTimeout(timer))
        if (answer.status === 503 || answer.status === 500) throw new Error(String(answer.status))
        const fault = faultIn(write, answer)
        if (fault !== undefined) this.#findings.push(fault)
        else this.#acknowledge({ ...write, status: answer.status, body: answer.body.toString() })
      } catch {
        if (write.isKeyed) this.#open.push(write)
        connection?.close()
        connection = undefined
        if (this.#active === at) this.#active = 1 - at
        await Bun.sleep(20)
      }
    }
    connection?.close()
  }

  #acknowledge(write: Acknowledged): void {
    const nowMs = performance.now()
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastMs)
    this.#lastMs = nowMs
    this.#acknowledged.push(write)
  }

  /** The server that is ready; waits until one is. */
  async #ready(): Promise<number> {
    const endMs = performance.now() + PATIENCE_MS
    while (performance.now() < endMs) {
      for (const [index, { server }] of this.#members.entries()) {
        const response =
          server &&
          (await fetch(`http://127.0.0.1:${server.port}/readyz`, { signal: AbortSignal.timeout(500) }).catch(
            () => undefined,
          ))
        if (response?.status === 200) return index
      }
      await Bun.sleep(20)
    }
    throw new Error(`no server is ready: ${this.#members.map(({ server }) => server?.log()).join('\n')}`)
  }

  async round(fault: Fault): Promise<void> {
    await Bun.sleep(STORM_MS)
    const active = await this.#ready()
    const member = this.#members[active]
    if (!member?.server) return
    if (this.dice.chance(0.5)) await this.#operate(active)
    this.#longestMs = 0
    this.#lastMs = performance.now()
    await this.#strike(fault, active, member, member.server)
    await this.#untilAcknowledged()
    const gaps = this.#gaps.get(fault) ?? []
    this.#gaps.set(fault, [...gaps, this.#longestMs])
    await this.#recall()
    for (const { server: one } of this.#members) {
      if (one?.hasEnded()) this.#findings.push(`a server has ended by itself: ${one.log()}`)
    }
    progress(`${fault}: ${Math.round(this.#longestMs)} ms, ${this.#acknowledged.length} acknowledged`)
  }

  async #strike(fault: Fault, active: number, member: Member, server: Running): Promise<void> {
    if (fault === 'kill') {
      await server.kill()
      await this.#untilAcknowledged()
      await this.#serve(active)
    } else if (fault === 'stop') {
      const watching = await Connection.open(server.port)
      process.kill(server.pid, 'SIGSTOP')
      await this.#untilAcknowledged()
      const path = '/api/v1/wallets'
      const asked = watching.send(bytesOf({ path, headers: { Authorization: `Bearer ${this.#token}` } }))
      process.kill(server.pid, 'SIGCONT')
      const answer = await asked.catch(() => undefined)
      if (answer && answer.status !== 503) this.#findings.push(`a server that was stopped answers ${answer.status}`)
      watching.close()
    } else if (fault === 'postgres') {
      await this.postgres.kill()
      await Bun.sleep(this.dice.below(3_000))
      await this.postgres.start()
    } else {
      const directions = {
        'cut both': ['questions', 'answers'],
        'cut answers': ['answers'],
        'cut questions': ['questions'],
      } as const
      member.network.cut(...directions[fault])
      await Bun.sleep(500 + this.dice.below(3_500))
      member.network.cut()
    }
  }

  /** Until something is acknowledged that was not before. */
  async #untilAcknowledged(): Promise<void> {
    const before = this.#acknowledged.length
    const endMs = performance.now() + PATIENCE_MS
    while (this.#acknowledged.length < before + WRITERS) {
      if (performance.now() > endMs) {
        throw new Error(
          `nothing is acknowledged any more: ${this.#members.map(({ server }) => server?.log()).join('\n')}`,
        )
      }
      await Bun.sleep(10)
    }
  }

  async #operate(active: number): Promise<void> {
    const { dataDir = '' } = this.#members[active] ?? {}
    const { exitCode } = await run(['wallet', 'fund', '1', '1', '--data-dir', dataDir], { env: this.#env(active) })
    if (exitCode === 0) this.#funded += 1
  }

  async #recall(): Promise<void> {
    const active = await this.#ready()
    const connection = await Connection.open(this.#members[active]?.server?.port ?? 1)
    for (let index = 0; index < RECALLED; index += 1) {
      const write = this.dice.pick(this.#acknowledged)
      const fault = await recall(connection, this.#token, write).catch(() => undefined)
      if (fault !== undefined && !/ 503 | 500 /.test(fault)) this.#findings.push(fault.slice(0, 300))
      if (!connection.isOpen) break
    }
    connection.close()
  }

  async end(recalledMax: number) {
    this.#isOver = true
    await Promise.all(this.#writers)
    const active = await this.#ready()
    const connection = await Connection.open(this.#members[active]?.server?.port ?? 1)
    for (const write of this.#sample(recalledMax)) {
      const fault = await recall(connection, this.#token, write)
      if (fault !== undefined) this.#findings.push(fault)
    }
    connection.close()
    this.#findings.push(...(await this.#faultsOfRecord()))
    for (const [index, { dataDir }] of this.#members.entries()) {
      const { exitCode, stdout, stderr } = await run(['verify', '--data-dir', dataDir, '--json'], {
        env: this.#env(index),
      })
      if (exitCode !== 0) this.#findings.push(`scrip verify of server ${index}: ${exitCode} ${stderr} ${stdout}`)
      this.#findings.push(...brokenInvariants(dataDir).map((fault) => `server ${index}: ${fault}`))
    }
    const rows = [...this.#gaps].map(([fault, gaps]) => [
      fault,
      count(gaps.length),
      milliseconds(percentile(gaps, 0.5)),
      milliseconds(Math.max(...gaps)),
    ])
    return {
      tables: [
        [['fault', 'rounds', 'median gap', 'longest gap'], ...rows],
        [
          ['acknowledged', 'commands'],
          [count(this.#acknowledged.length), count(this.#funded)],
        ],
      ],
      findings: this.#findings,
    }
  }

  /** All that was acknowledged, or some of it by chance. */
  #sample(max: number): readonly Acknowledged[] {
    if (this.#acknowledged.length <= max) return this.#acknowledged
    return Array.from({ length: max }, () => this.dice.pick(this.#acknowledged))
  }

  async #faultsOfRecord(): Promise<string[]> {
    const checks: Record<string, string> = {
      'a beneficiary twice': 'SELECT email FROM scrip.beneficiaries GROUP BY email HAVING count(*) > 1',
      'an order twice': 'SELECT reference FROM scrip.orders GROUP BY reference HAVING count(*) > 1',
      'a payout twice': 'SELECT reference_id FROM scrip.payouts GROUP BY reference_id HAVING count(*) > 1',
      'a payout without its event':
        "SELECT id FROM scrip.payouts WHERE 'payout ' || id NOT IN (SELECT record FROM scrip.events WHERE type = 'payout.created')",
      'an order without its event':
        "SELECT id FROM scrip.orders WHERE 'order ' || id NOT IN (SELECT record FROM scrip.events WHERE type = 'order.created')",
      'commits that do not follow one another':
        'SELECT seq FROM (SELECT seq, epoch, lag(seq) OVER w AS before, lag(epoch) OVER w AS earlier FROM scrip.changes WINDOW w AS (ORDER BY seq)) AS c WHERE seq <> before + 1 OR epoch < earlier',
      'fewer commands than succeeded': `SELECT 1 FROM scrip.transactions WHERE source_type = 'funding' HAVING count(*) < ${this.#funded + 1}`,
    }
    const found: string[] = []
    for (const [name, sql] of Object.entries(checks)) {
      const rows = await this.postgres.sql(sql, 'rig')
      if (rows.length > 0) found.push(`${name}: ${rows.slice(0, 5).join(' ')}`)
    }
    return found
  }

  async dispose(): Promise<void> {
    this.#isOver = true
    for (const { server, network } of this.#members) {
      if (server && !server.hasEnded()) await server.kill()
      network[Symbol.dispose]()
    }
  }
}
