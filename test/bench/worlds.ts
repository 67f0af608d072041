import { type Served, start } from './programs.ts'
import { aligned, mebibytes, median, milliseconds } from './table.ts'
import { logIn } from './works.ts'

/** What a world of the sandbox costs: to make and to drop it over HTTP, and to keep it. */

const WARM_UP = 50
const TIMED = 300
const IDLE = 1_000
const P99 = 0.99
const SETTLING_MS = 1_000
/** A world is idle after ten seconds, and fifty fall asleep in each second. */
const ASLEEP_MS = 35_000

/** Prints the table. */
export const worlds = async (scrip: readonly string[]): Promise<void> => {
  const served = await start([...scrip])
  const [made, dropped] = [[] as number[], [] as number[]]
  for (let i = -WARM_UP; i < TIMED; i++) {
    const url = `${served.url}/_sandbox/worlds/bench-${i + WARM_UP}`
    const madeMs = await timed('PUT', url, 200)
    const droppedMs = await timed('DELETE', url, 204)
    if (i < 0) continue
    made.push(madeMs)
    dropped.push(droppedMs)
  }
  console.log(
    `\n${aligned([
      ['worlds', 'median', 'p99'],
      ['make one, PUT', ...spread(made)],
      ['drop one, DELETE', ...spread(dropped)],
    ]).join('\n')}`,
  )
  const { awake, asleep } = await idleBytes(served)
  await served.stop()
  console.log(
    `${IDLE.toLocaleString('en')} worlds, each made by a login: ${mebibytes(awake)}, once they are idle: ${mebibytes(asleep)}`,
  )
}

/** Milliseconds until the whole answer is there. */
const timed = async (method: string, url: string, wanted: number): Promise<number> => {
  const startedAtMs = performance.now()
  const response = await fetch(url, { method })
  const body = await response.text()
  const elapsedMs = performance.now() - startedAtMs
  if (response.status !== wanted) throw new Error(`${method} ${url}: ${response.status} ${body}`)
  return elapsedMs
}

const spread = (times: readonly number[]): string[] => {
  const sorted = [...times].sort((a, b) => a - b)
  return [milliseconds(median(sorted)), milliseconds(sorted[Math.ceil(sorted.length * P99) - 1] ?? Number.NaN)]
}

/** What the process weighs more once it holds so many worlds, and once they have gone to sleep. */
const idleBytes = async (served: Served): Promise<{ awake: number; asleep: number }> => {
  await Bun.sleep(SETTLING_MS)
  const before = served.rss()
  for (let i = 0; i < IDLE; i++) await logIn(served.url, `sbx_idle-${i}`, 'idle')
  await Bun.sleep(SETTLING_MS)
  const awake = served.rss() - before
  await Bun.sleep(ASLEEP_MS)
  return { awake, asleep: served.rss() - before }
}
