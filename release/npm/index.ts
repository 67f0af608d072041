import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { type Control, controlWith } from './control.ts'
import { askControl, type ControlOptions, fetchDirectly, ScripError, send } from './control-request.ts'
import { findExecutable } from './executable.ts'

export type { components, operations } from './openapi.ts'
export { type Control, ScripError }

/** Scrip in a test: started on a free port, gone with the process that started it. */

export interface StartOptions {
  /** Flags of `scrip run`, such as `['--rate-limit', 'off', '--seed', 'ci', '--coverage', 'coverage.json']`. */
  args?: readonly string[]
  /** Your own executable, instead of the one installed with this package. */
  executable?: string
  /** Time limit for the start; 30,000 by default. */
  timeoutMs?: number
}

/** A sandbox that is running. */
export interface Scrip {
  /** The base URL, such as `http://127.0.0.1:53817`. */
  readonly url: string
  /**
   * Makes a world for a test, new or from a world or snapshot, and logs in to it. A world of the same name
   * starts again.
   */
  world(name?: string, from?: string): Promise<World>
  /** Every operation of `/_sandbox`, by its name in the OpenAPI document, for the default world unless told otherwise. */
  readonly control: Control
  /** Ends the sandbox, and waits for its end. Rejects if the coverage is below `--coverage-min`. */
  stop(): Promise<void>
}

/** The address of a running sandbox. */
export interface ConnectOptions {
  /** Its base URL; `SCRIP_URL` if left out, which `scrip run` sets. */
  url?: string
  /** The value of its `--sandbox-token`. A sandbox on this machine needs none. */
  sandboxToken?: string
}

const START_MS_MAX = 30_000
const STOP_MS_MAX = 15_000
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

/** Starts a sandbox and resolves once it responds to requests. @throws ScripError */
export const startScrip = async (options: StartOptions = {}): Promise<Scrip> => {
  const { args = [], executable = findExecutable(), timeoutMs = START_MS_MAX } = options
  const child = spawn(executable, ['run', '--port', '0', ...args, '--', ...UNTIL_ABANDONED], {
    stdio: 'pipe',
    // Variables for this process must not affect the command.
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
  // A test that forgets to stop the sandbox can still end.
  const handles: readonly Holding[] = [child, child.stdin, child.stdout, child.stderr]
  for (const handle of handles) handle.unref?.()
  child.stdin.on('error', () => undefined) // it is gone already

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
    ...sandboxAt(url, 'world'),
    stop: () => {
      stopping ??= stopped()
      return stopping
    },
  }
}

/** Uses a running sandbox, which `stop()` leaves running. @throws ScripError without an address */
export const connectScrip = ({ url = process.env.SCRIP_URL, sandboxToken }: ConnectOptions = {}): Scrip => {
  if (!url) throw new ScripError('no sandbox to connect to: give its url, or set SCRIP_URL')
  // Other processes, such as the workers of a test runner, may use the same sandbox.
  return { ...sandboxAt(url.replace(/\/$/, ''), `world-${randomUUID()}`, sandboxToken), stop: async () => undefined }
}

const sandboxAt = (url: string, prefix: string, sandboxToken?: string): Omit<Scrip, 'stop'> => {
  let worlds = 0
  return {
    url,
    world: (name = `${prefix}-${++worlds}`, from) => openWorld({ url, sandboxToken, world: name }, from),
    control: controlWith(askControl({ url, sandboxToken, world: undefined })),
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

/** A world of the sandbox, with a client that is logged in, and every operation of `/_sandbox`. */
export interface World extends Control {
  readonly name: string
  readonly username: string
  readonly password: string
  /** The base URL for your own client. */
  readonly url: string
  /** Valid for an hour of the world's clock; `login()` gets another. */
  readonly accessToken: string
  /** Calls the API as the global `fetch` does, with a path and the access token. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Logs in again, for a fresh access token. */
  login(): Promise<void>
  /** The deliveries to the inboxes of the world. With `wait`, resolves with the first one that fits: `{ type: 'payout.completed', wait: '5s' }`. */
  inbox: Control['listInbox']
}

const PASSWORD = 'test'

/** Makes a world, as it is seeded or as a copy of a world or a snapshot, and logs in to it. @throws ScripError */
const openWorld = async (options: ControlOptions & { world: string }, from?: string): Promise<World> => {
  const { world: name, url } = options
  const username = `sbx_${name}`
  const control = controlWith(askControl(options))
  let accessToken = ''
  const login = async (): Promise<void> => {
    const pair = await send(`${url}/auth/login`, 'POST', { username, password: PASSWORD })
    accessToken = (pair as { access_token: string }).access_token
  }
  await control.makeWorld({ name, ...(from !== undefined && { from }) })
  await login()
  return {
    ...control,
    name,
    username,
    password: PASSWORD,
    url,
    get accessToken() {
      return accessToken
    },
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${accessToken}`)
      return fetchDirectly(new URL(path, url), { ...init, headers })
    },
    login,
    inbox: control.listInbox,
  }
}
