import { isIP } from 'node:net'
import { hostOf } from './addresses.ts'

/** Connections for one request each: to an address that was checked, and through no proxy (decisions 72 and 93). */

interface Listener {
  onData: (bytes: Buffer) => void
  /** Nothing more comes. Can be called more than once, the first time with what went wrong. */
  onEnd: (error?: Error) => void
}

export interface Target {
  url: URL
  /** An address of its host. */
  address: string
  /** Certificates that are trusted besides those of the machine. */
  ca: string | undefined
}

/** Sends a request as soon as there is a connection. Returns what closes it. */
export const connectTo = (target: Target, request: string, listener: Listener): (() => void) =>
  target.url.protocol === 'https:' ? securely(target, request, listener) : plainly(target, request, listener)

const portOf = ({ port }: URL, usual: number): number => (port === '' ? usual : Number(port))

const securely = ({ url, address, ca }: Target, request: string, { onData, onEnd }: Listener): (() => void) => {
  const name = hostOf(url)
  // Loaded when it is needed, because it delays the start.
  const socket = process.getBuiltinModule('node:tls').connect({
    host: address,
    port: portOf(url, 443),
    rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
    ...(isIP(name) === 0 && { servername: name }),
    ...(ca !== undefined && { ca }),
  })
  socket.on('secureConnect', () => socket.write(request))
  socket.on('data', onData)
  socket.on('error', onEnd)
  for (const ending of ['close', 'end'] as const) socket.on(ending, () => onEnd())
  return () => void socket.destroy()
}

/** Without `node:net`, which takes as much time again as everything else that a delivery does. */
const plainly = ({ url, address }: Target, request: string, { onData, onEnd }: Listener): (() => void) => {
  let unsent = Buffer.from(request)
  let isClosed = false
  const send = (socket: Bun.Socket): void => {
    unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
  }
  const connecting = Bun.connect({
    hostname: address,
    port: portOf(url, 80),
    socket: {
      open: (socket) => (isClosed ? undefined : send(socket)),
      drain: send,
      data: (_, bytes) => onData(bytes),
      end: () => onEnd(),
      close: () => onEnd(),
      error: (_, error) => onEnd(error),
      connectError: (_, error) => onEnd(error),
    },
  })
  connecting.catch(onEnd)
  return () => {
    isClosed = true
    connecting.then((socket) => socket.close()).catch(() => undefined) // there was no connection
  }
}
