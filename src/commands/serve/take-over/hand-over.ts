import { heldPrices } from '../../../charges/cache.ts'
import { forwardTo } from '../../../http/forwarding.ts'
import type { Listening } from '../../../http/listen.ts'
import type { Held, RequestSwitch } from '../../../http/request-switch.ts'
import { SECOND_MS } from '../../../kernel/clock.ts'
import type { ServedFolder } from '../../../start/served-folder.ts'
import type { Deliveries } from '../../../webhooks/deliveries.ts'
import type { World } from '../../../worlds/world.ts'
import { unusable } from '../../exit.ts'
import type { Legacy } from './protocol.ts'

/** As long as the receiver of a webhook may take (contract C16). */
const DELIVERY_MS_MAX = 10 * SECOND_MS

interface Parts {
  folder: ServedFolder
  world: World
  server: Listening
  metricsServer: Listening | undefined
  requests: RequestSwitch
  deliveries: Deliveries
  timekeeper: { start: () => void; stop: () => void }
  /** Writes what is not in the database yet. */
  finish: () => Promise<void>
}

/** How a server hands over to another one, step by step (decision 76). */
export class HandOver {
  #held: Held | undefined

  constructor(private readonly parts: Parts) {}

  get dataDir(): string {
    return this.parts.folder.dataDir
  }

  /** Lets requests wait, and lets go of the folder. Only one server delivers at a time. */
  async letGo(): Promise<Legacy> {
    const { deliveries, requests, timekeeper, finish, world, folder } = this.parts
    await deliveries.close(DELIVERY_MS_MAX)
    this.#held = await requests.hold()
    timekeeper.stop()
    await finish()
    const legacy = { heldPrices: heldPrices(world) }
    folder.handOver()
    return legacy
  }

  /**
   * Takes the folder back from a server that has ended before it served.
   * @throws ProgramError when the folder is another server's, or in the schema of another version
   */
  goOn(): void {
    const { deliveries, timekeeper, folder } = this.parts
    try {
      folder.takeBack()
    } catch (error) {
      throw unusable(`${folder.dataDir}: ${error instanceof Error ? error.message : String(error)}`)
    }
    timekeeper.start()
    deliveries.resume()
    this.#held?.release()
  }

  /** The other server gets all new connections, and what arrives here at a socket. Metrics are only its own from now on. */
  async passOn(socket: string): Promise<void> {
    const { requests, server, metricsServer } = this.parts
    this.#held?.release(forwardTo(socket, requests.addressOf))
    server.giveConnections()
    metricsServer?.giveConnections()
    await metricsServer?.stop(0)
  }
}
