import type { ListenOptions, Respond } from './listen.ts'
import { listenPrivately } from './private-socket.ts'
import { laterResponse } from './request-switch.ts'

/**
 * Requests that arrive at a server after another one has taken over are forwarded to it through a socket in the data
 * folder.
 */

/** The peer of the request. Only this side of the socket can set it. */
const PEER_HEADER = 'x-scrip-peer'
/** Headers that belong to one connection, or are already handled. */
const OF_CONNECTION = ['connection', 'expect', 'keep-alive', 'transfer-encoding']

/** Nothing was sent. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOENT'])

export const forwardTo =
  (socket: string, addressOf: (request: Request) => string): Respond =>
  async (request) => {
    const headers = new Headers(request.headers)
    for (const name of OF_CONNECTION) headers.delete(name)
    headers.set(PEER_HEADER, addressOf(request))
    const { url, method, body } = request
    const options = { unix: socket, method, headers, body, redirect: 'manual', decompress: false } as const
    try {
      return await fetch(url, { ...options, keepalive: false })
    } catch (error) {
      // The other server has ended meanwhile: it got nothing.
      if (error instanceof Error && 'code' in error && NOT_CONNECTED.has(String(error.code))) return laterResponse()
      throw error
    }
  }

/** Serves what is forwarded, and knows the peer of each request. */
export const receiveForwarded = (
  socket: string,
  { respond, onEscape }: Pick<ListenOptions, 'respond' | 'onEscape'>,
) => {
  const forwarded = new WeakSet<Request>()
  const server = listenPrivately(socket, {
    fetch: (request) => {
      forwarded.add(request)
      return respond(request)
    },
    error: onEscape,
  })
  return {
    /** Undefined for a request that was not forwarded. */
    addressOf: (request: Request): string | undefined =>
      forwarded.has(request) ? (request.headers.get(PEER_HEADER) ?? '') : undefined,
    stop: () => server.stop(true),
  }
}
