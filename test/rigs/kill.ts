import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { count } from '../bench/table.ts'
import { brokenInvariants } from '../executable/ledger.ts'
import { type Running, temporaryFolder } from '../program.ts'
import { Broken, bytesOf, Connection } from './connection.ts'
import { Dice } from './dice.ts'
import { Guest } from './guest.ts'
import { LiveFolder } from './live-folder.ts'
import { Operator } from './operator.ts'
import type { Rig } from './report.ts'
import { logIn } from './server.ts'
import { type Acknowledged, anyWrite, askFor, faultIn, recall, retry, type Write } from './writes.ts'

/**
 * Kills the server in the middle of a storm of writes, with commands of the operator beside it, starts it again, and
 * checks everything that was acknowledged. A round is a storm, a kill and a recovery.
 */

const WRITERS = 6
const ACKNOWLEDGED_MAX = 120
/** The number of rounds after which a new folder is used, so that rounds do not become slower. */
const ROUNDS_OF_A_FOLDER = 50
/** The number of writes of older rounds that are read again. */
const OLD_ONES = 20
/** More than are sold in the rounds of a folder. */
const CODES = 10_000
const VERIFY_EVERY = 10

export const kill: Rig = async ({ rounds, seed, isShort }) => {
  using temporary = temporaryFolder()
  const folder = temporary.path
  const tally = new Tally()
  const template = await LiveFolder.make(join(folder, 'template'), isShort ? 1_000 : CODES)
  const dice = new Dice(seed)
  const all = isShort ? 2 : rounds
  for (let from = 0; from < all; from += ROUNDS_OF_A_FOLDER) {
    const dataDir = join(folder, `data-${from}`)
    const ordeal = new Ordeal(template.copyTo(dataDir), dice, tally)
    await ordeal.last(Math.min(ROUNDS_OF_A_FOLDER, all - from))
    rmSync(dataDir, { recursive: true })
  }
  return { tables: [tally.rows()], findings: tally.findings }
}

class Tally {
  kills = 0
  acknowledged = 0
  unacknowledged = 0
  recalled = 0
  commands = 0
  commandsKilled = 0
  logins = 0
  readonly findings: string[] = []

  note(finding: string | undefined): void {
    if (finding !== undefined) this.findings.push(finding)
  }

  rows(): string[][] {
    return [
      ['done', 'times'],
      ['kill -9', count(this.kills)],
      ['writes acknowledged', count(this.acknowledged)],
      ['writes without a response', count(this.unacknowledged)],
      ['asked for again', count(this.recalled)],
      ['logins and logouts', count(this.logins)],
      ['commands beside it', count(this.commands)],
      ['commands killed', count(this.commandsKilled)],
      ['lost, or with another response', count(this.findings.length)],
    ]
  }
}

/** One folder, and the rounds that it goes through. */
class Ordeal {
  readonly #acknowledged: Acknowledged[] = []
  readonly #cards = new Set<string>()
  readonly #guest: Guest
  readonly #operator: Operator
  #unacknowledged: Write[] = []
  /** The index of the first write of the last round. */
  #recent = 0
  #names = 0

  constructor(
    private readonly live: LiveFolder,
    private readonly dice: Dice,
    private readonly tally: Tally,
  ) {
    this.#guest = new Guest(live.guest)
    this.#operator = new Operator(live, dice)
  }

  async last(rounds: number): Promise<void> {
    let server = await this.live.serve()
    let token = await logIn(server.port, this.live.payer.username, this.live.payer.password)
    for (let round = 1; round <= rounds; round++) {
      await this.#storm(server, token)
      for (const broken of brokenInvariants(this.live.dataDir)) this.tally.note(`broken after a kill: ${broken}`)
      server = await this.live.serve()
      await this.#recover(server, token)
      if (round % VERIFY_EVERY === 0 || round === rounds) await this.#verify()
      token = await logIn(server.port, this.live.payer.username, this.live.payer.password)
    }
    const { exitCode } = await server.stop()
    if (exitCode !== 0) this.tally.note(`SIGTERM ends with ${exitCode}: ${server.log()}`)
    await this.#verify()
  }

  async #storm(server: Running, token: string): Promise<void> {
    this.#recent = this.#acknowledged.length
    this.#unacknowledged = []
    const killAt = this.#recent + 1 + this.dice.below(ACKNOWLEDGED_MAX)
    let killed: Promise<void> | undefined
    const writer = async (): Promise<void> => {
      const connection = await Connection.open(server.port)
      for (;;) {
        const write = anyWrite(this.dice, `w${++this.#names}`)
        try {
          this.#acknowledge(write, await connection.send(bytesOf(askFor(write, token))))
        } catch (error) {
          if (!(error instanceof Broken)) throw error
          this.#unacknowledged.push(write)
          return
        }
        if (this.#acknowledged.length >= killAt) killed ??= server.kill()
      }
    }
    const command = this.#operator.work()
    await Promise.all([...Array.from({ length: WRITERS }, writer), this.#guest.comeAndGo(server)])
    await killed
    this.tally.kills += 1
    this.tally.unacknowledged += this.#unacknowledged.length
    this.tally.commands += 1
    const { finding, wasKilled } = await command
    this.tally.note(finding)
    if (wasKilled) this.tally.commandsKilled += 1
    if (server.log() !== '') this.tally.note(`the log says ${server.log()}`)
  }

  #acknowledge(write: Write, response: { status: number; head: string; body: Buffer }): void {
    this.tally.note(faultIn(write, response))
    const body = response.body.toString()
    this.#acknowledged.push({ ...write, status: response.status, body })
    this.tally.acknowledged += 1
    this.#operator.hear(write.kind, body)
    if (write.kind !== 'orders') return
    for (const { card_number } of (JSON.parse(body) as { vouchers?: { card_number: string }[] }).vouchers ?? []) {
      if (this.#cards.has(card_number)) this.tally.note(`${card_number} was sold twice`)
      this.#cards.add(card_number)
    }
  }

  async #recover(server: Running, token: string): Promise<void> {
    const connection = await Connection.open(server.port)
    const old = Array.from({ length: Math.min(OLD_ONES, this.#recent) }, () => this.dice.below(this.#recent))
    for (const write of [
      ...old.flatMap((at) => this.#acknowledged[at] ?? []),
      ...this.#acknowledged.slice(this.#recent),
    ]) {
      this.tally.note(await recall(connection, token, write))
      this.tally.recalled += 1
    }
    for (const write of this.#unacknowledged) {
      if (write.isKeyed) this.tally.note(await retry(connection, token, write))
    }
    for (const finding of await this.#guest.findings(connection)) this.tally.note(finding)
    this.tally.logins = this.tally.logins + this.#guest.takeCount()
    for (const finding of await this.#operator.findings(connection, token)) this.tally.note(finding)
    connection.close()
  }

  async #verify(): Promise<void> {
    const { exitCode, stdout, stderr } = await this.live.command('verify')
    if (exitCode !== 0) this.tally.note(`scrip verify ends with ${exitCode}: ${stdout}${stderr}`)
  }
}
