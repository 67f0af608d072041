import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { count } from '../bench/table.ts'
import { type Running, run, temporaryFolder } from '../program.ts'
import { PAYEE } from '../records.ts'
import { ask } from './connection.ts'
import type { Rig } from './report.ts'
import { logIn, serve } from './server.ts'
import { type Customer, type Movement, minorOf } from './year/company.ts'
import type { Played, Size } from './year/play.ts'

/**
 * The year of a small company in live mode, up to now: 3 clients, 500 products, 20,000 orders and payouts, refunds. Then, with
 * the executable: a backup, a restore, a crash, a rotation, an upgrade, an erasure. At the end every monthly statement has to
 * follow from the responses that clients got, `verify` has to find nothing, and the audit has to name every act, in order.
 */

const WHOLE: Size = {
  products: 500,
  days: Array.from({ length: 28 }, (_, index) => index + 1),
  orders: 38,
  payouts: 24,
  codes: 6,
}
const SHORT: Size = { products: 10, days: [9], orders: 4, payouts: 3, codes: 6 }
/** The months whose statements the short form reads. */
const SHORT_MONTHS = [0, 11]
const CRASH_AFTER = 20
const WRITERS = 4
const ERASED = 'payee-7@example.com'

export const year: Rig = async ({ seed, isShort, progress }) => {
  using temporary = temporaryFolder()
  const folder = temporary.path
  const played = await play(folder, isShort ? SHORT : WHOLE, seed)
  progress('the year is played')
  const today = new Today(folder, played)
  await today.loseWhatCameAfterTheBackup()
  await today.crash()
  await today.rotate()
  await today.upgrade()
  await today.erase()
  await today.proveStatements(isShort ? SHORT_MONTHS.map((number) => played.months[number] ?? '') : played.months)
  await today.proveTheRest()
  return { tables: [rowsOf(played), today.timings], findings: today.findings }
}

const play = async (folder: string, size: Size, seed: number): Promise<Played> => {
  const script = join(import.meta.dir, 'year/play.ts')
  const child = Bun.spawn([process.execPath, script, folder, JSON.stringify(size), String(seed)], { stderr: 'pipe' })
  const [exitCode, stderr] = await Promise.all([child.exited, child.stderr.text()])
  // Notices for operators go to standard error as well.
  if (exitCode !== 0) throw new Error(`the year ended with ${exitCode}: ${stderr.slice(-2_000)}`)
  return JSON.parse(readFileSync(join(folder, 'played.json'), 'utf8')) as Played
}

const rowsOf = ({ counts, acts }: Played): string[][] => [
  ['played', 'times'],
  ...Object.entries(counts).map(([name, times]) => [name, count(times)]),
  ['acts of the operator', count(acts.length)],
]

/** The checks after the year was played, with the executable. */
class Today {
  readonly findings: string[] = []
  readonly timings: string[][] = [['done by the executable', 'ms']]
  readonly #dataDir: string
  readonly #acts: string[]
  readonly #customers: readonly Customer[]

  constructor(
    private readonly folder: string,
    { acts, customers }: Played,
  ) {
    this.#dataDir = join(folder, 'data')
    this.#acts = [...acts]
    this.#customers = customers
  }

