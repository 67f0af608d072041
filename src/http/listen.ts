import type { Server } from 'bun'

/** Bun's own limit answers without a body; ours is kept where bodies are read. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER
/** How long a connection may say nothing, in seconds. */
const IDLE_SECONDS = 60

/** While it stops, a server looks this often whether anybody still asks... */
const QUIET_MS = 20
/** ...and takes no more requests after as many looks, quiet or not. */
const LOOKS_MAX = 25

/** The host in the URL of a request without one, which only HTTP/1.0 allows: no page can have it. */
const NO_HOST = 'http://host.invalid'

export interface ListenOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  answer: (request: Request) => Response | Promise<Response>
  /** Answers what escaped from `answer`: without it the runtime shows its own page. */
  onEscape: (error: Error) => Response
}

/** A server on a socket. */
export interface Listening {
  port: number
  /** The address that a request comes from. */
  addressOf: (request: Request) => string
  /** Answers what is on its way and takes in no more. What is in flight has so many milliseconds to finish. */
  stop: (drainMsMax: number) => Promise<void>
}

/**
 * Binds an address and answers there.
 *
 * @throws what the operating system says of the address
 */
export const listen = ({ host, port, answer, onEscape }: ListenOptions): Listening => {
  /** Requests that were given a URL, and what the runtime knows them as. */
  const received = new WeakMap<Request, Request>()
  let askedCount = 0
  const named = (request: Request): Request => {
    if (!request.url.startsWith('/') || request.headers.get('host') !== null) return request
    const copy = new Request(NO_HOST + request.url, request)
    received.set(copy, request)
    return copy
  }
  const server: Server<undefined> = Bun.serve({
    hostname: host,
    port,
    maxRequestBodySize: BODY_BYTES_UNLIMITED,
    idleTimeout: IDLE_SECONDS,
    development: false,
    // Without development the runtime shares a port with whoever has it.
    reusePort: false,
    fetch: (request) => {
      askedCount += 1
      return answer(named(request))
    },
    error: onEscape,
  })
  /** What was sent before anybody could know is still read and answered. */
  const untilQuiet = async (): Promise<void> => {
    for (let look = 0, seen = -1; look < LOOKS_MAX && seen !== askedCount; look += 1) {
      seen = askedCount
      await Bun.sleep(QUIET_MS)
    }
  }
  return {
    port: server.port ?? port,
    addressOf: (request) => server.requestIP(received.get(request) ?? request)?.address ?? '',
    stop: async (drainMsMax) => {
      if (drainMsMax > 0) await untilQuiet()
      await Promise.race([server.stop(), Bun.sleep(drainMsMax)])
      await server.stop(true)
    },
  }
}
