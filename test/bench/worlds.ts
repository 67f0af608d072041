import { type Running, residentBytes } from '../program.ts'
import { start } from './programs.ts'
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
const COPIES = 40
/** A copy is not made while the one before is still brought to the disk. */
const COPYING_PAUSE_MS = 60

const beneficiaries = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ email: `ada-${i}@example.com`, first_name: 'Ada', last_name: 'Lovelace' },
  }))

/** 1,000 beneficiaries, orders and payouts. Those that are not finished are as they were when they were made. */
const scenarioOf = ({ finished }: { finished: number }): string => {
  const [orders, payouts] = [350, 350].map((count) => Array.from({ length: count }, (_, i) => i >= count * finished))
  return JSON.stringify({
    beneficiaries: beneficiaries(300),
    orders: orders?.map((isOpen) => ({
      ...{ product_id: 2, denomination: 50, quantity: 1 },
      ...(isOpen && { status: 'PENDING' }),
    })),
    payouts: payouts?.map((isOpen) => ({
      ...{ amount: 10, currency: 'USD', beneficiary_email: 'ada@example.com' },
      ...{ beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' },
      ...(isOpen && { status: 'created' }),
    })),
  })
}

/** Prints the table. @param dataDir a folder that is not there yet */
export const worlds = async (scrip: readonly string[], dataDir: string): Promise<void> => {
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
  const loaded = async (scenario: string): Promise<number[]> => {
    const times: number[] = []
    for (let i = 0; i < SCENARIOS; i++) {
      times.push(await timed('PUT', `${served.url}/_sandbox/scenario`, 200, scenario))
    }
    return times
  }
  const [half, all] = [await loaded(scenarioOf({ finished: 0.5 })), await loaded(scenarioOf({ finished: 1 }))]
  const inMemory = await copied(served)
  const inFolder = await start([...scrip, '--data-dir', dataDir])
  const onDisk = await copied(inFolder)
  await inFolder.stop()
  console.log(
    `\n${aligned([
      ['worlds', 'median', 'p99'],
      ['make one, PUT', ...spread(made)],
      ['drop one, DELETE', ...spread(dropped)],
      ['load 1,000 records, half of them finished, PUT', ...spread(half)],
      ['load 1,000 records, all of them finished, PUT', ...spread(all)],
      ['copy a world of 10,000 rows, PUT', ...spread(inMemory)],
      ['copy it in a data folder, PUT', ...spread(onDisk)],
    ]).join('\n')}`,
  )
  const { awake, asleep } = await idleBytes(served)
  await served.stop()
  console.log(
    `${IDLE.toLocaleString('en')} worlds, each made by a login: ${mebibytes(awake)}, once they are idle: ${mebibytes(asleep)}`,
  )
}

const copied = async ({ url }: Running): Promise<number[]> => {
  await timed('PUT', `${url}/_sandbox/worlds/full`, 200)
  const scenario = JSON.stringify({ beneficiaries: beneficiaries(10_000) })
  await timed('PUT', `${url}/_sandbox/scenario?world=full`, 200, scenario)
  const times: number[] = []
  for (let i = 0; i < COPIES; i++) {
    times.push(await timed('PUT', `${url}/_sandbox/worlds/copy-${i}`, 200, JSON.stringify({ from: 'full' })))
    await Bun.sleep(COPYING_PAUSE_MS)
  }
  for (let i = 0; i < COPIES; i++) await timed('DELETE', `${url}/_sandbox/worlds/copy-${i}`, 204)
  return times
}

/** Milliseconds until the whole response is there. */
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
const idleBytes = async (served: Running): Promise<{ awake: number; asleep: number }> => {
  await Bun.sleep(SETTLING_MS)
  const before = residentBytes(served.pid)
  for (let i = 0; i < IDLE; i++) await logIn(served.url, `sbx_idle-${i}`, 'idle')
  await Bun.sleep(SETTLING_MS)
  const awake = residentBytes(served.pid) - before
  await Bun.sleep(ASLEEP_MS)
  return { awake, asleep: residentBytes(served.pid) - before }
}