  async loseWhatCameAfterTheBackup(): Promise<void> {
    const backups = join(this.folder, 'backups')
    mkdirSync(backups)
    const { file } = await this.#command<{ file: string }>('backup', backups, '--keep', '2')
    const server = await this.#serve()
    const [customer] = this.#known()
    await this.#payout(server, customer, 'lost-1')
    await server.stop()
    await this.#command('restore', file, '--force')
    // The backup was written down after the copy was made.
    this.#acts.push('restore')
    const restored = await this.#serve()
    if ((await this.#payouts(restored, customer, 'lost-')).length > 0)
      this.findings.push('a restore kept what came later')
    await restored.stop()
  }

  /** Every write that was acknowledged before kill -9 has to be there; records that are there count. */
  async crash(): Promise<void> {
    const server = await this.#serve()
    const [customer] = this.#known()
    const acknowledged: string[] = []
    let number = 0
    const write = async (): Promise<void> => {
      while (!server.hasEnded()) {
        const reference = `crash-${++number}`
        const isDone = await this.#payout(server, customer, reference).catch(() => false)
        if (isDone && acknowledged.push(reference) === CRASH_AFTER) await server.kill()
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, write))
    const again = await this.#serve()
    const found = await this.#payouts(again, customer, 'crash-')
    const references = new Set(found.map(({ reference_id }) => reference_id))
    for (const reference of acknowledged.filter((one) => !references.has(one))) {
      this.findings.push(`${reference} was acknowledged before a crash, and is gone`)
    }
    for (const { total_amount, created_at } of found) {
      customer.movements.push({ atMs: Date.parse(created_at), minor: -minorOf(total_amount) })
    }
    await again.stop()
  }

  /** Both passwords and all tokens stay valid. */
  async rotate(): Promise<void> {
    const server = await this.#serve()
    const [, customer] = this.#known()
    const token = await logIn(server.port, customer.name, customer.password)
    const rotated = await this.#act<{ password: string }>('client', 'rotate', customer.name, '--keep-old', '24h')
    await logIn(server.port, customer.name, customer.password)
    customer.password = rotated.password
    await logIn(server.port, customer.name, customer.password)
    const { status } = await ask(server.port, {
      path: '/api/v1/wallets',
      headers: { Authorization: `Bearer ${token}` },
    })
    if (status !== 200) this.findings.push(`a token from before the rotation gets ${status}`)
    await server.stop()
    await this.#act('vouchers', 'rekey')
  }

  /** The next release tries a copy of the folder first, beside the server (contract C17). */
  async upgrade(): Promise<void> {
    const old = await this.#serve()
    const { exitCode, stderr } = await run(['serve', '--mode', 'live', '--data-dir', this.#dataDir, '--check'])
    if (exitCode !== 0) this.findings.push(`a server cannot start on a copy of the folder: ${stderr}`)
    await old.stop()
    const [customer] = this.#known()
    const next = await this.#serve()
    await logIn(next.port, customer.name, customer.password)
    await next.stop()
  }

  async erase(): Promise<void> {
    for (const name of readdirSync(this.#dataDir)) {
      if (name.startsWith('scrip.sqlite.before-')) rmSync(join(this.#dataDir, name))
    }
    await this.#act('beneficiary', 'erase', ERASED)
    for (const name of readdirSync(this.#dataDir)) {
      const path = join(this.#dataDir, name)
      if (statSync(path).isFile() && readFileSync(path).includes(ERASED)) this.findings.push(`${name} holds ${ERASED}`)
    }
  }

  async proveStatements(months: readonly string[]): Promise<void> {
    for (const customer of this.#customers) {
      for (const month of months) {
        const statements = await this.#command<Statement[]>('statement', customer.name, '--month', month)
        const [expected, found] = [expectedIn(month, customer.movements), statements.map(summaryOf)]
        if (!Bun.deepEquals(found, [expected])) {
          this.findings.push(
            `statement of ${customer.name} in ${month}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`,
          )
        }
      }
    }
  }

  async proveTheRest(): Promise<void> {
    const rows = await this.#command<{ command: string; outcome: string }[]>('audit', 'list')
    const done = rows
      .toReversed()
      .map(({ command, outcome }) => (outcome === 'done' ? command : `${command} ${outcome}`))
    if (!Bun.deepEquals(done, this.#acts)) {
      const at = done.findIndex((command, index) => command !== this.#acts[index])
      this.findings.push(
        `the audit has ${done.length} rows for ${this.#acts.length} acts; row ${at + 1} is ${done[at]}, not ${this.#acts[at]}`,
      )
    }
    await this.#command('verify')
  }

  #known(): [Customer, Customer] {
    const [first, second] = this.#customers
    if (!first || !second) throw new Error('the year has no clients')
    return [first, second]
  }

  #serve(...flags: string[]): Promise<Running> {
    return serve(['--mode', 'live', '--data-dir', this.#dataDir, '--rate-limit', 'off', ...flags])
  }

  async #act<T>(...words: string[]): Promise<T> {
    const said = await this.#command<T>(...words)
    this.#acts.push(words.slice(0, 2).join(' '))
    return said
  }

  /** A command that fails is the end of the rig. */
  async #command<T>(...words: string[]): Promise<T> {
    const beganMs = performance.now()
    const { exitCode, stdout, stderr } = await run([...words, '--data-dir', this.#dataDir, '--json'])
    if (exitCode !== 0) throw new Error(`scrip ${words.join(' ')}: ${exitCode} ${stdout}${stderr}`)
    if (words[0] !== 'statement')
      this.timings.push([`scrip ${words[0]}`, count(Math.round(performance.now() - beganMs))])
    return JSON.parse(stdout) as T
  }

  async #payout({ port }: Running, customer: Customer, reference_id: string): Promise<boolean> {
    const token = await this.#tokenOf(port, customer)
    const body = JSON.stringify({
      reference_id,
      wallet_id: customer.walletId,
      amount: 10,
      currency: customer.currency,
      ...PAYEE,
    })
    const { status } = await ask(port, { path: '/api/v1/payouts', headers: { Authorization: `Bearer ${token}` }, body })
    return status === 201
  }

  async #payouts({ port }: Running, customer: Customer, search: string): Promise<Payout[]> {
    const headers = { Authorization: `Bearer ${await this.#tokenOf(port, customer)}` }
    const { body } = await ask(port, { path: `/api/v1/payouts?limit=100&search=${search}`, headers })
    return JSON.parse(body.toString()) as Payout[]
  }

  #tokens = new Map<number, Promise<string>>()

  #tokenOf(port: number, { name, password }: Customer): Promise<string> {
    const token = this.#tokens.get(port) ?? logIn(port, name, password)
    this.#tokens.set(port, token)
    return token
  }
}

interface Payout {
  reference_id: string
  total_amount: number
  created_at: string
}

interface Statement {
  opening_balance: number
  lines: { transaction_type: 'CREDIT' | 'DEBIT'; amount: number; created_at: string }[]
  closing_balance: number
}

/** A month as the client knows it: movements at one instant may stand in either order. */
interface Summary {
  openingMinor: number
  movements: string[]
  closingMinor: number
}

const expectedIn = (month: string, movements: readonly Movement[]): Summary => {
  const monthOf = ({ atMs }: Movement): string => new Date(atMs).toISOString().slice(0, month.length)
  const sum = (some: readonly Movement[]): number => some.reduce((total, { minor }) => total + minor, 0)
  const openingMinor = sum(movements.filter((one) => monthOf(one) < month))
  const inside = movements.filter((one) => monthOf(one) === month)
  return { openingMinor, movements: sorted(inside.map(({ minor }) => minor)), closingMinor: openingMinor + sum(inside) }
}

const summaryOf = ({ opening_balance, lines, closing_balance }: Statement): Summary => ({
  openingMinor: minorOf(opening_balance),
  movements: sorted(
    lines.map(({ transaction_type, amount }) => (transaction_type === 'CREDIT' ? minorOf(amount) : -minorOf(amount))),
  ),
  closingMinor: minorOf(closing_balance),
})

const sorted = (amounts: readonly number[]): string[] => amounts.toSorted((a, b) => a - b).map(String)
