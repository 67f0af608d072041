import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Running, startReady } from '../program.ts'
import type { Exchange, Measurement, Order, Report, Work } from './load.ts'
import type { Preparation } from './raw.ts'
import type { Interview } from './works.ts'

/** The processes that a benchmark is made of, each on its core, and all of them gone when it ends. */

/** Where everything is written that a run needs; a disk, where temporary files are on one. */
export const folder = mkdtempSync(join(tmpdir(), 'scrip-bench-'))

const SERVER_CORE = 0
const LOAD_CORE = 1

process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Where a program runs: on one core, or wherever there is room. */
type Core = number | 'any'

/** Keeps a command on its core, where that can be done. */
const pinned = (core: Core, command: string[]): string[] =>
  core !== 'any' && Bun.which('taskset') ? ['taskset', '-c', String(core), ...command] : command

/** Compiles a program of this folder the way that Scrip is compiled. */
export const compiled = (name: string): string => {
  const path = join(folder, basename(name))
  const flags = ['--compile', '--bytecode', '--format=esm', '--no-compile-autoload-dotenv', '--outfile', path]
  run([process.execPath, 'build', `${import.meta.dir}/${name}.ts`, ...flags], 'pipe')
  return path
}

/** Runs a command to its end. */
export const run = ([command = '', ...args]: string[], stdio: 'pipe' | 'inherit'): void => {
  const { status, stderr } = spawnSync(command, args, { stdio })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr ?? 'failed'}`)
}

export const sizeOf = (path: string): number => statSync(path).size

let logs = 0

/** Starts a server and waits for the line in which it says where it is. */
export const start = async (command: string[], core: Core = SERVER_CORE): Promise<Running> => {
  const logFile = join(folder, `${++logs}.log`)
  return startReady([], { command: pinned(core, command), logFile }).catch((error) => {
    throw new Error(`${error} ${readFileSync(logFile, 'utf8')}`)
  })
}

/** Starts a program of this folder with the responses that it is to give. */
export const startPrepared = (
  command: string,
  { token, responses, beneficiaryHeaders }: Interview,
): Promise<Running> => {
  const preparation: Preparation = { token, responses, beneficiaryHeaders, databasePath: join(folder, 'raw.sqlite') }
  const path = join(folder, 'preparation.json')
  writeFileSync(path, JSON.stringify(preparation))
  return start([command, path])
}

/** Milliseconds from starting a server to its first response. */
export const startupMs = async (command: string[]): Promise<number> => {
  const startedAtMs = performance.now()
  const served = await start(command, 'any')
  const { status } = await fetch(`${served.url}/status`)
  const elapsedMs = performance.now() - startedAtMs
  await served.stop()
  if (status !== 200) throw new Error(`${command[0]} responds with ${status} to /status`)
  return elapsedMs
}

/** Milliseconds from starting a command to its end. */
export const runMs = async (command: string[]): Promise<number> => {
  const startedAtMs = performance.now()
  const child = Bun.spawn(pinned('any', command), { stdout: 'inherit', stderr: 'inherit' })
  const exitCode = await child.exited
  if (exitCode !== 0) throw new Error(`${command.join(' ')} exits with ${exitCode}`)
  return performance.now() - startedAtMs
}

/** The load generator's process: warm from one measurement to the next. */
export class Load {
  /** How many bodies have been read whole; all of them were right. */
  sampled = 0
  #settle: ((report: Report) => void) | undefined
  readonly #child = Bun.spawn(pinned(LOAD_CORE, [process.execPath, `${import.meta.dir}/load.ts`]), {
    stdout: 'inherit',
    stderr: 'inherit',
    serialization: 'advanced',
    ipc: (report: Report) => this.#settle?.(report),
    onExit: () => this.#settle?.({ kind: 'failed', problem: 'the load generator has ended' }),
  })

  /** What is sent from now on. */
  take(exchanges: readonly Exchange[]): void {
    this.#child.send({ kind: 'work', exchanges } satisfies Work)
  }

  async measure(port: number, connections: number, seconds: number): Promise<Measurement> {
    const report = await new Promise<Report>((settle) => {
      this.#settle = settle
      this.#child.send({ kind: 'order', port, connections, seconds } satisfies Order)
    })
    if (report.kind === 'failed') throw new Error(report.problem)
    this.sampled += report.measurement.sampled
    return report.measurement
  }
}
