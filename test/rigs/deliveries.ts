import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { count } from '../bench/table.ts'
import { ON_A_SMALL_DISK, type Running, temporaryFolder } from '../program.ts'
import { Broken, bytesOf, Connection } from './connection.ts'
import { Dice } from './dice.ts'
import { type EventBody, Partner, recordOf } from './partner.ts'
import { type Behaviour, breakOff, Receiver, respondWith } from './receiver.ts'
import type { Rig } from './report.ts'
import { serve } from './server.ts'

/**
 * Kills the server in the middle of a storm of deliveries and starts it again. In the end every event must have come to every
 * webhook, and no event of a record before the one before it was accepted. A round is a storm, a kill and a restart. At the
 * end a disk gets full.
 */

const WRITERS = 4
const WRITES_MAX = 60
/** The number of rounds after which a new folder is used. */
const ROUNDS_OF_A_FOLDER = 25
const PATHS = ['/one', '/two', '/three']
/** Of the deliveries: refused, broken off, and late. */
const [REFUSED, BROKEN, LATE] = [0.08, 0.04, 0.1]
const LATE_MS = 30
const WRITES_OF_A_DISK = 2_000
/** Longer than the pause before any retry. */
const LAST_STEP = 'PT7H'

export const deliveries: Rig = async ({ rounds, seed, isShort }) => {
  using temporary = temporaryFolder()
  const folder = temporary.path
  const tally = { kills: 0, writes: 0, events: 0, received: 0, findings: [] as string[] }
  const dice = new Dice(seed)
  const all = isShort ? 2 : rounds
  for (let from = 0; from < all; from += ROUNDS_OF_A_FOLDER) {
    const dataDir = join(folder, `data-${from}`)
    await new Storm(dataDir, dice, tally).last(Math.min(ROUNDS_OF_A_FOLDER, all - from))
    rmSync(dataDir, { recursive: true })
  }
  const rows = [
    ['done', 'times'],
    ['kill -9', count(tally.kills)],
    ['orders and payouts', count(tally.writes)],
    ['events', count(tally.events)],
    ['deliveries to three webhooks', count(tally.received)],
    ...(await onAFullDisk(join(folder, 'full'), tally.findings)),
    ['lost, or out of order', count(tally.findings.length)],
  ]
  return { tables: [rows], findings: tally.findings }
}

/** Results that cannot be written down: the event is sent again once there is room. */
const onAFullDisk = async (dataDir: string, findings: string[]): Promise<string[][]> => {
  const receiver = await Receiver.open(respondWith(200))
  const server = await serve(['--data-dir', dataDir, '--rate-limit', 'off'], { through: ON_A_SMALL_DISK })
  const partner = await Partner.of(server)
  // Payouts that move on while the events are read would make more of them.
  await partner.post('/_sandbox/clock', { frozen: true })
  await partner.hook(receiver.port, '/full', ['payout.*'])
  let refused = 0
  for (let number = 0; number < WRITES_OF_A_DISK && refused < 20; number++) {
    if ((await partner.pay(`p${number}`)).status === 503) refused += 1
  }
  if (refused === 0) findings.push('the disk did not get full')
  Bun.spawnSync(['prlimit', '--pid', String(server.pid), '--fsize=unlimited'])
  while ((await partner.pay('again')).status === 503) await Bun.sleep(50)
  await partner.settle()
  const events = (await partner.events()).filter(({ type }) => type.startsWith('payout.'))
  const came = new Set(receiver.received.map(({ body }) => (JSON.parse(body) as EventBody).id))
  const lost = events.filter(({ id }) => !came.has(id))
  if (lost.length > 0) findings.push(`a full disk: ${lost.length} of ${events.length} events never came`)
  const { exitCode } = await server.stop()
  if (exitCode !== 0) findings.push(`SIGTERM ends with ${exitCode}`)
  await receiver.close()
  return [
    ['writes on a full disk, refused', count(refused)],
    ['events on a full disk', count(events.length)],
  ]
}

type Tally = { kills: number; writes: number; events: number; received: number; findings: string[] }

/** The reply of a receiver to a delivery. */
interface Delivered {
  event: EventBody
  isAccepted: boolean
}

class Storm {
  readonly #delivered = new Map<string, Delivered[]>(PATHS.map((path) => [path, []]))
  #names = 0
  /** Everything is accepted from now on. */
  #isOver = false

