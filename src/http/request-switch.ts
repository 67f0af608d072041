import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { unavailable } from '../kernel/failure.ts'
import { renderFailure, STRUCTURED } from './errors.ts'
import { JSON_TYPE } from './json.ts'
import type { Respond } from './listen.ts'

/** How long requests wait for the server that takes over. */
const WAIT_MS_MAX = 10 * SECOND_MS
/** How many wait at once. */
const WAITING_MAX = 10_000
/** Most requests have a response within this time... */
const USUAL_MS = 20
/** ...and this is how long a moment without longer ones is waited for, such as those whose body arrives slowly. */
const MOMENT_MS_MAX = 10 * SECOND_MS
/** Requests still in flight then get this much time. */
const LAST_MS_MAX = 2 * SECOND_MS
const LOOK_MS = 2
const RETRY_AFTER_SECONDS = 1

interface Underway {
  beganMs: number
}

/** A source of requests: a port, or the socket of the previous server. */
interface RequestSource {
  /** The peer of a request; undefined for a request from elsewhere. */
  addressOf: (request: Request) => string | undefined
  /** How many requests have no response yet. */
  pendingCount?: () => number
}

/**
 * Where the requests of a server come from, and where they go: to its app, and to another server once that has taken over
 * (decision 76). Made before both, so that ports and app can follow in either order.
 */
export class RequestSwitch {
  readonly #sources: RequestSource[] = []
  #app: Respond = laterResponse
  #to: Respond = laterResponse
  #waiting = 0
  #isHandingOver = false
  #isClosing = false

  readonly respond: Respond = (request) => this.#to(request)

  readonly addressOf = (request: Request): string => {
    for (const { addressOf } of this.#sources) {
      const address = addressOf(request)
      if (address !== undefined) return address
    }
    return ''
  }

  receiveFrom(source: RequestSource): void {
    this.#sources.unshift(source)
  }

  serve(app: Respond): void {
    this.#app = app
    this.#to = app
  }

  /** From now on a server is not ready: it is about to stop. */
  close(): void {
    this.#isClosing = true
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Meanwhile each response of the app closes its connection, so that clients open new ones. */
  get isHandingOver(): boolean {
    return this.#isHandingOver
  }

  /**
   * Lets new requests wait, and resolves when the app has responded to all others. Begins in a moment without requests that
   * take long, because those that wait, wait for them.
   */
  async hold(): Promise<Held> {
    this.#isHandingOver = true
    const underway = await this.#moment()
    const next = Promise.withResolvers<Respond>()
    this.#to = (request) => this.#wait(request, next.promise)
    const endMs = sinceStartMs() + LAST_MS_MAX
    while (underway.size > 0 && sinceStartMs() < endMs) await Bun.sleep(LOOK_MS)
    return {
      release: (to) => {
        this.#isHandingOver = to !== undefined
        this.#to = to ? closing(to) : this.#app
        next.resolve(this.#to)
      },
    }
  }

  /** Returns what is underway then. */
  async #moment(): Promise<ReadonlySet<Underway>> {
    const underway = new Set<Underway>()
    this.#to = async (request) => {
      const one = { beganMs: sinceStartMs() }
      underway.add(one)
      try {
        return await this.#app(request)
      } finally {
        underway.delete(one)
      }
    }
    const endMs = sinceStartMs() + MOMENT_MS_MAX
    for (let nowMs = sinceStartMs(); nowMs < endMs; nowMs = sinceStartMs()) {
      const [oldest] = underway
      const areUsual = !oldest || nowMs - oldest.beganMs < USUAL_MS
      if (areUsual && this.#pendingCount() <= underway.size) break
      await Bun.sleep(LOOK_MS)
    }
    return underway
  }

  #pendingCount(): number {
    return this.#sources.reduce((count, { pendingCount }) => count + (pendingCount?.() ?? 0), 0)
  }

  async #wait(request: Request, next: Promise<Respond>): Promise<Response> {
    if (this.#waiting >= WAITING_MAX) return laterResponse()
    this.#waiting += 1
    try {
      const to = await Promise.race([next, Bun.sleep(WAIT_MS_MAX)])
      return to ? await to(request) : laterResponse()
    } finally {
      this.#waiting -= 1
    }
  }
}

/** Requests that wait until it is known where they go. */
export interface Held {
  /** To a server that has taken over, or back to the app. */
  release: (to?: Respond) => void
}

/** Each response closes its connection. */
const closing =
  (respond: Respond) =>
  async (request: Request): Promise<Response> => {
    const response = await respond(request)
    response.headers.set('Connection', 'close')
    return response
  }

/** The response to a request that the server did not handle. */
export const laterResponse = (): Response => {
  const { status, headers, body } = renderFailure(unavailable(RETRY_AFTER_SECONDS), STRUCTURED)
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'content-type': JSON_TYPE, Connection: 'close' },
  })
}
