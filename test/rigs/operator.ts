import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch } from '../program.ts'
import { bytesOf, type Connection } from './connection.ts'
import type { Dice } from './dice.ts'
import { codesOf, type LiveFolder } from './live-folder.ts'
import type { Kind } from './writes.ts'

/** The operator, who works on the folder beside the server; now and then a command is killed, too. */

const KILLED = 0.2
const KILL_WITHIN_MS = 150
const COMMANDS = ['fund', 'backup', 'add a client', 'advance a payout', 'import codes', 'set a rate', 'verify'] as const

interface Worked {
  finding: string | undefined
  wasKilled: boolean
}

export class Operator {
  #turn = 0
  /** The deposits into the first wallet that certainly succeeded, with its first; and those that possibly did. */
  #funded = 1
  #perhapsFunded = 0
  #payout: string | undefined
  /** The payout that was moved on. */
  #advanced: string | undefined
  /** A client that was added, and one whose adding was killed. */
  #added: string[] = []

  constructor(
    private readonly live: LiveFolder,
    private readonly dice: Dice,
  ) {}

  /** Called with each acknowledged record. */
  hear(kind: Kind, body: string): void {
    if (kind === 'payouts') this.#payout = (JSON.parse(body) as { id: string }).id
  }

  /** Runs the next command to its end, or to its kill. */
  async work(): Promise<Worked> {
    const name = COMMANDS[this.#turn++ % COMMANDS.length] ?? 'verify'
    const place = join(this.live.dataDir, '..', `operator-${this.#turn}`)
    const payout = this.#payout
    if (name === 'import codes') writeFileSync(place, codesOf(`C${this.#turn}N`, 100))
    const argsOf: Record<(typeof COMMANDS)[number], string[]> = {
      fund: ['wallet', 'fund', '1', '1'],
      backup: ['backup', place],
      'add a client': ['client', 'add', `c${this.#turn}`],
      'advance a payout': payout ? ['payouts', 'advance', payout] : ['payouts', 'list'],
      'import codes': ['vouchers', 'import', place],
      'set a rate': ['rates', 'set', `USD/INR=${80 + this.#turn}`],
      verify: ['verify'],
    }
    const command = launch([...argsOf[name], '--data-dir', this.live.dataDir])
    const isKilled = this.dice.chance(KILLED)
    if (isKilled) await Bun.sleep(this.dice.below(KILL_WITHIN_MS)).then(command.kill)
    const { exitCode, stdout, stderr } = await command.ended
    const isDone = exitCode === 0
    if (name === 'fund') {
      if (isDone) this.#funded += 1
      else if (isKilled) this.#perhapsFunded += 1
    }
    if (name === 'advance a payout' && isDone) this.#advanced = payout
    if (name === 'add a client' && isDone) this.#added.push(`c${this.#turn}`)
    const finding = isDone || isKilled ? undefined : `scrip ${argsOf[name].join(' ')}: ${exitCode} ${stdout}${stderr}`
    const unsound = name === 'backup' && isDone ? await this.#unsound(place) : undefined
    rmSync(place, { force: true })
    return { finding: finding ?? unsound, wasKilled: isKilled && !isDone }
  }

  async #unsound(backup: string): Promise<string | undefined> {
    const { exitCode, stdout, stderr } = await launch(['verify', backup]).ended
    return exitCode === 0 ? undefined : `a backup that was told done: ${stdout}${stderr}`
  }

  /** Checks the effects of the commands on a restarted server. */
  async findings(connection: Connection, token: string): Promise<string[]> {
    const headers = { Authorization: `Bearer ${token}` }
    const findings: string[] = []
    const funding = await connection.send(
      bytesOf({ path: '/api/v1/transactions?source_type=funding&limit=1', headers }),
    )
    const total = Number(/x-total-count: (\d+)/i.exec(funding.head)?.[1])
    if (!(total >= this.#funded && total <= this.#funded + this.#perhapsFunded)) {
      findings.push(`${total} fundings; ${this.#funded} were acknowledged, ${this.#perhapsFunded} killed`)
    }
    if (this.#advanced) {
      const { body } = await connection.send(bytesOf({ path: `/api/v1/payouts/${this.#advanced}`, headers }))
      const { status } = JSON.parse(body.toString()) as { status: string }
      if (status === 'created') findings.push(`${this.#advanced} was moved on, and is ${status}`)
      this.#advanced = undefined
    }
    if (this.#added.length > 0) {
      const { stdout } = await launch(['client', 'list', '--data-dir', this.live.dataDir]).ended
      findings.push(
        ...this.#added.filter((name) => !stdout.includes(name)).map((name) => `${name} was added and is gone`),
      )
      this.#added = []
    }
    return findings
  }
}
