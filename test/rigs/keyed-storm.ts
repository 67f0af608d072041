import { Connection } from './connection.ts'
import { Dice } from './dice.ts'
import type { Client } from './live-folder.ts'
import { logIn } from './server.ts'
import { type Acknowledged, anyWrite, askFor, faultIn, recall, type Write } from './writes.ts'

/**
 * Clients behind a proxy that write with a key, and read, while something happens to the servers. They repeat a write that failed, as
 * docs/use/clients.md says.
 */

const WRITERS = 4
/** The number of writes that are acknowledged between two events. */
const PACE = 40
const PAUSE_MS = 20
const PATIENCE_MS = 60_000

export interface Stormed {
  /** Each response or error that is not a success, in the order of arrival. */
  failures: string[]
  /** Acknowledged writes that are not there, or not as they were acknowledged. */
  lost: string[]
  /** The longest time between two acknowledged writes. */
  longestGapMs: number
}

/** The name distinguishes the writes of storms on the same servers. `pause` resolves after a number of acknowledged writes. */
export const keyedStorm = async (
  port: number,
  client: Client,
  name: string,
  happen: (pause: () => Promise<void>) => Promise<void>,
): Promise<Stormed> => {
  const token = await logIn(port, client.username, client.password)
  const dice = new Dice(1)
  const acknowledged: Acknowledged[] = []
  const failures: string[] = []
  let count = 0
  let isOver = false
  let lastMs = performance.now()
  let longestGapMs = 0
  const send = async (write: Write): Promise<boolean> => {
    const { path, headers, body } = askFor(write, token)
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
      const { status } = response
      const text = await response.text()
      const fault = faultIn(write, { status, head: '', body: Buffer.from(text) })
      if (fault !== undefined) failures.push(fault)
      else if (!text.includes(write.name)) failures.push(`${write.name} has the response of another: ${text}`)
      if (fault !== undefined) return false
      acknowledged.push({ ...write, status, body: text })
      const nowMs = performance.now()
      longestGapMs = Math.max(longestGapMs, nowMs - lastMs)
      lastMs = nowMs
      return true
    } catch (error) {
      failures.push(`${write.kind} ${write.name}: ${error}`)
      return false
    }
  }
  const work = async (): Promise<void> => {
    while (!isOver) {
      const write = { ...anyWrite(dice, `${name}n${++count}`), isKeyed: true }
      while (!(await send(write)) && !isOver) await Bun.sleep(PAUSE_MS)
      const { status } = await fetch(`http://127.0.0.1:${port}/api/v1/wallets`, {
        headers: { Authorization: `Bearer ${token}` },
      }).catch((error: unknown) => ({ status: String(error) }))
      if (status !== 200) failures.push(`a read: ${status}`)
    }
  }
  const writers = Array.from({ length: WRITERS }, work)
  await happen(async () => {
    const endMs = performance.now() + PATIENCE_MS
    for (const end = acknowledged.length + PACE; acknowledged.length < end; ) {
      if (performance.now() > endMs) throw new Error(`nothing is acknowledged: ${failures.at(-1)}`)
      await Bun.sleep(PAUSE_MS)
    }
  }).finally(() => {
    isOver = true
  })
  await Promise.all(writers)
  const lost: string[] = []
  for (const write of acknowledged) {
    const connection = await Connection.open(port) // some proxies end one after a write, or after a hundred
    const fault = await recall(connection, token, write)
    if (fault !== undefined) lost.push(fault)
    connection.close()
  }
  return { failures, lost, longestGapMs }
}
