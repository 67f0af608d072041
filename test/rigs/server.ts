import { readFileSync } from 'node:fs'
import { ask } from './connection.ts'

/** The compiled executable as rigs run it, and what the kernel knows of its process. */

export const EXECUTABLE = process.env.TEST_BINARY ?? `${import.meta.dir}/../../dist/scrip`

const NS_PER_MS = 1_000_000
const BYTES_PER_KIB = 1_024
/** What is kept of a log, to show with a finding. */
const LOG_CHARACTERS_MAX = 20_000

const running = new Set<Bun.Subprocess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

export interface Place {
  /** A command that starts the program under a limit or a watch. */
  through?: readonly string[]
  env?: Record<string, string>
  /** Another one than that of this release. */
  executable?: string | undefined
}

export interface Server {
  port: number
  pid: number
  /** The end of what it has logged. */
  log: () => string
  /** Sends SIGKILL and waits until the process is gone. */
  kill: () => Promise<void>
  /** Sends SIGTERM and answers the exit code. */
  stop: () => Promise<number>
  /** Whether it has ended by itself. */
  hasEnded: () => boolean
}

const spawn = (args: readonly string[], { through = [], env = {}, executable = EXECUTABLE }: Place) => {
  const child = Bun.spawn([...through, executable, ...args], {
    env: { ...Bun.env, SCRIP_PORT: undefined, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.add(child)
  child.exited.then(() => running.delete(child))
  return child
}

/** Starts `scrip serve` on a free port and waits until it is ready. */
export const serve = async (flags: readonly string[], place: Place = {}): Promise<Server> => {
  const child = spawn(['serve', '--port', '0', '--log-level', 'error', ...flags], place)
  let log = ''
  const logged = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) {
      log = (log + decoder.decode(chunk, { stream: true })).slice(-LOG_CHARACTERS_MAX)
    }
  })()
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  const line = new TextDecoder().decode(value)
  const port = Number(/url=http:\/\/[^\s]+:(\d+)/.exec(line)?.[1])
  const pid = Number(/ pid=(\d+)/.exec(line)?.[1])
  if (!port || !pid) {
    child.kill('SIGKILL')
    await logged
    throw new Error(`scrip serve ${flags.join(' ')} did not get ready: ${line}${log}`)
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    port,
    pid,
    log: () => log,
    kill: async () => {
      process.kill(pid, 'SIGKILL')
      await child.exited
    },
    stop: async () => {
      if (!hasEnded()) process.kill(pid, 'SIGTERM')
      return await child.exited
    },
    hasEnded,
  }
}

export interface Ended {
  exitCode: number
  stdout: string
  stderr: string
  /** Processor time. */
  cpuMs: number
}

const US_PER_MS = 1_000

/** Starts a command of the executable that ends by itself. */
export const start = (args: readonly string[], place: Place = {}) => {
  const child = spawn(args, place)
  return {
    pid: child.pid,
    kill: (): void => child.kill('SIGKILL'),
    ended: Promise.all([child.exited, child.stdout.text(), child.stderr.text()]).then(
      ([exitCode, stdout, stderr]): Ended => {
        const cpuMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / US_PER_MS
        return { exitCode, stdout, stderr, cpuMs }
      },
    ),
  }
}

/** Runs a command of the executable to its end. */
export const run = (args: readonly string[], place: Place = {}): Promise<Ended> => start(args, place).ended

/** Logs in and answers the access token. */
export const logIn = async (port: number, username: string, password = username): Promise<string> => {
  const { status, body } = await ask(port, { path: '/auth/login', body: JSON.stringify({ username, password }) })
  if (status !== 200) throw new Error(`login of ${username}: ${status} ${body}`)
  return (JSON.parse(body.toString()) as { access_token: string }).access_token
}

/** Processor time that the thread which answers requests has used. Exact while it waits, as after an answer. */
export const threadMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / NS_PER_MS

const memoryBytes = (pid: number, name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * BYTES_PER_KIB

/** Resident memory. */
export const residentBytes = (pid: number): number => memoryBytes(pid, 'VmRSS')

/** The most resident memory that the process has had so far. */
export const residentPeakBytes = (pid: number): number => memoryBytes(pid, 'VmHWM')
