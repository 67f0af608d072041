import { type Running, threadMs } from '../program.ts'
import { Broken, Connection } from './connection.ts'
import { percentile } from './report.ts'
import type { Shape } from './shapes.ts'
import type { Victims } from './victims.ts'

/** What requests cost the one thread that serves everybody, and how long others wait for it. */

export interface Cost {
  shape: Shape
  /** Processor time of the thread for one request, in milliseconds. */
  meanMs: number
  /** The longest that somebody else has waited, in milliseconds: in the best of the rounds, as machines stall, too. */
  stallMs: number
  /** The responses, by status; 0 where the connection broke. */
  statuses: Map<number, number>
}

interface Search {
  rounds: number
  /** Requests that arrive together: work of a moment each adds up. */
  together: number
  victims: Victims
  /** Of those who feel it. */
  tokens: readonly string[]
}

/** The others ask for so long, and the requests begin when they have begun. */
const FELT_SECONDS = 0.25
const FELT_PER_SECOND = 100
const BEGINS_MS = 20

export const costOf = async (server: Running, shape: Shape, token: string, search: Search): Promise<Cost> => {
  const { rounds, together, victims, tokens } = search
  const statuses = new Map<number, number>()
  const ask = async (connection: Connection): Promise<void> => {
    const status = await connection.send(shape.request(nextNumber(), token)).then(
      (response) => response.status,
      (error: unknown) => {
        if (error instanceof Broken) return 0
        throw error
      },
    )
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const askTogether = async (count: number): Promise<void> => {
    const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(server.port)))
    await Promise.all(connections.map(ask))
    for (const connection of connections) connection.close()
  }
  // It may fill a cache.
  await askTogether(1)
  const costsMs: number[] = []
  const stallsMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const felt = victims.feel({ port: server.port, tokens, seconds: FELT_SECONDS, perSecond: FELT_PER_SECOND })
    await Bun.sleep(BEGINS_MS)
    const before = threadMs(server.pid)
    await askTogether(together)
    costsMs.push((threadMs(server.pid) - before) / together)
    stallsMs.push(percentile((await felt).latenciesMs, 1))
  }
  const meanMs = costsMs.reduce((sum, each) => sum + each, 0) / rounds
  return { shape, meanMs, stallMs: Math.min(...stallsMs), statuses }
}

let numbers = 0
/** Another number each time. */
export const nextNumber = (): number => ++numbers
