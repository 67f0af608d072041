import { join } from 'node:path'
import type { HeldPrices } from '../../../charges/cache.ts'

/**
 * How a server takes over from another one (decision 76), as HTTP at a socket in the data folder:
 *
 *     GET /server       who serves, and where
 *     POST /hand-over   responds when the folder is free; the response ends with this server
 *     POST /served      the next server serves; the body is the socket that takes what still arrives here
 */

const SOCKET_FILE = 'server.sock'

/** The socket of the server that has the folder. */
export const controlSocket = (dataDir: string): string => join(dataDir, SOCKET_FILE)

/** A socket for what is forwarded, one for each process: when a socket is closed, its name is removed. */
export const forwardSocket = (dataDir: string): string => join(dataDir, `requests-${process.pid}.sock`)

export interface ServerFacts {
  host: string
  port: number
  pid: number
  version: string
}

/** What a server that takes over has to know, besides what is in the folder. */
export interface Legacy {
  heldPrices: HeldPrices
}

/** The server before this one. */
export interface Predecessor {
  port: number
  /** Where it sends what still arrives there. */
  forwardSocket: string
  /**
   * Makes it let go of the folder; from then on, requests wait. Undefined if it has ended meanwhile: the folder is free then.
   * @throws ProgramError when it refuses
   */
  letGo: () => Promise<Legacy | undefined>
  /** Tells it that this server serves. */
  tellServed: () => Promise<void>
}
