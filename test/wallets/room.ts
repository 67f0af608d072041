import { Command } from 'commander'
import { createApp } from '../../src/app/app.ts'
import type { Deps } from '../../src/app/services.ts'
import { configOf } from '../../src/config/config.ts'
import type { ServeOptions } from '../../src/config/option-table.ts'
import { withServeOptions } from '../../src/config/options.ts'
import { type SteadyClock, systemClock } from '../../src/kernel/clock.ts'
import { createLog } from '../../src/observability/log.ts'
import type { SandboxWorlds } from '../../src/sandbox/worlds/worlds.ts'
import { assemble } from '../../src/start/assemble.ts'
import type { World } from '../../src/worlds/world.ts'
import { type Server, TestWorld } from '../harness.ts'

/** The program in this process with what lies below the wire, for what no answer tells. */
export interface Room {
  deps: Deps
  world: World
  /** All worlds of a sandbox. */
  worlds: SandboxWorlds
  /** A client logged in to a fresh world, and that world; its clock stands still at a time, when one is given. */
  open: (now?: string) => Promise<{ client: TestWorld; world: World }>
  /** Sends a request as anyone may. */
  send: (path: string, init?: RequestInit) => Promise<Response>
  close: () => void
}

export interface RoomOptions {
  flags?: readonly string[]
  clock?: SteadyClock
  /** What comes from outside, in the place of what the flags say. */
  outside?: Partial<Pick<Deps, 'rates'>>
}

export const openRoom = ({ flags = [], clock = systemClock, outside = {} }: RoomOptions = {}): Room => {
  const command = withServeOptions(new Command('serve')).parse(['--rate-limit', 'off', ...flags], { from: 'user' })
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock, write: (line) => console.error(line) })
  const platform = assemble(configOf(command.opts<ServeOptions>()), clock, log)
  const url = 'http://localhost:4747'
  const deps: Deps = {
    ...platform.deps({ publicUrl: url, addressOf: () => '127.0.0.1', isClosing: () => false }),
    ...outside,
  }
  const { app } = createApp(deps)
  let worlds = 0
  const open = async (now?: string): Promise<{ client: TestWorld; world: World }> => {
    const name = `room-${++worlds}`
    const client = await TestWorld.open(server, name)
    const world = deps.worlds.find(name)
    if (!world) throw new Error(`no world ${name}`)
    if (now === undefined) return { client, world }
    await client.clock({ now, frozen: true })
    return { client: await client.again(), world }
  }
  const send = async (path: string, init?: RequestInit): Promise<Response> => app.handle(new Request(url + path, init))
  const server: Server = {
    url,
    request: send,
    world: async (now) => (await open(now)).client,
    stop: async () => platform.close(),
  }
  return {
    deps,
    world: deps.worlds.default,
    get worlds() {
      if (!platform.sandboxWorlds) throw new Error('live mode has one world')
      return platform.sandboxWorlds
    },
    open,
    send,
    close: platform.close,
  }
}