  constructor(
    private readonly dataDir: string,
    private readonly dice: Dice,
    private readonly tally: Tally,
  ) {}

  async last(rounds: number): Promise<void> {
    const receiver = await Receiver.open((socket, received) => this.#respond(socket, received))
    let server = await this.#serve()
    let partner = await Partner.of(server)
    for (const path of PATHS) await partner.hook(receiver.port, path)
    await partner.post('/_sandbox/wallets/1/fund', { amount: 10_000_000 })
    for (let round = 0; round < rounds; round++) {
      await this.#rage(server, partner)
      server = await this.#serve()
      partner = await Partner.of(server)
      await partner.advance('PT1M')
    }
    this.#isOver = true
    await partner.settle()
    await partner.advance(LAST_STEP)
    await partner.settle()
    await this.#check(partner)
    const { exitCode } = await server.stop()
    if (exitCode !== 0) this.tally.findings.push(`SIGTERM ends with ${exitCode}: ${server.log()}`)
    await receiver.close()
  }

  #serve(): Promise<Running> {
    return serve(['--data-dir', this.dataDir, '--rate-limit', 'off'])
  }

  #respond(...[socket, received]: Parameters<Behaviour>): void {
    const event = JSON.parse(received.body) as EventBody
    const thrown = this.dice.below(1_000) / 1_000
    const isAccepted = this.#isOver || thrown >= REFUSED + BROKEN
    this.#delivered.get(received.path)?.push({ event, isAccepted })
    this.tally.received += 1
    const respond = isAccepted ? respondWith(200) : thrown < BROKEN ? breakOff : respondWith(500)
    if (!this.#isOver && thrown > 1 - LATE) setTimeout(respond, LATE_MS, socket, received)
    else respond(socket, received)
  }

  /** Writes from several connections, and kills the server after some of the responses. */
  async #rage(server: Running, { headers }: Partner): Promise<void> {
    let left = 1 + this.dice.below(WRITES_MAX)
    let killed: Promise<void> | undefined
    const writer = async (): Promise<void> => {
      const connection = await Connection.open(server.port)
      for (;;) {
        try {
          const { status, body } = await connection.send(bytesOf({ headers, ...this.#write() }))
          if (status >= 300) this.tally.findings.push(`a write is ${status}: ${body}`)
        } catch (error) {
          if (!(error instanceof Broken)) throw error
          return
        }
        this.tally.writes += 1
        left -= 1
        if (left <= 0) killed ??= server.kill()
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, writer))
    await killed
    this.tally.kills += 1
    if (server.log() !== '') this.tally.findings.push(`the log says ${server.log()}`)
  }

  #write(): { path: string; body: string } {
    const person = { beneficiary_email: 'a@example.com', beneficiary_first_name: 'A', beneficiary_last_name: 'B' }
    const name = `w${++this.#names}`
    return this.dice.chance(0.5)
      ? { path: '/api/v1/orders', body: JSON.stringify({ product_id: 2, denomination: 50, quantity: 1 }) }
      : {
          path: '/api/v1/payouts',
          body: JSON.stringify({ reference_id: name, wallet_id: 1, amount: 1, currency: 'USD', ...person }),
        }
  }

  async #check(partner: Partner): Promise<void> {
    const events = await partner.events()
    this.tally.events += events.length
    for (const [path, delivered] of this.#delivered) {
      for (const finding of findingsOf(events, delivered)) this.tally.findings.push(`${path}: ${finding}`)
    }
  }
}

/** Events that are lost, or that came before an earlier event was accepted. */
const findingsOf = (events: readonly EventBody[], delivered: readonly Delivered[]): string[] => {
  const findings: string[] = []
  const accepted = new Set(delivered.filter(({ isAccepted }) => isAccepted).map(({ event }) => event.id))
  const before = new Map<string, string>()
  const last = new Map<string, string>()
  for (const { id, type, ...event } of events) {
    if (!accepted.has(id)) findings.push(`${type} ${id} never came`)
    const record = recordOf({ id, type, ...event })
    const earlier = last.get(record)
    if (earlier !== undefined) before.set(id, earlier)
    last.set(record, id)
  }
  const done = new Set<string>()
  for (const { event, isAccepted } of delivered) {
    const earlier = before.get(event.id)
    if (earlier !== undefined && !done.has(earlier)) findings.push(`${event.type} ${event.id} came before ${earlier}`)
    if (isAccepted) done.add(event.id)
  }
  return findings
}
