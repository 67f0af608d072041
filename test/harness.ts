import type { Database as Sqlite } from 'bun:sqlite'
import { Command } from 'commander'
import { createApp } from '../src/app/app.ts'
import { configOf } from '../src/config/config.ts'
import type { ServeOptions } from '../src/config/option-table.ts'
import { withServeOptions } from '../src/config/options.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { createLog } from '../src/observability/log.ts'
import { assemble } from '../src/start/assemble.ts'
import { rulesOf } from '../src/webhooks/addresses.ts'
import { createSender, type Delivery, type ReceiverResponse, type Send } from '../src/webhooks/sender.ts'
import { startBinary } from './binary.ts'

/**
 * Starts the real program and speaks to it over HTTP: in this process, or, with TEST_TARGET=binary, the compiled
 * executable over a socket. The same scenarios run against both.
 *
 * A start costs more than most tests. Tests that need nothing but worlds of their own take {@link sharedServer}; tests
 * that need flags of their own, the default world or the list of all worlds take {@link startServer}, once for a file.
 */

export const againstBinary = process.env.TEST_TARGET === 'binary'

/** A running Scrip. */
export interface Server {
  url: string
  request: (path: string, init?: BunFetchRequestInit) => Promise<Response>
  /** Logs in to a fresh world that no other test knows; its clock stands still at a time, when one is given. */
  world: (now?: string) => Promise<TestWorld>
  stop: () => Promise<void>
}

/** A server that was started here, so that more can be done to it than to ask it. */
export interface StartedServer extends Server {
  /** Ends the executable as a crash would; in process it is closed. */
  kill: () => Promise<void>
  /** The database of a world, for what no answer tells; undefined against the executable. */
  database: (world: string) => Sqlite | undefined
}

/** Starts a server with flags of `scrip serve`. */
export const startServer = async (...flags: string[]): Promise<StartedServer> =>
  withWorlds(againstBinary ? await startBinary(flags) : startInProcess(flags))

/** A server without rate limits, which `npm test` starts once for all files; without `npm test`, one of the file's own. */
export const sharedServer = async (): Promise<Server> => {
  const { TEST_SERVER: url } = process.env
  if (!againstBinary || url === undefined) return startServer('--rate-limit', 'off')
  const request = (path: string, init?: BunFetchRequestInit) => fetch(url + path, init)
  return withWorlds({ url, request, stop: () => Promise.resolve() }, `test-${process.pid}-${++sharedServers}`)
}
/** Files of other processes ask the same server: their worlds have other names. */
let sharedServers = 0

const withWorlds = <Running extends Omit<Server, 'world'>>(running: Running, prefix = 'test'): Running & Server => {
  let worlds = 0
  const server = {
    ...running,
    world: async (now?: string) => {
      const world = await TestWorld.open(server, `${prefix}-${++worlds}`)
      if (now === undefined) return world
      await world.clock({ now, frozen: true })
      return world.again()
    },
  }
  return server
}

const startInProcess = (flags: string[]) => {
  const command = withServeOptions(new Command('serve')).parse(flags, { from: 'user' })
  const log = createLog({
    level: 'error',
    format: 'pretty',
    color: false,
    clock: systemClock,
    write: (line) => console.error(line),
  })
  const config = configOf(command.opts<ServeOptions>())
  const platform = assemble(config, systemClock, log)
  const url = 'http://localhost:4747'
  const publicUrl = config.publicUrl ?? url
  const deps = platform.deps({ publicUrl, addressOf: () => '127.0.0.1', isClosing: () => false })
  const overNetwork = createSender({
    rules: rulesOf(config),
    userAgent: `Scrip/${deps.version}`,
  })
  // Nothing listens at the address of a program in this process: its inboxes are reached as it is.
  const send: Send = (delivery, signal) =>
    delivery.url.startsWith(`${url}/`) ? sendTo(handle, delivery) : overNetwork(delivery, signal)
  const { handle } = createApp({ ...deps, send })
  return {
    url,
    request: async (path: string, init?: BunFetchRequestInit) => {
      // On a socket the Host header becomes the host of the URL; so it does here.
      const host = new Headers(init?.headers).get('host')
      return handle(new Request((host === null ? url : `http://${host}`) + path, init))
    },
    stop: async () => platform.close(),
    kill: async () => platform.close(),
    database: (world: string) => platform.worlds.find(world)?.db.sqlite,
  }
}

const sendTo = async (
  handle: (request: Request) => Response | Promise<Response>,
  { url, headers, body }: Delivery,
): Promise<ReceiverResponse> => {
  const response = await handle(new Request(url, { method: 'POST', headers, body }))
  return { status: response.status, body: await response.text(), durationMs: 0, error: null }
}

/** A world of the sandbox and a client logged in to it. */
export class TestWorld {
  private constructor(
    private readonly server: Server,
    /** The name of the world, without sbx_. */
    readonly name: string,
    readonly token: string,
  ) {}

  static async open(server: Server, name: string, username = `sbx_${name}`): Promise<TestWorld> {
    const response = await server.request('/auth/login', {
      method: 'POST',
      body: JSON.stringify({ username, password: 'a password' }),
    })
    if (response.status !== 200) throw new Error(`login of ${username}: ${response.status} ${await response.text()}`)
    const { access_token } = (await response.json()) as { access_token: string }
    return new TestWorld(server, name, access_token)
  }

  /** A client that was logged in by other means. */
  static of(server: Server, name: string, token: string): TestWorld {
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

  /** Posts JSON; a string goes out as it is. */
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

  /** Posts to the control surface, for this world. */
  control(path: string, body?: unknown): Promise<Response> {
    return this.server.request(`/_sandbox${path}?world=${this.name}`, {
      method: 'POST',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
}

/** An error in the structured shape (spec section 7, shape 1). */
export const structured = (name: string, code: string, message: string, messages?: object) => ({
  error: { name, code, message, ...(messages && { messages }) },
})
