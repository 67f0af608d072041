import { Broken, Connection } from './connection.ts'
import { type Server, threadMs } from './server.ts'
import type { Shape } from './shapes.ts'

/** What requests cost the one thread that answers everybody. */

export interface Cost {
  shape: Shape
  /** Processor time of the thread for one request, in milliseconds: the mean of the rounds. */
  meanMs: number
  /** The dearest of the rounds. */
  mostMs: number
  /** The answers, by status; 0 where the connection broke. */
  statuses: Map<number, number>
}

/** The first is not counted, as it may fill a cache. */
const WARM_UPS = 1

/** Asks so often, one after the other, and reads the thread's clock around each. */
export const costOf = async (server: Server, shape: Shape, token: string, rounds: number): Promise<Cost> => {
  const statuses = new Map<number, number>()
  let connection = await Connection.open(server.port)
  const costs: number[] = []
  for (let round = -WARM_UPS; round < rounds; round++) {
    const bytes = shape.request(nextNumber(), token)
    const before = threadMs(server.pid)
    const status = await connection.send(bytes).then(
      (answer) => answer.status,
      (error: unknown) => {
        if (error instanceof Broken) return 0
        throw error
      },
    )
    // What is still done for it after the answer counts, too.
    await Bun.sleep(1)
    if (round >= 0) {
      costs.push(threadMs(server.pid) - before)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    if (!connection.isOpen) connection = await Connection.open(server.port)
  }
  connection.close()
  const meanMs = costs.reduce((sum, each) => sum + each, 0) / costs.length
  return { shape, meanMs, mostMs: Math.max(...costs), statuses }
}

let numbers = 0
/** Another number each time. */
export const nextNumber = (): number => ++numbers
