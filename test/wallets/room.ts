import { Command } from 'commander'
import { createApp, type Deps } from '../../src/app.ts'
import { assemble } from '../../src/assemble.ts'
import { configOf, type ServeOptions, withServeOptions } from '../../src/config.ts'
import { type Clock, systemClock } from '../../src/kernel/clock.ts'
import { createLog } from '../../src/log.ts'
import { findClient } from '../../src/sessions/clients.ts'
import type { Session } from '../../src/sessions/sessions.ts'
import type { World } from '../../src/worlds/world.ts'

/** The program in this process with what lies below the wire, for what no answer tells. */
export interface Room {
  deps: Deps
  world: World
  request: (path: string, init?: RequestInit) => Promise<Response>
  close: () => void
}

export interface RoomOptions {
  flags?: readonly string[]
  clock?: Clock
  /** What comes from outside, in the place of what the flags say. */
  outside?: Partial<Pick<Deps, 'rates'>>
}

export const openRoom = ({ flags = [], clock = systemClock, outside = {} }: RoomOptions = {}): Room => {
  const command = withServeOptions(new Command('serve')).parse(['--rate-limit', 'off', ...flags], { from: 'user' })
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock, write: (line) => console.error(line) })
  const platform = assemble(configOf(command.opts<ServeOptions>()), clock, log)
  const url = 'http://localhost:4747'
  const deps: Deps = {
    ...platform.deps({ publicUrl: url, addressOf: () => '127.0.0.1', isReady: () => true }),
    ...outside,
  }
  const { app } = createApp(deps)
  return {
    deps,
    world: deps.worlds.default,
    request: async (path, init) => app.handle(new Request(url + path, init)),
    close: platform.close,
  }
}

/** A client of a world as it is when it asks for something. */
export const sessionOf = (world: World, clientId: number): Session => {
  const client = findClient(world, clientId)
  if (!client) throw new Error(`no client ${clientId}`)
  return { world, client, loginId: 'lgn_test', expiresAtMs: Number.MAX_SAFE_INTEGER, epoch: client.tokenEpoch }
}
