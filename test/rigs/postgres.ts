import { count, milliseconds } from '../bench/table.ts'
import { brokenInvariants } from '../executable/ledger.ts'
import { POSTGRES } from '../postgres.ts'
import { type Running, temporaryFolder } from '../program.ts'
import { ask, bytesOf, Connection } from './connection.ts'
import { Dice } from './dice.ts'
import { faultsOfEpochs, faultsOfRows, lostEvents } from './postgres-checks.ts'
import { type Member, PATIENCE_MS, Pair } from './postgres-pair.ts'
import { type Options, percentile, type Rig } from './report.ts'
import { logIn } from './server.ts'
import { type Acknowledged, anyWrite, askFor, faultIn, recall, type Write } from './writes.ts'

/**
 * Two servers of one installation, in a storm of writes and of an operator's commands, while one of them hands over, is killed or
 * stopped, the network to PostgreSQL is cut, PostgreSQL is killed, or its standby promoted or stalled. Nothing that was acknowledged
 * is missing or there twice, no event is lost, copies and PostgreSQL hold the same, and no two servers acknowledge in one epoch
 * (contract C18).
 */

const WRITERS = 12
const STORM_MS = 400
const LOOK_MS = 10
const RECALLED = 40
/** The number of writes that the short form asks for at the end; the long form asks for all. */
const RECALLED_SHORT = 300
/** The number of times that an unanswered write is sent again. */
const TRIES = 20

const FAULTS = [
  'hand over',
  'kill',
  'stop',
  'cut both',
  'cut responses',
  'cut requests',
  'postgres',
  'promotion',
  'stall',
] as const
type Fault = (typeof FAULTS)[number]

export const postgres: Rig = async ({ rounds, seed, isShort, progress }) => {
  if (POSTGRES === undefined) return { tables: [], findings: [] }
  using folder = temporaryFolder()
  const roundCount = isShort ? FAULTS.length : rounds
  await using pair = await Pair.start(folder.path, roundCount)
  const storm = new Storm(pair, new Dice(seed), isShort, progress)
  await storm.begin()
  for (let round = 0; round < roundCount; round += 1) {
    await storm.round(FAULTS[round % FAULTS.length] ?? 'kill')
  }
  return await storm.end(isShort ? RECALLED_SHORT : Number.POSITIVE_INFINITY)
}

class Storm {
  readonly #acknowledged: Acknowledged[] = []
  /** The process that was the first to acknowledge each write. */
  readonly #makers = new Map<string, number>()
  /** Writes whose responses were lost: they are repeated with their keys. */
  readonly #open: Write[] = []
  readonly #findings: string[] = []
  readonly #gaps = new Map<Fault, number[]>()
  #token = ''
  #eventsBefore = '0'
  #active = 0
  #writes = 0
  #funded = 0
  #lastMs = performance.now()
  #longestMs = 0
  #isOver = false
  #isResting = false
  #writers: Promise<void>[] = []

  constructor(
    private readonly pair: Pair,
    private readonly dice: Dice,
    /** Events of the one wallet are delivered one after another: the short form makes fewer, and rests while it recalls. */
    private readonly isShort: boolean,
    private readonly progress: Options['progress'],
  ) {}

