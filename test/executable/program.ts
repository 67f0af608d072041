import { test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BINARY } from '../binary.ts'

/** Runs the program as a person would: the executable that `npm test` has built, or from its sources without it. */

export const isBinary = process.env.TEST_TARGET !== undefined
export const COMMAND: readonly string[] = isBinary
  ? [BINARY]
  : [process.execPath, join(import.meta.dir, '../../src/main.ts')]

export interface Place {
  env?: Record<string, string>
  cwd?: string
  /** A command that starts the program in its own way: under a limit, as another user. */
  through?: readonly string[]
}

/** What was there before, without anything that means something to the program. */
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

const spawn = (args: string[], { env, cwd = tmpdir(), through = [] }: Place) =>
  Bun.spawn([...through, ...COMMAND, ...args], {
    cwd,
    env: environment(env),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

export interface Ended {
  exitCode: number
  stdout: string
  stderr: string
}

/** Runs a command that ends by itself. */
export const run = async (args: string[], place: Place = {}): Promise<Ended> => {
  const child = spawn(args, place)
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  return { exitCode, stdout, stderr }
}

/** A program that serves. */
export interface Running extends AsyncDisposable {
  url: string
  /** The first line on standard output. */
  ready: string
  pid: number
  /** Sends a signal and does not wait. */
  signal: (name: NodeJS.Signals) => void
  /** Waits until standard output holds a text. */
  said: (text: string) => Promise<void>
  /** What it has logged so far. */
  log: () => string
  /** Waits until its log holds a text. */
  told: (text: string) => Promise<void>
  /** Waits for the end, and gives all that was written. */
  ended: () => Promise<Ended>
  /** SIGTERM, and waits for the end. */
  stop: () => Promise<Ended>
  request: (path: string, init?: RequestInit) => Promise<Response>
}

/** Starts the program with flags of `scrip serve`, on a free port unless told otherwise, and waits until it is ready. */
export const start = async (args: string[] = [], place: Place = {}): Promise<Running> => {
  const child = spawn(args.includes('--port') || place.env ? args : ['--port', '0', ...args], place)
  const log = logOf(child.stderr)
  const stderr = log.whole
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let stdout = ''
  const said = async (text: string, what = `it said ${text}`) => {
    while (!stdout.includes(text)) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`ended with ${await child.exited} before ${what}: ${await stderr}`)
      stdout += decoder.decode(value, { stream: true })
    }
  }
  await said('\n', 'it was ready')
  const ready = stdout.slice(0, stdout.indexOf('\n'))
  const url = /url=(\S+)/.exec(ready)?.[1] ?? ''
  const ended = async (): Promise<Ended> => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      stdout += decoder.decode(chunk.value, { stream: true })
    }
    return { exitCode: await child.exited, stdout, stderr: await stderr }
  }
  const stop = (): Promise<Ended> => {
    child.kill('SIGTERM')
    return ended()
  }
  return {
    url,
    ready,
    pid: child.pid,
    signal: (name) => child.kill(name),
    said,
    log: log.soFar,
    told: log.told,
    ended,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
    request: (path, init) => fetch(url + path, init),
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
  const told = async (words: string): Promise<void> => {
    while (!text.includes(words)) {
      if (isOver) throw new Error(`ended without ${words} in its log: ${text}`)
      await hear.promise
    }
  }
  return { whole: collect(), soFar: () => text, told }
}

/** Gives a fresh folder to some work, and takes it away afterwards. */
export const inFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-test-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const folderTest = (sentence: string, work: (folder: string) => Promise<void>): void =>
  test(sentence, () => inFolder(work))

export interface Pair {
  access_token: string
  refresh_token: string
}

/** Logs in and answers the response. */
export const login = (program: Running, username = 'sandbox', password = username): Promise<Response> =>
  program.request('/auth/login', { method: 'POST', body: JSON.stringify({ username, password }) })

export const loggedIn = async (program: Running): Promise<Pair> => (await (await login(program)).json()) as Pair

export const bearer = ({ access_token }: Pair) => ({ headers: { authorization: `Bearer ${access_token}` } })
