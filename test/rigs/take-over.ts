import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { count, milliseconds } from '../bench/table.ts'
import { brokenInvariants } from '../executable/ledger.ts'
import { type Running, run } from '../program.ts'
import { type Ask, ask, bytesOf, Connection, type RawResponse } from './connection.ts'
import { Dice } from './dice.ts'
import { LiveFolder } from './live-folder.ts'
import { buildNext, FAILING_MIGRATION } from './next-release.ts'
import { type Options, percentile, type Rig } from './report.ts'
import { logIn } from './server.ts'
import { type Acknowledged, anyWrite, askFor, faultIn, recall } from './writes.ts'

/**
 * Servers take over from each other under load. No request fails, none waits for long, and nothing that was acknowledged
 * is lost. A round is one hand-over; every second one is to a release with one more migration, after one whose migration
 * fails.
 */

/** Clients that keep their connections open, and clients that open one for each request. */
const KEEPING = 6
const FRESH = 6
const PAUSE_MS = 4
/** Without a hand-over, before and after each one. */
const QUIET_MS = 1_200
const SHORT_QUIET_MS = 200
/** Of all that was acknowledged, so much is asked for again after each round. */
const RECALLED = 200
const CODES = 60_000
/** New connections after each hand-over. */
const ARRIVING = 20
/** The figures to reach, in the long form (docs/robustness.md): of each hand-over, and 30,000 requests of ten. */
const GAP_MS_MAX = 100
const REQUESTS_MIN = 3_000

