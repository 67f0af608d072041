import type { Database as Sqlite } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { Command } from 'commander'
import type { createApp } from '../src/app/app.ts'
import type { Deps } from '../src/app/services.ts'
import { type Config, configOf } from '../src/config/config.ts'
import type { ServeOptions } from '../src/config/option-table.ts'
import { withServeOptions } from '../src/config/options.ts'
import { type SteadyClock, systemClock } from '../src/kernel/clock.ts'
import { createLog } from '../src/observability/log.ts'
import type { SandboxWorlds } from '../src/sandbox/worlds/worlds.ts'
import { build } from '../src/start/build.ts'
import { open } from '../src/start/open.ts'
import { playBeginning } from '../src/start/scenario.ts'
import type { Beginning } from '../src/start/sources.ts'
import { VERSION } from '../src/start/version.ts'
import { rulesOf } from '../src/webhooks/addresses.ts'
import { createSender, type Send } from '../src/webhooks/sender.ts'
import type { World } from '../src/work/world.ts'
import { start } from './program.ts'

/**
 * Starts the real program and sends it HTTP requests: in this process, or, with TEST_TARGET=binary, to the compiled
 * executable over a socket. The same scenarios run against both.
 *
 * A start costs more than most tests. Tests that need nothing but worlds of their own take {@link sharedServer}; tests
 * that need flags of their own, the default world or the list of all worlds take {@link startServer}, once for a file.
 * Tests of state that no response shows take {@link openProgram}, which always runs in this process.
 */

export const againstBinary = process.env.TEST_TARGET === 'binary'

/** A running Scrip. */
export interface Server extends AsyncDisposable {
  url: string
  request: (path: string, init?: BunFetchRequestInit) => Promise<Response>
  /** Logs in to a fresh world that no other test knows; its clock stands still at a time, when one is given. */
  world: (now?: string) => Promise<TestWorld>
  stop: () => Promise<void>
}

/** The part of a server that a helper needs to send requests. */
export type Requestable = Pick<Server, 'request'>

/** A server that was started here: tests can also end it and read its log. */
export interface StartedServer extends Server {
  /** Ends the executable as a crash would; in process it is closed. */
  kill: () => Promise<void>
  /** The errors that it has logged. Those of a server in this process that no test reads are printed when it ends. */
  errors: () => string
  /** The database of a world, for state that no response shows; undefined against the executable. */
  database: (world: string) => Sqlite | undefined
}

/** The program in this process, with its parts. */
export interface Program extends StartedServer {
  deps: Deps
  app: ReturnType<typeof createApp>['app']
  /** Logs a client in without a request, and returns the access token. */
  logIn: ReturnType<typeof createApp>['logIn']
  /** Does what a server does after an act of an operator. */
  refresh: ReturnType<typeof createApp>['refresh']
  defaultWorld: World
  /** All worlds of a sandbox. */
  readonly worlds: SandboxWorlds
  /** A client logged in to a fresh world, and that world; its clock stands still at a time, when one is given. */
  open: (now?: string) => Promise<{ client: TestWorld; world: World }>
}

/** Starts a server with flags of `scrip serve`. */
export const startServer = async (...flags: string[]): Promise<StartedServer> => {
  if (!againstBinary) return startInProcess({ flags, beginning: await beginningOf(flags) })
  const running = await start(['--log-level', 'error', ...flags])
  const stop = async () => void (await running.stop())
  return { ...running, stop, errors: running.log, world: freshWorlds(running), database: () => undefined }
}

/** A server without rate limits, which `npm test` starts once for all files; without `npm test`, one of the file's own. */
export const sharedServer = async (): Promise<Server> => {
  const { TEST_SERVER: url } = process.env
  if (!againstBinary || url === undefined) return forFile(await startServer('--rate-limit', 'off'))
  const request = (path: string, init?: BunFetchRequestInit) => fetch(url + path, init)
  const stop = () => Promise.resolve()
  const world = freshWorlds({ request }, `test-${process.pid}-${++sharedServers}`)
  return { url, request, stop, world, [Symbol.asyncDispose]: stop }
}
/** Files of other processes ask the same server: their worlds have other names. */
let sharedServers = 0

/** Ends a server of a whole file after its last test. */
export const forFile = <Running extends AsyncDisposable>(running: Running): Running => {
  afterAll(() => running[Symbol.asyncDispose]())
  return running
}

/** Tests that each begin with a new value: `const inWorld = testIn(() => server.world())`. */
export const testIn =
  <Opened>(open: () => Promise<Opened>) =>
  (sentence: string, work: (opened: Opened) => Promise<void>): void =>
    test(sentence, async () => work(await open()))

const freshWorlds = (server: Requestable, prefix = 'test'): Server['world'] => {
  let worlds = 0
  return async (now) => {
    const world = await TestWorld.open(server, `${prefix}-${++worlds}`)
    if (now === undefined) return world
    await world.clock({ now, frozen: true })
    return world.again()
  }
}

export const configOfFlags = (...flags: string[]): Config =>
  configOf(withServeOptions(new Command('serve')).parse(flags, { from: 'user' }).opts<ServeOptions>())

/** The state with which every world begins, if the flags name a scenario. */
const beginningOf = (flags: readonly string[]): Promise<Beginning | undefined> => {
  const log = createLog({ level: 'error', format: 'json', color: false, clock: systemClock, write: console.error })
  return playBeginning(configOfFlags(...flags), systemClock, log)
}

export interface ProgramOptions {
  flags?: readonly string[]
  beginning?: Beginning | undefined
  clock?: SteadyClock
  /** Replacements for services outside of the app. */
  outside?: Partial<Pick<Deps, 'rates' | 'send'>>
  /** Takes the messages that are logged as errors. */
  write?: (line: string) => void
}

