import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../src/db/data-folder.ts'
import { type Ended, launch, type Place, type Running, residentPeakBytes, threadMs } from '../program.ts'
import { type Ask, bytesOf, Connection } from '../rigs/connection.ts'
import { LiveFolder } from '../rigs/live-folder.ts'
import { percentile } from '../rigs/report.ts'
import { logIn } from '../rigs/server.ts'
import { writeCatalogOf } from './catalog.ts'
import { fill } from './million.ts'
import { aligned, count, mebibytes, median, milliseconds, ratio } from './table.ts'

/**
 * How long an operator's commands take on much data, and what clients of the server notice of them: the slowest of a
 * hundred requests beside a command, against that of the seconds before it.
 */

export interface OperatorOptions {
  transactions: number
  products: number
  folder: string
}

const CLIENTS = 8
/** Of each client, about fifty requests a second. */
const PAUSE_MS = 20
const WARMING_MS = 3_000
const QUIET_MS = 8_000
/** In which a server reads 100,000 products. */
const SWITCH_MS = 12_000
/** One is over too soon for a hundredth of the requests to say much. */
const STATEMENTS = 5
/** How often each command runs without a server. */
const ALONE = 3

export const operator = async ({ transactions, products, folder }: OperatorOptions): Promise<void> => {
  const live = await LiveFolder.make(folder, 100)
  await live.command('wallet', 'fund', '1', '1')
  fill(live.dataDir, transactions)
  const { size } = statSync(databasePath(live.dataDir))
  console.log(`${count(transactions)} transactions, ${mebibytes(size)}; ${count(products)} products`)
  const catalog = join(folder, 'many.json')
  writeCatalogOf(catalog, products)
  const to = (...args: string[]): string[] => [...args, '--data-dir', live.dataDir]
  const statement = (month: string): string[] => to('statement', 'payer', '--month', month, '--csv')
  const thisMonth = new Date().toISOString().slice(0, 'YYYY-MM'.length)
  const server = await live.serve()
  const visitors = new Visitors(server, await logIn(server.port, live.payer.username, live.payer.password))
  await visitors.during(() => Bun.sleep(WARMING_MS))
  const costs = [['beside a server', 'takes', 'server CPU/request without', 'beside', 'ratio']]
  const rows = [['slowest of a hundred', 'requests', 'p99 without', 'p99 beside', 'longest', 'ratio']]
  let before = await visitors.during(() => Bun.sleep(QUIET_MS))
  const beside = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const startedMs = performance.now()
    const during = await visitors.during(work)
    const takes = secondsOf(performance.now() - startedMs)
    const after = await visitors.during(() => Bun.sleep(QUIET_MS))
    const quiet = together(before, after)
    before = after
    const cpu = [quiet, during].map(({ cpuMs }) => milliseconds(cpuMs))
    costs.push([name, takes, ...cpu, ratio(during.cpuMs / quiet.cpuMs)])
    for (const [kind, latenciesMs] of [...during.latenciesMs, ['all', all(during.latenciesMs)] as const]) {
      const without99 = percentile(quiet.latenciesMs.get(kind) ?? all(quiet.latenciesMs), 0.99)
      const with99 = percentile(latenciesMs, 0.99)
      const figures = [without99, with99, percentile(latenciesMs, 1)].map(milliseconds)
      rows.push([`${name}: ${kind}`, count(latenciesMs.length), ...figures, ratio(with99 / without99)])
    }
  }
  await beside('nothing', () => Bun.sleep(QUIET_MS))
  await beside('backup', () => silently(to('backup', join(folder, 'backup.sqlite'))).ended)
  await beside('verify', () => silently(to('verify')).ended)
  await beside(`statement, ${STATEMENTS} times`, async () => {
    for (let round = 0; round < STATEMENTS; round++) await silently(statement(thisMonth)).ended
  })
  await beside('catalog import', async () => {
    await silently(to('catalog', 'import', catalog)).ended
    await Bun.sleep(SWITCH_MS)
  })
  await server.stop()
  console.log(`${aligned(rows).join('\n')}\n\n${aligned(costs).join('\n')}`)
  const bare = await usually(statement('2001-01'))
  const alone = [['without a server', 'takes', 'processor time', 'memory', 'above an empty statement']]
  for (const [name, command] of [
    ['statement', statement(thisMonth)],
    ['verify', to('verify')],
  ] as const) {
    const { takesMs, cpuMs, peakBytes } = await usually(command)
    const memory = [peakBytes, peakBytes - bare.peakBytes].map(mebibytes)
    alone.push([name, secondsOf(takesMs), secondsOf(cpuMs), ...memory])
  }
  console.log(`\n${aligned(alone).join('\n')}`)
}

const secondsOf = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