export const takeOver: Rig = async ({ rounds, seed, isShort, progress }) => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-rig-'))
  try {
    const live = await LiveFolder.make(join(folder, 'live'), isShort ? 2_000 : CODES)
    const relay = new Relay(live, new Dice(seed), isShort, progress)
    const releases = isShort ? [] : await buildReleases(join(folder, 'releases'), Math.floor(rounds / 2), progress)
    await relay.begin()
    for (let round = 1; round <= (isShort ? 1 : rounds); round++) {
      const release = round % 2 === 0 ? releases[round / 2 - 1] : undefined
      if (release) await relay.fail(release.broken)
      await relay.round(release?.good)
    }
    return await relay.end()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Release {
  good: string
  broken: string
}

/** Each has one more migration than the one before; the broken ones fail at theirs. */
const buildReleases = async (folder: string, number: number, progress: Options['progress']): Promise<Release[]> => {
  const releases: Release[] = []
  const migrations: string[] = []
  for (let index = 1; index <= number; index++) {
    progress(`building release ${index} of ${number}`)
    const broken = [...migrations, FAILING_MIGRATION]
    migrations.push(`CREATE INDEX transactions_next_${index} ON transactions (remarks, id)`)
    releases.push({
      good: await buildNext(join(folder, `good-${index}`), migrations),
      broken: await buildNext(join(folder, `broken-${index}`), broken),
    })
  }
  return releases
}

class Relay {
  readonly #findings: string[] = []
  readonly #rows = [['hand-over', 'to', 'requests', 'failed', 'gap without', 'gap p100', 'start to ready']]
  /** The longest request of all hand-overs. */
  #gapMs = 0
  readonly #acknowledged: Acknowledged[] = []
  readonly #servers: Running[] = []
  readonly #load: Promise<void>[] = []
  #latencies: number[] = []
  #requests = 0
  #failed = 0
  #names = 0
  #token = ''
  #isOver = false
  /** The release that serves. */
  #command: string[] | undefined

  constructor(
    private readonly live: LiveFolder,
    private readonly dice: Dice,
    private readonly isShort: boolean,
    private readonly progress: Options['progress'],
  ) {}

  get #port(): number {
    return this.#servers[0]?.port ?? 0
  }

  async begin(): Promise<void> {
    this.#servers.push(await this.live.serve())
    this.#token = await logIn(this.#port, this.live.payer.username, this.live.payer.password)
    for (let client = 0; client < KEEPING; client++) this.#load.push(this.#keep())
    for (let client = 0; client < FRESH; client++) this.#load.push(this.#comeAnew())
  }

  async round(release?: string): Promise<void> {
    const [requests, failed] = [this.#requests, this.#failed]
    const quietMs = await this.#calm()
    const charge = await this.#charge()
    const startedMs = performance.now()
    if (release) this.#command = [release]
    this.#servers.push(await this.live.serveBy(this.#command, '--take-over'))
    const readyMs = performance.now() - startedMs
    await this.#chargeAgain(charge)
    await this.#arrive()
    do await this.#pause()
    while (!this.isShort && this.#requests - requests < REQUESTS_MIN)
    const gapMs = percentile(this.#latencies, 1)
    this.#gapMs = Math.max(this.#gapMs, gapMs)
    const { length } = this.#servers
    if (!this.isShort && gapMs > GAP_MS_MAX) this.#findings.push(`hand-over ${length - 1}: ${milliseconds(gapMs)}`)
    await this.#recall()
    const row = [
      String(length - 1),
      release ? 'a next release' : 'the same',
      count(this.#requests - requests),
      count(this.#failed - failed),
      milliseconds(quietMs),
      milliseconds(gapMs),
      milliseconds(readyMs),
    ]
    this.#rows.push(row)
    this.progress(row.join('  '))
  }

  /** A server that cannot migrate leaves the other one serving. */
  async fail(executable: string): Promise<void> {
    const flags = ['--mode', 'live', '--data-dir', this.live.dataDir, '--port', '0', '--take-over']
    const { exitCode, stderr } = await run(['serve', ...flags], { command: [executable] })
    if (exitCode !== 4) this.#findings.push(`a failing migration ends with ${exitCode}: ${stderr}`)
  }

  async end() {
    this.#isOver = true
    await Promise.all(this.#load)
    for (const server of this.#servers) {
      const { exitCode } = await server.stop()
      if (exitCode !== 0) this.#findings.push(`a server ends with ${exitCode}: ${server.log()}`)
      if (server.log() !== '') this.#findings.push(`a log says ${server.log()}`)
    }
    this.#findings.push(...brokenInvariants(this.live.dataDir))
    const verified = await run(['verify', '--data-dir', this.live.dataDir], { command: this.#command })
    if (verified.exitCode !== 0) this.#findings.push(`verify: ${verified.stdout}${verified.stderr}`)
    this.#rows.push(['all', '', count(this.#requests), count(this.#failed), '', milliseconds(this.#gapMs)])
    return { tables: [this.#rows], findings: this.#findings }
  }

  /** The longest request of a while without a hand-over. */
  async #calm(): Promise<number> {
    this.#latencies = []
    await this.#pause()
    const longestMs = percentile(this.#latencies, 1)
    this.#latencies = []
    return longestMs
  }

  #pause(): Promise<void> {
    return Bun.sleep(this.isShort ? SHORT_QUIET_MS : QUIET_MS)
  }

  async #keep(): Promise<void> {
    let connection: Connection | undefined
    while (!this.#isOver) {
      await this.#ask(async (question) => {
        connection ??= await Connection.open(this.#port)
        const response = await connection.send(bytesOf(question))
        if (/\r\nconnection: close/i.test(response.head)) {
          connection.close()
          connection = undefined
        }
        return response
      })
      if (connection && !connection.isOpen) connection = undefined
    }
    connection?.close()
  }

  async #comeAnew(): Promise<void> {
    while (!this.#isOver) await this.#ask((question) => ask(this.#port, question))
  }

  async #ask(send: (question: Ask) => Promise<RawResponse>): Promise<void> {
    await Bun.sleep(PAUSE_MS)
    const startedMs = performance.now()
    try {
      if (this.dice.chance(0.5)) await this.#write(send)
      else await this.#read(send)
    } catch (error) {
      this.#fail(String(error))
    }
    this.#requests += 1
    this.#latencies.push(performance.now() - startedMs)
  }

  async #write(send: (question: Ask) => Promise<RawResponse>): Promise<void> {
    const write = anyWrite(this.dice, `t${++this.#names}`)
    const response = await send(askFor(write, this.#token))
    const fault = faultIn(write, response)
    if (fault === undefined)
      this.#acknowledged.push({ ...write, status: response.status, body: response.body.toString() })
    else this.#fail(fault)
  }

  async #read(send: (question: Ask) => Promise<RawResponse>): Promise<void> {
    const path = this.dice.pick(['/api/v1/wallets', '/api/v1/products', '/api/v1/orders', '/status', '/readyz'])
    const { status, body } = await send({ path, headers: { Authorization: `Bearer ${this.#token}` } })
    if (status !== 200) this.#fail(`${path}: ${status} ${body}`)
  }

  #fail(what: string): void {
    this.#failed += 1
    this.#findings.push(what)
  }

  /** New connections are the new server's: a response that closes its connection comes through the old one. */
  async #arrive(): Promise<void> {
    for (let number = 0; number < ARRIVING; number++) {
      const { head } = await ask(this.#port, { path: '/status' })
      if (/\r\nconnection: close/i.test(head)) return void this.#findings.push('a new connection got to the old server')
    }
  }

  #charge(): Promise<RawResponse> {
    const headers = { Authorization: `Bearer ${this.#token}` }
    const body = JSON.stringify({ denomination: 10, quantity: 3 })
    return ask(this.#port, { path: '/api/v1/products/1/charges', headers, body })
  }

  async #chargeAgain(charge: RawResponse): Promise<void> {
    try {
      const again = await this.#charge()
      if (again.body.equals(charge.body) && /\r\nx-cache: hit/i.test(again.head)) return
      this.#findings.push(`a held charge became ${again.head}${again.body}, not ${charge.body}`)
    } catch (error) {
      this.#fail(`a held charge: ${error}`)
    }
  }

  async #recall(): Promise<void> {
    const connection = await Connection.open(this.#port)
    for (let number = 0; number < RECALLED; number++) {
      const write = this.#acknowledged[this.dice.below(this.#acknowledged.length)]
      const finding =
        write && (await recall(connection, this.#token, write).catch((error) => `recall ${number}: ${error}`))
      if (finding !== undefined) this.#findings.push(finding)
      if (!connection.isOpen) return
    }
    connection.close()
  }
}
