import { afterAll, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Starts the program, sends it requests and ends it, for tests, rigs and benchmarks: the executable that `npm test` has built, or
 * the program from its sources without it.
 */

export const BINARY = resolve(process.env.TEST_BINARY ?? `${import.meta.dir}/../dist/scrip`)
export const isBinary = process.env.TEST_TARGET !== undefined
export const COMMAND: readonly string[] = isBinary
  ? [BINARY]
  : [process.execPath, join(import.meta.dir, '../src/main.ts')]

export interface Place {
  env?: Record<string, string>
  cwd?: string
  /** A command that starts the program in its own way: under a limit, as another user, on one core. */
  through?: readonly string[]
  /** Another program to start, such as another release. */
  command?: readonly string[] | undefined
  /** A file for the log. Reading the log here would be part of the measurement. */
  logFile?: string
}

/** No file of this program may grow beyond 2 MiB, which stands for a full disk and needs no root. */
export const ON_A_SMALL_DISK = ['bash', '-c', `trap '' XFSZ; ulimit -S -f 2048; exec "$@"`, 'bash']

const running = new Set<Bun.Subprocess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** The environment of this process, without the variables of the program. */
const environment = (env: Record<string, string> = {}): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(?:SCRIP_.*|GITHUB_STEP_SUMMARY|PORT|NO_COLOR|FORCE_COLOR)$/.test(name)
        ? []
        : [[name, value]],
    ),
  ),
  ...env,
})

const spawn = (args: readonly string[], { env, cwd = tmpdir(), through = [], command = COMMAND, logFile }: Place) => {
  const child = Bun.spawn([...through, ...command, ...args], {
    cwd,
    env: environment(env),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: logFile === undefined ? 'pipe' : Bun.file(logFile),
  })
  running.add(child)
  void child.exited.then(() => running.delete(child))
  return child
}

/** The output of a process to a pipe; empty if it writes to a file. */
const streamOf = (stderr: ReadableStream<Uint8Array> | number | undefined): ReadableStream<Uint8Array> =>
  stderr instanceof ReadableStream ? stderr : new Blob().stream()

export interface Ended {
  exitCode: number
  stdout: string
  stderr: string
}

const US_PER_MS = 1_000

/** Starts a command that ends by itself. */
export const launch = (args: readonly string[], place: Place = {}) => {
  const child = spawn(args, place)
  const log = logOf(streamOf(child.stderr))
  const ended = async (): Promise<Ended & { cpuMs: number }> => {
    const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), log.whole])
    return { exitCode, stdout, stderr, cpuMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / US_PER_MS }
  }
  return { pid: child.pid, kill: (): void => child.kill('SIGKILL'), log: log.soFar, logged: log.logged, ended: ended() }
}

/** Runs a command that ends by itself. */
export const run = async (args: readonly string[], place: Place = {}): Promise<Ended> => {
  const { exitCode, stdout, stderr } = await launch(args, place).ended
  return { exitCode, stdout, stderr }
}

/** A program that serves. */
export interface Running extends AsyncDisposable {
  url: string
  port: number
  /** The first line on standard output. */
  ready: string
  pid: number
  request: (path: string, init?: BunFetchRequestInit) => Promise<Response>
  /** Waits until standard output holds a text. */
  printed: (text: string) => Promise<void>
  /** Its log so far. */
  log: () => string
  /** Waits until its log holds a text. */
  logged: (text: string) => Promise<void>
  /** Sends a signal and does not wait. */
  signal: (name: NodeJS.Signals) => void
  /** True once it has ended. */
  hasEnded: () => boolean
  /** Waits for the end, and returns all that was written. */
  ended: () => Promise<Ended>
  /** SIGTERM, and waits for the end. */
  stop: () => Promise<Ended>
  /** SIGKILL, and waits for the end. */
  kill: () => Promise<void>
}

/** Starts the program with flags of `scrip serve`, on a free port unless told otherwise, and waits until it is ready. */
export const start = (args: readonly string[] = [], place: Place = {}): Promise<Running> =>
  startReady(args.includes('--port') || place.env ? args : ['--port', '0', ...args], place)

