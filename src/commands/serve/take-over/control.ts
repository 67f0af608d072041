import { renameSync, rmSync } from 'node:fs'
import type { Server } from 'bun'
import { listenPrivately } from '../../../http/private-socket.ts'
import type { Log } from '../../../observability/log.ts'
import type { HandOver } from './hand-over.ts'
import { controlSocket, type ServerFacts } from './protocol.ts'

/** A server that may take over some day. */
export class NextServer {
  #socket: Server<undefined> | undefined
  #state: 'awaited' | 'taking over' | 'serving' = 'awaited'
  #settled = Promise.resolve()
  #settle = (): void => undefined
  readonly #served = Promise.withResolvers<void>()

  constructor(
    private readonly handOver: HandOver,
    private readonly facts: ServerFacts,
    private readonly log: Log,
  ) {}

  /** Waits for it at the socket of the data folder. */
  listen(): void {
    const path = controlSocket(this.handOver.dataDir)
    // The name that a socket had first is removed when it is closed: later, this one belongs to the next server.
    const first = `${path}.${process.pid}`
    try {
      this.#socket = listenPrivately(first, {
        fetch: this.#respond,
        error: (error) => {
          this.log.error('the folder was not handed over', { cause: error.stack ?? String(error) })
          return new Response(null, { status: 500 })
        },
      })
      renameSync(first, path)
    } catch (error) {
      this.log.warn('no other server can take over', { cause: String(error) })
    }
  }

  /** After a hand-over it ends with the process: until then no third server may listen on the port. */
  async close(): Promise<void> {
    if (!this.#socket || this.hasServed) return
    try {
      rmSync(controlSocket(this.handOver.dataDir), { force: true })
    } catch (error) {
      this.log.warn('a socket was not removed', { cause: String(error) }) // of a folder that has become read-only
    }
    await this.#socket.stop(true)
  }

  /** Resolves when it serves. @throws ProgramError when it has ended before that, and left a folder that cannot be used */
  get served(): Promise<void> {
    return this.#served.promise
  }

  get hasServed(): boolean {
    return this.#state === 'serving'
  }

  /** Resolves when it is known who serves. */
  get settled(): Promise<void> {
    return this.#settled
  }

  readonly #respond = async (request: Request): Promise<Response> => {
    const asked = `${request.method} ${new URL(request.url).pathname}`
    if (asked === 'GET /server') return Response.json(this.facts)
    if (asked === 'POST /hand-over' && this.#state === 'awaited') return this.#letGo(request)
    if (asked === 'POST /served' && this.#state === 'taking over') return this.#passOn(await request.text())
    return new Response(null, { status: 409 })
  }

  async #letGo({ signal }: Request): Promise<Response> {
    this.#become('taking over')
    this.log.info('handing over')
    const legacy = await this.handOver.letGo().catch((error: unknown) => {
      this.#goOn()
      throw error
    })
    if (signal.aborted) this.#goOn()
    return new Response(
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(`${JSON.stringify(legacy)}\n`) // ends with this process
        },
        cancel: () => this.#goOn(),
      }),
    )
  }

  #goOn(): void {
    if (this.#state !== 'taking over') return
    this.log.warn('the server that was to take over has ended')
    try {
      this.handOver.goOn()
    } catch (error) {
      this.#served.reject(error)
    }
    this.#become('awaited')
  }

  async #passOn(socket: string): Promise<Response> {
    this.#become('serving')
    await this.handOver.passOn(socket)
    this.#served.resolve()
    return new Response(null, { status: 204 })
  }

  #become(state: 'awaited' | 'taking over' | 'serving'): void {
    this.#state = state
    this.#settle()
    if (state !== 'taking over') return
    const settled = Promise.withResolvers<void>()
    this.#settled = settled.promise
    this.#settle = settled.resolve
  }
}