  async begin(): Promise<void> {
    const { live, receiver } = this.pair
    const port = this.#portOf(await this.pair.ready())
    this.#token = await logIn(port, live.payer.username, live.payer.password)
    ;[this.#eventsBefore = '0'] = await this.pair.sql('SELECT coalesce(max(id), 0) FROM scrip.events')
    const { status, body } = await ask(port, {
      path: '/api/v1/webhooks',
      headers: { Authorization: `Bearer ${this.#token}` },
      body: JSON.stringify({ name: 'rig', url: receiver.url, events: ['*'] }),
    })
    if (status !== 201) throw new Error(`webhook: ${status} ${body}`)
    this.#writers = Array.from({ length: WRITERS }, () => this.#write())
  }

  /** Writes until the rig is over, to whichever server takes it. */
  async #write(): Promise<void> {
    let connection: Connection | undefined
    let at = -1
    let pid = 0
    while (!this.#isOver) {
      if (this.#isResting) {
        await Bun.sleep(LOOK_MS)
        continue
      }
      const again = this.dice.chance(0.3) ? this.#open.shift() : undefined
      const write = again ?? anyWrite(this.dice, `n${++this.#writes}`)
      let hasNoEffect = false
      try {
        if (!connection?.isOpen || at !== this.#active) {
          connection?.close()
          at = this.#active
          const { server } = this.pair.members[at] ?? {}
          pid = server?.pid ?? 0
          connection = await Connection.open(server?.port ?? 1)
        }
        const timer = setTimeout((one: Connection) => one.giveUp(), 2_500, connection)
        const response = await connection.send(bytesOf(askFor(write, this.#token))).finally(() => clearTimeout(timer))
        if (response.status === 503) hasNoEffect = true
        if (response.status === 503 || response.status === 500) throw new Error(String(response.status))
        const fault = faultIn(write, response)
        if (fault !== undefined) this.#findings.push(fault)
        else {
          if (!/\r\nidempotent-replayed: true/i.test(response.head)) this.#makers.set(write.name, pid)
          this.#acknowledge({ ...write, status: response.status, body: response.body.toString() })
        }
      } catch {
        // As docs/use/errors.md says: a 503 is repeated, and a write that may have been done is repeated only with its key.
        if (write.isKeyed || hasNoEffect) this.#open.push(write)
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

  async round(fault: Fault): Promise<void> {
    await Bun.sleep(STORM_MS)
    const active = await this.pair.ready()
    const member = this.pair.members[active]
    if (!member?.server) return
    if (this.dice.chance(0.5)) await this.#operate(active)
    this.#longestMs = 0
    this.#lastMs = performance.now()
    await this.#strike(fault, active, member, member.server)
    await this.#untilAcknowledged()
    const gaps = this.#gaps.get(fault) ?? []
    this.#gaps.set(fault, [...gaps, this.#longestMs])
    this.#isResting = this.isShort
    await this.#recall(Array.from({ length: RECALLED }, () => this.dice.pick(this.#acknowledged)))
    this.#isResting = false
    for (const { server: one } of this.pair.members) {
      if (one?.hasEnded()) this.#findings.push(`a server has ended by itself: ${one.log()}`)
    }
    this.progress(`${fault}: ${Math.round(this.#longestMs)} ms, ${this.#acknowledged.length} acknowledged`)
  }

  async #strike(fault: Fault, active: number, member: Member, server: Running): Promise<void> {
    if (fault === 'hand over' || fault === 'kill') {
      await (fault === 'kill' ? server.kill() : server.stop())
      await this.#untilAcknowledged()
      await this.pair.serve(active)
    } else if (fault === 'stop') {
      const watching = await Connection.open(server.port)
      process.kill(server.pid, 'SIGSTOP')
      await this.#untilAcknowledged()
      const path = '/api/v1/wallets'
      const pending = watching.send(bytesOf({ path, headers: { Authorization: `Bearer ${this.#token}` } }))
      process.kill(server.pid, 'SIGCONT')
      const response = await pending.catch(() => undefined)
      if (response && response.status !== 503)
        this.#findings.push(`a server that was stopped responds with ${response.status}`)
      watching.close()
    } else if (fault === 'postgres') {
      await this.pair.postgres.kill()
      await Bun.sleep(this.dice.below(3_000))
      await this.pair.postgres.start()
    } else if (fault === 'promotion') {
      await this.pair.promote(() => this.#untilAcknowledged())
      this.#longestMs = 0
      this.#lastMs = performance.now() // a gap counts from the promotion on
    } else if (fault === 'stall') {
      await this.pair.stall(1_500 + this.dice.below(1_000), () => this.#untilAcknowledged())
    } else {
      const directions = {
        'cut both': ['requests', 'responses'],
        'cut responses': ['responses'],
        'cut requests': ['requests'],
      } as const
      member.network.cut(...directions[fault])
      await Bun.sleep(500 + this.dice.below(3_500))
      member.network.cut()
    }
  }

  /** Waits until a write is acknowledged that was sent after the fault: each writer has one response on its way. */
  async #untilAcknowledged(): Promise<void> {
    const before = this.#acknowledged.length
    const endMs = performance.now() + PATIENCE_MS
    while (this.#acknowledged.length <= before + WRITERS) {
      if (performance.now() > endMs) {
        throw new Error(`nothing is acknowledged: ${this.pair.logs}`)
      }
      await Bun.sleep(LOOK_MS)
    }
  }

  #portOf(index: number): number {
    return this.pair.members[index]?.server?.port ?? 1
  }

  async #operate(active: number): Promise<void> {
    const { exitCode } = await this.pair.command(active, 'wallet', 'fund', '1', '1')
    if (exitCode === 0) this.#funded += 1
  }

  async #recall(writes: readonly Acknowledged[]): Promise<void> {
    for (const write of writes) {
      const fault = await this.#faultOf(write)
      if (fault !== undefined) this.#findings.push(fault.slice(0, 300))
    }
    this.#reader?.close()
    this.#reader = undefined
  }
  #reader: Connection | undefined

  /** Asks whichever server is ready: the lease may change hands by itself, where the disk is slow. */
  async #faultOf(write: Acknowledged): Promise<string | undefined> {
    for (let left = TRIES; ; left -= 1) {
      try {
        this.#reader ??= await Connection.open(this.#portOf(await this.pair.ready()))
        const fault = await recall(this.#reader, this.#token, write)
        if (left === 0 || fault === undefined || !/ 503 | 500 /.test(fault)) return fault
      } catch (error) {
        if (left === 0) return String(error)
      }
      this.#reader?.close()
      this.#reader = undefined
    }
  }

  async end(recalledMax: number) {
    this.#isOver = true
    await Promise.all(this.#writers)
    await this.#recall(this.#sample(recalledMax))
    this.#findings.push(...(await faultsOfRows(this.pair.sql, this.#funded + 1)))
    this.#findings.push(...(await faultsOfEpochs(this.pair.sql, this.#makers)))
    this.#findings.push(...(await lostEvents(this.pair.sql, this.#eventsBefore, this.pair.receiver)))
    for (const [index, { dataDir }] of this.pair.members.entries()) {
      const { exitCode, stdout, stderr } = await this.pair.command(index, 'verify', '--json')
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
          ['acknowledged', 'commands', 'deliveries'],
          [this.#acknowledged.length, this.#funded, this.pair.receiver.received.length].map(count),
        ],
      ],
      findings: this.#findings,
    }
  }

  /** All acknowledged writes, or a random part of them. */
  #sample(max: number): readonly Acknowledged[] {
    if (this.#acknowledged.length <= max) return this.#acknowledged
    return Array.from({ length: max }, () => this.dice.pick(this.#acknowledged))
  }
}