/** Without rate limits, if no flag sets them. */
export const openProgram = ({ flags = [], ...options }: ProgramOptions = {}): Program =>
  startInProcess({ ...options, flags: ['--rate-limit', 'off', ...flags] })

const startInProcess = (options: ProgramOptions): Program => {
  const logged: string[] = []
  let isRead = false
  const { flags = [], beginning, clock = systemClock, outside, write = (line) => logged.push(line) } = options
  const config = configOfFlags(...flags)
  const log = createLog({ level: 'error', format: 'json', color: false, clock, write })
  const opened = open(config, clock, log, beginning)
  const url = 'http://localhost:4747'
  const publicUrl = config.publicUrl ?? url
  const overNetwork = createSender({
    rules: rulesOf(config, opened.sandboxWorlds !== undefined),
    userAgent: `Scrip/${VERSION}`,
  })
  // Nothing listens at the address of a program in this process: its inboxes are reached as it is.
  const send: Send = async (delivery, signal) => {
    if (!delivery.url.startsWith(`${url}/`)) return overNetwork(delivery, signal)
    const { headers, body } = delivery
    const response = await handle(new Request(delivery.url, { method: 'POST', headers, body }))
    return { status: response.status, body: await response.text(), durationMs: 0, error: null }
  }
  const bound = { publicUrl, addressOf: () => '127.0.0.1', isClosing: () => false }
  const { deps, app, handle, logIn, refresh } = build(opened, { ...bound, send, ...outside })
  const request = async (path: string, init?: BunFetchRequestInit): Promise<Response> => {
    // On a socket the Host header becomes the host of the URL; so it does here.
    const host = new Headers(init?.headers).get('host')
    return handle(new Request((host === null ? url : `http://${host}`) + path, init))
  }
  const stop = async (): Promise<void> => {
    opened.close()
    if (logged.length > 0 && !isRead) console.error(logged.join(''))
    isRead = true
  }
  const world = freshWorlds({ request })
  return {
    url,
    request,
    world,
    stop,
    kill: stop,
    errors: () => {
      isRead = true
      return logged.join('')
    },
    [Symbol.asyncDispose]: stop,
    database: (name) => opened.worlds.find(name)?.db.sqlite,
    deps,
    app,
    logIn,
    refresh,
    defaultWorld: deps.worlds.default,
    get worlds() {
      if (!opened.sandboxWorlds) throw new Error('live mode has one world')
      return opened.sandboxWorlds
    },
    open: async (now) => {
      const client = await world(now)
      const opened = deps.worlds.find(client.name)
      if (!opened) throw new Error(`no world ${client.name}`)
      return { client, world: opened }
    },
  }
}

/** A world of the sandbox and a client logged in to it. */
export class TestWorld {
  private constructor(
    private readonly server: Requestable,
    /** The name of the world, without sbx_. */
    readonly name: string,
    readonly token: string,
  ) {}

  static async open(server: Requestable, name: string, username = `sbx_${name}`): Promise<TestWorld> {
    const response = await server.request('/auth/login', {
      method: 'POST',
      body: JSON.stringify({ username, password: 'a password' }),
    })
    if (response.status !== 200) throw new Error(`login of ${username}: ${response.status} ${await response.text()}`)
    const { access_token } = (await response.json()) as { access_token: string }
    return new TestWorld(server, name, access_token)
  }

  /** A client that was logged in by other means. */
  static of(server: Requestable, name: string, token: string): TestWorld {
    return new TestWorld(server, name, token)
  }

  /** The other client of the same world: without vouchers, with 5.00 USD. */
  limited(): Promise<TestWorld> {
    return TestWorld.open(this.server, this.name, `sbx_${this.name}.limited`)
  }

  /** Logs in again, after a reset or a logout. */
  again(): Promise<TestWorld> {
    return TestWorld.open(this.server, this.name)
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.request(path, { headers })
  }

  /** Reads JSON, and expects success. */
  async read<Body>(path: string): Promise<Body> {
    return bodyOf(path, await this.get(path))
  }

  /** Posts a request that is expected to succeed, and returns the JSON of its response. */
  async make<Body>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Body> {
    return bodyOf(path, await this.post(path, body, headers))
  }

  /** Posts JSON; a string is sent unchanged. */
  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.request(path, { method: 'POST', headers, ...(text !== undefined && { body: text }) })
  }

  delete(path: string): Promise<Response> {
    return this.request(path, { method: 'DELETE' })
  }

  request(path: string, init: BunFetchRequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    return this.server.request(path, { ...init, headers: { authorization: `Bearer ${this.token}`, ...init.headers } })
  }

  /** Moves this world's clock. */
  async clock(move: { now?: string; advance?: string; frozen?: boolean }): Promise<void> {
    const response = await this.control('/clock', move)
    if (response.status !== 200) throw new Error(`clock: ${response.status} ${await response.text()}`)
  }

  /** Posts to the control API, for this world. */
  control(path: string, body?: unknown): Promise<Response> {
    return this.server.request(`/_sandbox${path}?world=${this.name}`, {
      method: 'POST',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
}

const bodyOf = async <Body>(path: string, response: Response): Promise<Body> => {
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Body
}

/** A row that has to exist. */
export const found = <Row>(row: Row | undefined): Row => {
  if (row === undefined) throw new Error('there is no such row')
  return row
}

/** Expects a response with this status and this JSON, whole. */
export const expectResponse = async (
  response: Response | Promise<Response>,
  status: number,
  body: unknown,
): Promise<void> => {
  const responded = await response
  expect(responded.status).toBe(status)
  expect(await responded.json()).toEqual(body)
}
