import { type Served, start } from './programs.ts'
import { aligned, mebibytes, median, milliseconds } from './table.ts'
import { logIn } from './works.ts'

/** What a world of the sandbox costs: to make and to drop it over HTTP, and to keep it. */

const WARM_UP = 50
const TIMED = 300
const IDLE = 1_000
const P99 = 0.99
const SETTLING_MS = 1_000
/** A world is idle after ten seconds; all idle ones are suspended within a few more. */
const ASLEEP_MS = 25_000

const SCENARIOS = 50
/** Beneficiaries, delivered orders and completed payouts: 1,000 records. */
const SCENARIO = JSON.stringify({
  beneficiaries: Array.from({ length: 300 }, (_, i) => ({
    ...{ email: `ada-${i}@example.com`, first_name: 'Ada', last_name: 'Lovelace' },
  })),
  orders: Array.from({ length: 350 }, () => ({ product_id: 2, denomination: 50, quantity: 1 })),
  payouts: Array.from({ length: 350 }, () => ({
    ...{ amount: 10, currency: 'USD', beneficiary_email: 'ada@example.com' },
    ...{ beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' },
  })),
})

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
  const loaded: number[] = []
  for (let i = 0; i < SCENARIOS; i++) {
    loaded.push(await timed('PUT', `${served.url}/_sandbox/scenario`, 200, SCENARIO))
  }
  console.log(
    `\n${aligned([
      ['worlds', 'median', 'p99'],
      ['make one, PUT', ...spread(made)],
      ['drop one, DELETE', ...spread(dropped)],
      ['load a scenario of 1,000 records, PUT', ...spread(loaded)],
    ]).join('\n')}`,
  )
  const { awake, asleep } = await idleBytes(served)
  await served.stop()
  console.log(
    `${IDLE.toLocaleString('en')} worlds, each made by a login: ${mebibytes(awake)}, once they are idle: ${mebibytes(asleep)}`,
  )
}

/** Milliseconds until the whole answer is there. */
const timed = async (method: string, url: string, wanted: number, sent?: string): Promise<number> => {
  const startedAtMs = performance.now()
  const response = await fetch(url, { method, ...(sent !== undefined && { body: sent }) })
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
