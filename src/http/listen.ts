import type { Server } from 'bun'
import { systemClock } from '../kernel/clock.ts'

/** Bun's own limit responds without a body, so Scrip applies its limit where it reads bodies. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER
/** The seconds that a connection may be idle. With more than the 60 of most load balancers, those close it first. */
export const IDLE_SECONDS = 75

/** The interval at which a stopping server checks for open requests. */
const QUIET_MS = 20
/** After this many checks, it accepts no more requests. */
const LOOKS_MAX = 25

/** The host in the URL of a request without one, which only HTTP/1.0 allows: no page can have it. */
const NO_HOST = 'http://host.invalid'

/** A request with a host in its URL, made of the one that the runtime knows. */
class NamedRequest extends Request {
  constructor(readonly received: Request) {
    super(NO_HOST + received.url, received)
  }
}

const named = (request: Request): Request =>
  request.url.startsWith('/') && request.headers.get('host') === null ? new NamedRequest(request) : request

export interface ListenOptions {
  host: string
  /** 0 for any free port. */
  port: number
  /** Handles errors of what serves; otherwise the runtime shows its own page. */
  onEscape: (error: Error) => Response
}

export type Respond = (request: Request) => Response | Promise<Response>

export interface Listening {
  port: number
  /** Serves from now on. Until then, each request gets a 503. */
  serve: (respond: Respond) => void
  addressOf: (request: Request) => string
  /** Stops accepting requests. Open ones have this many milliseconds to finish. */
  stop: (drainMsMax: number) => Promise<void>
}

/** Adds the Date header, which the runtime leaves out in responses to HEAD. */
const dated = async (response: Response | Promise<Response>): Promise<Response> => {
  const settled = await response
  settled.headers.set('Date', new Date(systemClock.nowMs()).toUTCString())
  return settled
}

/** @throws the error of the operating system about the address */
export const listen = ({ host, port, onEscape }: ListenOptions): Listening => {
  let respond: Respond = () => new Response(null, { status: 503, headers: { 'Retry-After': '1' } })
  let askedCount = 0
  const server: Server<undefined> = Bun.serve({
    hostname: host,
    port,
    maxRequestBodySize: BODY_BYTES_UNLIMITED,
    idleTimeout: IDLE_SECONDS,
    development: false,
    // Outside development mode the runtime shares a port with any other process that uses it.
    reusePort: false,
    fetch: (request) => {
      askedCount += 1
      const response = respond(named(request))
      return request.method === 'HEAD' ? dated(response) : response
    },
    error: onEscape,
  })
  /** Requests that are already on the wire are still handled. */
  const untilQuiet = async (): Promise<void> => {
    for (let look = 0, seen = -1; look < LOOKS_MAX && seen !== askedCount; look += 1) {
      seen = askedCount
      await Bun.sleep(QUIET_MS)
    }
  }
  return {
    port: server.port ?? port,
    serve: (next) => {
      respond = next
    },
    addressOf: (request) =>
      server.requestIP(request instanceof NamedRequest ? request.received : request)?.address ?? '',
    stop: async (drainMsMax) => {
      const drained = drainMsMax > 0 ? untilQuiet().then(() => server.stop()) : server.stop()
      await Promise.race([drained, Bun.sleep(drainMsMax)])
      await server.stop(true)
    },
  }
}
