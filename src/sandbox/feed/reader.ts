import { ALL_WORLDS } from '../worlds/query.ts'
import { HEARTBEAT, openingMessage } from './messages.ts'

interface Callbacks {
  /** The connection has taken what was sent. */
  onWaiting: () => void
  onLeft: () => void
}

/** One open feed. Nothing is made for it before its connection has taken what was sent. */
export class Reader {
  readonly stream: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #taken: (() => void) | undefined

  constructor(
    private readonly world: string,
    /** The number of the last item that was looked at for it. */
    public last: number,
    { onWaiting, onLeft }: Callbacks,
  ) {
    let isOpening = true
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: (controller) => {
          // A client does not see the headers until something is sent.
          if (isOpening) {
            isOpening = false
            controller.enqueue(openingMessage(this.last))
            return undefined
          }
          const { promise, resolve } = Promise.withResolvers<void>()
          this.#taken = resolve
          onWaiting()
          return promise
        },
        cancel: onLeft,
      },
      { highWaterMark: 0 },
    )
  }

  get isWaiting(): boolean {
    return this.#taken !== undefined
  }

  wants(world: string): boolean {
    return this.world === ALL_WORLDS || this.world === world
  }

  send(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes)
    this.#settle()
  }

  beat(): void {
    if (this.isWaiting) this.send(HEARTBEAT)
  }

  end(): void {
    this.#controller?.close()
    this.#settle()
  }

  #settle(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }
}
