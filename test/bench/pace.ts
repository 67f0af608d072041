import { type Ask, bytesOf, Connection } from '../rigs/connection.ts'

const CONNECTIONS = 8
const LOOK_MS = 10

/** Sends requests at a steady rate over kept connections, and returns how long each took from when it was to be sent. */
export const atPace = async (
  port: number,
  perSecond: number,
  requestOf: (number: number) => Ask,
  isOver: () => boolean,
  connections = CONNECTIONS,
): Promise<number[]> => {
  const times: number[] = []
  const free = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
  const sent: Promise<void>[] = []
  const startedMs = performance.now()
  while (!isOver()) {
    const dueMs = startedMs + (sent.length * 1_000) / perSecond
    const connection = performance.now() < dueMs ? undefined : free.pop()
    if (!connection) {
      await Bun.sleep(Math.min(LOOK_MS, Math.max(1, dueMs - performance.now())))
      continue
    }
    sent.push(
      connection.send(bytesOf(requestOf(sent.length))).then(() => {
        times.push(performance.now() - dueMs)
        free.push(connection)
      }),
    )
  }
  await Promise.all(sent)
  for (const connection of free) connection.close()
  return times
}
