import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { findExecutable } from './executable.ts'

/** Scrip in a test: started on a free port, gone with the process that started it. */

export interface StartOptions {
  /** Flags of `scrip run`, such as `['--rate-limit', 'off', '--seed', 'ci', '--coverage', 'coverage.json']`. */
  args?: readonly string[]
  /** An executable of your own, instead of the one that is installed with this package. */
  executable?: string
  /** How long the start may take; 30,000 when left out. */
  timeoutMs?: number
}

/** A sandbox that is running. */
export interface Scrip {
  /** The base URL, such as `http://127.0.0.1:53817`. */
  readonly url: string
  /** Makes a world of its own for a test, fresh, and logs in to it; a name that is taken begins anew. */
  world(name?: string): Promise<World>
  /** Ends it, and waits until it is gone. Rejects when a flag such as `--fail-under` was not met. */
  stop(): Promise<void>
}

/** A move of a world's clock: to a time, or on by a duration such as `PT5M`. */
export interface ClockMove {
  now?: string
  advance?: string
  frozen?: boolean
}

/** What requests a fault strikes, and how; `GET /_sandbox/errors` lists the errors by name. */
export interface FaultRule {
  error?: string
  delay_ms?: number
  drop?: boolean
  times?: number
  probability?: number
  match?: { method?: string; path?: string }
}

/** Data, clock, randomness and limits of their own, and a client that is logged in. */
export interface World {
  readonly name: string
  readonly username: string
  readonly password: string
  /** Good for an hour of the world's clock; `login()` gets another. */
  readonly accessToken: string
  /** Asks the API: as the global `fetch`, with a path and the access token. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Logs in again, for a fresh access token. */
  login(): Promise<void>
  /** Moves the clock, and answers its time. */
  clock(move: ClockMove): Promise<string>
  /** Makes requests fail, wait or break off. */
  fault(rule: FaultRule): Promise<void>
  /** Puts the world back to its first state, and logs in again. */
  reset(): Promise<void>
  /** Takes the world away. */
  drop(): Promise<void>
}

/** What Scrip refused, or why it did not start or end well. */
export class ScripError extends Error {
  override readonly name = 'ScripError'
}

const START_MS_MAX = 30_000
const STOP_MS_MAX = 15_000
const PASSWORD = 'test'
const STDERR_CHARACTERS_MAX = 4_000

/** A command that prints the address and ends with its standard input, which ends when this process does. */
const UNTIL_ABANDONED: readonly string[] =
  process.platform === 'win32'
    ? [
        process.execPath,
        '-e',
        "console.log(process.env.SCRIP_URL); process.stdin.on('end', () => process.exit()).resume()",
      ]
    : ['sh', '-c', 'echo "$SCRIP_URL"; exec cat >/dev/null']

/** Node's pipes keep a process alive; some of Bun's do not. */
interface Holding extends NodeJS.EventEmitter {
  ref?(): void
  unref?(): void
}

/** Starts a sandbox and resolves once it answers requests. @throws ScripError */
export const startScrip = async (options: StartOptions = {}): Promise<Scrip> => {
  const { args = [], executable = findExecutable(), timeoutMs = START_MS_MAX } = options
  const child = spawn(executable, ['run', '--port', '0', ...args, '--', ...UNTIL_ABANDONED], {
    stdio: 'pipe',
    // Nothing that was meant for this process may strike the command.
    env: { ...process.env, NODE_OPTIONS: undefined, NODE_V8_COVERAGE: undefined },
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARACTERS_MAX)
    process.stderr.write(text)
  })
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, signal) => resolve(code === 0 ? '' : `ended with ${code ?? signal}: ${stderr.trim()}`))
  })
  const url = await readUrl(child, ended, timeoutMs)
  // A test that forgets to stop it can still end.
  const handles: readonly Holding[] = [child, child.stdin, child.stdout, child.stderr]
  for (const handle of handles) handle.unref?.()
  child.stdin.on('error', () => undefined) // it is gone already

  let worlds = 0
  const stopped = async (): Promise<void> => {
    for (const handle of handles) handle.ref?.()
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
    child.stdin.end()
    const failure = await ended
    clearTimeout(timer)
    if (failure) throw new ScripError(`Scrip ${failure}`)
  }
  let stopping: Promise<void> | undefined
  return {
    url,
    world: (name = `world-${++worlds}`) => openWorld(url, name),
    stop: () => {
      stopping ??= stopped()
      return stopping
    },
  }
}

/** @throws ScripError when it ends, or takes too long */
const readUrl = (child: ChildProcessWithoutNullStreams, ended: Promise<string>, timeoutMs: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const refuse = (reason: string) => {
      child.kill('SIGKILL')
      reject(new ScripError(`Scrip did not start: ${reason}`))
    }
    const timer = setTimeout(() => refuse(`not ready after ${timeoutMs} ms`), timeoutMs)
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (!stdout.includes('\n')) return
      clearTimeout(timer)
      resolve(stdout.trim())
    })
    ended.then((reason) => {
      clearTimeout(timer)
      refuse(reason || 'it ended')
    })
  })

/** @throws ScripError */
const send = async (url: string, method: string, body?: object): Promise<unknown> => {
  const response = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) })
  const text = await response.text()
  if (!response.ok) throw new ScripError(`${method} ${new URL(url).pathname}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

const openWorld = async (url: string, name: string): Promise<World> => {
  const username = `sbx_${name}`
  const itself = `${url}/_sandbox/worlds/${encodeURIComponent(name)}`
  const control = (path: string, body?: object) =>
    send(`${url}/_sandbox/${path}?world=${encodeURIComponent(name)}`, 'POST', body)
  let accessToken = ''
  const login = async (): Promise<void> => {
    const pair = await send(`${url}/auth/login`, 'POST', { username, password: PASSWORD })
    accessToken = (pair as { access_token: string }).access_token
  }
  await send(itself, 'PUT')
  await login()
  return {
    name,
    username,
    password: PASSWORD,
    get accessToken() {
      return accessToken
    },
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${accessToken}`)
      return fetch(new URL(path, url), { ...init, headers })
    },
    login,
    clock: async (move) => ((await control('clock', move)) as { now: string }).now,
    fault: async (rule) => {
      await control('faults', rule)
    },
    reset: async () => {
      await control('reset')
      await login()
    },
    drop: async () => {
      await send(itself, 'DELETE')
    },
  }
}
