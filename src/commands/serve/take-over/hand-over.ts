import { renameSync, rmSync } from 'node:fs'
import type { Server } from 'bun'
import { heldPrices } from '../../../charges/cache.ts'
import { forwardTo } from '../../../http/forwarding.ts'
import type { Listening } from '../../../http/listen.ts'
import { listenPrivately } from '../../../http/private-socket.ts'
import type { Held, RequestSwitch } from '../../../http/request-switch.ts'
import { SECOND_MS } from '../../../kernel/clock.ts'
import type { Log } from '../../../observability/log.ts'
import type { ServedFolder } from '../../../start/served-folder.ts'
import type { Deliveries } from '../../../webhooks/deliveries.ts'
import type { World } from '../../../worlds/world.ts'
import { unusable } from '../../exit.ts'
import { controlSocket, type Legacy, type ServerFacts } from './protocol.ts'

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
  /** Writes pending data to the database. */
  finish: () => Promise<void>
  facts: ServerFacts
  log: Log
}

/** How a server hands over to the next one, step by step (decision 76). */
export class HandOver {
  #socket: Server<undefined> | undefined
  #held: Held | undefined
  /** Resolves when it is known who serves; undefined while nobody takes over. */
  #underway: PromiseWithResolvers<void> | undefined
  #hasServed = false
  readonly #served = Promise.withResolvers<void>()

  constructor(private readonly parts: Parts) {}

  /** Waits for the next server at the socket of the data folder. */
  listen(): void {
    const { folder, log } = this.parts
    const path = controlSocket(folder.dataDir)
    // The first name of a socket is removed when it is closed: later, that name belongs to the next server.
    const first = `${path}.${process.pid}`
    try {
      this.#socket = listenPrivately(first, {
        fetch: this.#respond,
        error: (error) => {
          log.error('the folder was not handed over', { cause: error.stack ?? String(error) })
          return new Response(null, { status: 500 })
        },
      })
      renameSync(first, path)
    } catch (error) {
      log.warn('no other server can take over', { cause: String(error) })
    }
  }

  /** After a hand-over it ends with the process: until then no third server may listen on the port. */
  async close(): Promise<void> {
    if (!this.#socket || this.#hasServed) return
    const { folder, log } = this.parts
    try {
      rmSync(controlSocket(folder.dataDir), { force: true })
    } catch (error) {
      log.warn('a socket was not removed', { cause: String(error) }) // of a folder that has become read-only
    }
    await this.#socket.stop(true)
  }

  /** Resolves when the next one serves. @throws ProgramError when it has ended before that, and left a folder that cannot be used */
  get served(): Promise<void> {
    return this.#served.promise
  }

  get hasServed(): boolean {
    return this.#hasServed
  }

  /** Resolves when it is known who serves. */
  get settled(): Promise<void> | undefined {
    return this.#underway?.promise
  }

  readonly #respond = async (request: Request): Promise<Response> => {
    const asked = `${request.method} ${new URL(request.url).pathname}`
    if (asked === 'GET /server') return Response.json(this.parts.facts)
    if (asked === 'POST /hand-over' && !this.#underway && !this.#hasServed) return this.#letGo(request)
    if (asked === 'POST /served' && this.#underway) return this.#passOn(await request.text())
    return new Response(null, { status: 409 })
  }

  /** The response ends with this process, and says so when the next one ends first. */
  async #letGo({ signal }: Request): Promise<Response> {
    this.#underway = Promise.withResolvers()
    this.parts.log.info('handing over')
    const legacy = await this.#release().catch((error: unknown) => {
      this.#goOn()
      throw error
    })
    if (signal.aborted) this.#goOn()
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(`${JSON.stringify(legacy)}\n`),
        cancel: () => this.#goOn(),
      }),
    )
  }

  /** Lets requests wait, and releases the folder. Only one server delivers at a time. */
  async #release(): Promise<Legacy> {
    const { deliveries, requests, timekeeper, finish, world, folder } = this.parts
    await deliveries.close(DELIVERY_MS_MAX)
    this.#held = await requests.hold()
    timekeeper.stop()
    await finish()
    const legacy = { heldPrices: heldPrices(world) }
    folder.handOver()
    return legacy
  }

  /** Takes the folder back from a server that has ended before it served: it can be another server's, or migrated by then. */
  #goOn(): void {
    if (!this.#underway) return
    const { deliveries, timekeeper, folder, log } = this.parts
    log.warn('the server that was to take over has ended')
    try {
      folder.takeBack()
      timekeeper.start()
      deliveries.resume()
      this.#held?.release()
    } catch (error) {
      this.#served.reject(unusable(`${folder.dataDir}: ${error instanceof Error ? error.message : String(error)}`))
    }
    this.#settle()
  }

  /** The other server gets all new connections, and what arrives here at a socket. Metrics are only its own from now on. */
  async #passOn(socket: string): Promise<Response> {
    const { requests, server, metricsServer } = this.parts
    this.#hasServed = true
    this.#settle()
    this.#held?.release(forwardTo(socket, requests.addressOf))
    server.giveConnections()
    metricsServer?.giveConnections()
    await metricsServer?.stop(0)
    this.#served.resolve()
    return new Response(null, { status: 204 })
  }

  #settle(): void {
    this.#underway?.resolve()
    this.#underway = undefined
  }
}