interface During {
  /** By kind of request. */
  latenciesMs: Map<string, number[]>
  /** Processor time of the server for a request. */
  cpuMs: number
}

const all = (latenciesMs: During['latenciesMs']): number[] => [...latenciesMs.values()].flat()

const together = (one: During, other: During): During => ({
  latenciesMs: new Map(
    [...one.latenciesMs].map(([kind, ms]) => [kind, [...ms, ...(other.latenciesMs.get(kind) ?? [])]]),
  ),
  cpuMs: (one.cpuMs + other.cpuMs) / 2,
})

/** To read what a command prints would take the time of the clients. */
const SILENTLY: Place = { through: ['sh', '-c', 'exec "$@" > /dev/null', 'sh'] }

const silently = (args: readonly string[]): { pid: number; ended: Promise<Ended & { cpuMs: number }> } => {
  const { pid, ended } = launch(args, SILENTLY)
  const checked = ended.then((result) => {
    if (result.exitCode === 0) return result
    throw new Error(`scrip ${args.join(' ')}: ${result.exitCode} ${result.stderr}`)
  })
  return { pid, ended: checked }
}

interface Usage {
  takesMs: number
  cpuMs: number
  peakBytes: number
}

/** How often the memory of a command is read, whose peak the kernel forgets with the process. */
const READ_MS = 5

const measured = async (args: readonly string[]): Promise<Usage> => {
  const startedMs = performance.now()
  const { pid, ended } = silently(args)
  let peakBytes = 0
  let isOver = false
  const read = async (): Promise<void> => {
    for (; !isOver; await Bun.sleep(READ_MS)) if (isAlive(pid)) peakBytes = residentPeakBytes(pid)
  }
  const reading = read()
  const { cpuMs } = await ended.finally(() => (isOver = true))
  await reading
  return { takesMs: performance.now() - startedMs, cpuMs, peakBytes }
}

/** A process that has ended and was not waited for has no memory any more. */
const isAlive = (pid: number): boolean => {
  try {
    return /VmHWM/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The middle of a few times. */
const usually = async (args: readonly string[]): Promise<Usage> => {
  const usages: Usage[] = []
  for (let round = 0; round < ALONE; round++) usages.push(await measured(args))
  const middle = (name: keyof Usage): number => median(usages.map((usage) => usage[name]))
  return { takesMs: middle('takesMs'), cpuMs: middle('cpuMs'), peakBytes: middle('peakBytes') }
}

const PAYEE = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }

/** Clients who read, save beneficiaries and pay at a steady pace. */
class Visitors {
  #payouts = 0

  constructor(
    private readonly server: Running,
    private readonly token: string,
  ) {}

  /** What the requests took, whatever else the server did. */
  async during(work: () => Promise<unknown>): Promise<During> {
    const latenciesMs = new Map<string, number[]>()
    const spentMs = threadMs(this.server.pid)
    let isOver = false
    const visit = async (client: number): Promise<void> => {
      const connection = await Connection.open(this.server.port)
      for (let turn = client; !isOver; turn++) {
        await Bun.sleep(PAUSE_MS)
        const [kind, question] = this.#question(turn)
        const startedMs = performance.now()
        const { status, body } = await connection.send(bytesOf(question))
        const known = latenciesMs.get(kind) ?? []
        latenciesMs.set(kind, known)
        known.push(performance.now() - startedMs)
        if (status >= 300) throw new Error(`${question.path}: ${status} ${body}`)
      }
      connection.close()
    }
    const visits = Array.from({ length: CLIENTS }, (_, client) => visit(client))
    await work().finally(() => (isOver = true))
    await Promise.all(visits)
    const cpuMs = (threadMs(this.server.pid) - spentMs) / all(latenciesMs).length
    return { latenciesMs, cpuMs }
  }

  /** What clients ask for, in turns. */
  #question(turn: number): [kind: string, question: Ask] {
    const headers = { Authorization: `Bearer ${this.token}` }
    const payout = {
      ...{ reference_id: `visit-${++this.#payouts}`, wallet_id: 1, amount: 1, currency: 'USD' },
      ...{ beneficiary_email: PAYEE.email, beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' },
    }
    const questions: [string, Ask][] = [
      ['GET wallets', { path: '/api/v1/wallets', headers }],
      ['GET products', { path: '/api/v1/products?limit=20', headers }],
      ['GET transactions', { path: '/api/v1/transactions?limit=20', headers }],
      ['POST beneficiaries', { path: '/api/v1/beneficiaries', headers, body: JSON.stringify(PAYEE) }],
      ['POST payouts', { path: '/api/v1/payouts', headers, body: JSON.stringify(payout) }],
    ]
    return questions[turn % questions.length] as [string, Ask]
  }
}