/** Starts a command and waits for its first line, which says where it serves, if it does. */
export const startReady = async (args: readonly string[], place: Place): Promise<Running> => {
  const child = spawn(args, place)
  const log = logOf(streamOf(child.stderr))
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let stdout = ''
  const printed = async (text: string, what = `it printed ${text}`) => {
    while (!stdout.includes(text)) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`ended with ${await child.exited} before ${what}: ${await log.whole}`)
      stdout += decoder.decode(value, { stream: true })
    }
  }
  await printed('\n', 'it was ready')
  const ready = stdout.slice(0, stdout.indexOf('\n'))
  const url = /url=(\S+)/.exec(ready)?.[1] ?? ''
  // Another process, such as strace, may start the program.
  const pid = Number(/ pid=(\d+)/.exec(ready)?.[1] ?? child.pid)
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const signal = (name: NodeJS.Signals): void => {
    if (!hasEnded()) process.kill(pid, name)
  }
  const ended = async (): Promise<Ended> => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      stdout += decoder.decode(chunk.value, { stream: true })
    }
    return { exitCode: await child.exited, stdout, stderr: await log.whole }
  }
  const endBy = (name: NodeJS.Signals): Promise<Ended> => {
    signal(name)
    return ended()
  }
  return {
    url,
    port: Number(/:(\d+)$/.exec(url)?.[1]),
    ready,
    pid,
    request: (path, init) => fetch(url + path, init),
    printed,
    log: log.soFar,
    logged: log.logged,
    signal,
    hasEnded,
    ended,
    stop: () => endBy('SIGTERM'),
    kill: async () => void (await endBy('SIGKILL')),
    [Symbol.asyncDispose]: async () => void (await endBy('SIGTERM')),
  }
}

/** Collects what is logged while it is logged. */
const logOf = (stderr: ReadableStream<Uint8Array>) => {
  let text = ''
  let isOver = false
  let hear = Promise.withResolvers<void>()
  const collect = async (): Promise<string> => {
    const decoder = new TextDecoder()
    for await (const chunk of stderr) {
      text += decoder.decode(chunk, { stream: true })
      hear.resolve()
      hear = Promise.withResolvers()
    }
    isOver = true
    hear.resolve()
    return text
  }
  const logged = async (words: string): Promise<void> => {
    while (!text.includes(words)) {
      if (isOver) throw new Error(`ended without ${words} in its log: ${text}`)
      await hear.promise
    }
  }
  return { whole: collect(), soFar: () => text, logged }
}

/** A fresh folder, which is removed with all that is in it. */
export const temporaryFolder = (place = tmpdir()): Disposable & { path: string } => {
  const path = mkdtempSync(join(place, 'scrip-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** A fresh folder for all tests of a file, or of a `describe`. */
export const folderOfFile = (): string => {
  const folder = temporaryFolder()
  afterAll(() => folder[Symbol.dispose]())
  return folder.path
}

/** Provides a new folder to some work, and removes it afterwards. */
export const inFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  using folder = temporaryFolder()
  await work(folder.path)
}

export const folderTest = (sentence: string, work: (folder: string) => Promise<void>): void =>
  test(sentence, () => inFolder(work))

export interface Pair {
  access_token: string
  refresh_token: string
}

/** Logs in and returns the response. */
export const login = (program: Running, username = 'sandbox', password = username): Promise<Response> =>
  program.request('/auth/login', { method: 'POST', body: JSON.stringify({ username, password }) })

export const loggedIn = async (program: Running): Promise<Pair> => (await (await login(program)).json()) as Pair

export const bearer = ({ access_token }: Pair) => ({ headers: { authorization: `Bearer ${access_token}` } })

/** A file of a process in /proc; empty without one. */
const kernelFile = (pid: number, name: string): string => {
  const path = `/proc/${pid}/${name}`
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

const US_PER_TICK = 10_000
const BYTES_PER_KIB = 1_024

/** Processor time that all threads of a process have used, in microseconds; NaN where the kernel does not say. */
export const processorUs = (pid: number): number => {
  const fields = kernelFile(pid, 'stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * US_PER_TICK
}

const memoryBytes = (pid: number, name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(kernelFile(pid, 'status'))?.[1]) * BYTES_PER_KIB

/** Resident memory. */
export const residentBytes = (pid: number): number => memoryBytes(pid, 'VmRSS')

/** The most resident memory that the process has had so far. */
export const residentPeakBytes = (pid: number): number => memoryBytes(pid, 'VmHWM')
