import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BINARY, processorUs, type Running, startReady } from '../program.ts'
import type { Exchange, Measurement, Order, Report } from './load.ts'
import { median } from './table.ts'

/** The processes of a benchmark: the server on one core, the load generator on another. All end with the benchmark. */

/** The folder for the files of a run: on a disk, if TMPDIR is. */
export const folder = mkdtempSync(join(tmpdir(), 'scrip-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** The sandbox, without the line of each request. */
export const SANDBOX = [BINARY, 'serve', '--port', '0', '--rate-limit', 'off', '--log-level', 'warn']

const SERVER_CORE = 0
const LOAD_CORE = 1

/** The processors of a program: one core, or any. */
type Core = number | 'any'

const pinned = (core: Core, command: readonly string[]): string[] =>
  core !== 'any' && Bun.which('taskset') ? ['taskset', '-c', String(core), ...command] : [...command]

let logs = 0

/** Starts a server and waits for the line with its address. */
export const start = async (command: readonly string[], core: Core = SERVER_CORE): Promise<Running> => {
  const logFile = join(folder, `${++logs}.log`)
  return startReady([], { command: pinned(core, command), logFile, env: { NODE_ENV: 'production' } }).catch((error) => {
    throw new Error(`${error} ${readFileSync(logFile, 'utf8')}`)
  })
}

/** A server that gets the requests of a row, and its results in each round. */
export interface Contender {
  server: Running
  exchanges: readonly Exchange[]
  measured: (Measurement & { cpuUs: number })[]
}

export interface Rounds {
  rounds: number
  seconds: number
  /** The time for which each server gets the requests of a row before it is measured. */
  warmUpSeconds: number
}

/** The load generator's process: warm from one measurement to the next. */
export class Load {
  #settle: ((report: Report) => void) | undefined
  readonly #child = Bun.spawn(pinned(LOAD_CORE, [process.execPath, `${import.meta.dir}/load.ts`]), {
    stdout: 'inherit',
    stderr: 'inherit',
    serialization: 'advanced',
    ipc: (report: Report) => this.#settle?.(report),
    onExit: () => this.#settle?.({ problem: 'the load generator has ended' }),
  })

  /** Measures servers in turn; each round begins with the last server of the round before. */
  async compete(
    contenders: readonly Contender[],
    connections: number,
    { rounds, seconds, warmUpSeconds }: Rounds,
  ): Promise<void> {
    for (const contender of contenders) await this.#measure(contender, connections, warmUpSeconds)
    for (let round = 0; round < rounds; round++) {
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        contender.measured.push(await this.#measure(contender, connections, seconds))
      }
    }
  }

  async #measure({ server: { pid, port }, exchanges }: Contender, connections: number, seconds: number) {
    const beforeUs = processorUs(pid)
    const report = await new Promise<Report>((settle) => {
      this.#settle = settle
      this.#child.send({ port, connections, seconds, exchanges } satisfies Order)
    })
    if ('problem' in report) throw new Error(report.problem)
    return { ...report, cpuUs: (processorUs(pid) - beforeUs) / report.responseCount }
  }
}

/** The median of the rounds. */
export const medianOf = ({ measured }: Contender, figure: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs'): number =>
  median(measured.map((measurement) => measurement[figure]))

/** The spread of the rounds: the highest less the lowest, as a share of the median. */
export const spreadOf = (contender: Contender): number => {
  const costs = contender.measured.map(({ cpuUs }) => cpuUs)
  return (Math.max(...costs) - Math.min(...costs)) / medianOf(contender, 'cpuUs')
}
