import { type Running, residentPeakBytes } from '../program.ts'
import { percentile } from '../rigs/report.ts'
import { logIn } from '../rigs/server.ts'
import { SANDBOX, start } from './programs.ts'
import { count, markdown, mebibytes, milliseconds } from './table.ts'

/** The cost of a sandbox world: to make, copy and drop it, and to keep 10,000 of them. */

const WARM_UP = 50
const TIMED = 300
const COPIES = 40
/** Rows of a world that is copied. */
const BENEFICIARIES = 5_000
const KEPT = 10_000
/** Requests of a kept world, besides its login. */
const KEPT_REQUESTS = 11

/** Prints the table. */
export const worlds = async (): Promise<void> => {
  const server = await start(SANDBOX)
  const [made, dropped, copied]: [number[], number[], number[]] = [[], [], []]
  for (let number = -WARM_UP; number < TIMED; number++) {
    const world = `/_sandbox/worlds/bench-${number + WARM_UP}`
    const madeMs = await timed(server, 'PUT', world)
    const droppedMs = await timed(server, 'DELETE', world)
    if (number < 0) continue
    made.push(madeMs)
    dropped.push(droppedMs)
  }
  const token = await logIn(server.port, 'sbx_full', 'full')
  for (let number = 0; number < BENEFICIARIES; number++) await save(server, token, number)
  for (let number = 0; number < COPIES; number++) {
    copied.push(await timed(server, 'PUT', `/_sandbox/worlds/copy-${number}`, '{"from":"full"}'))
  }
  const rows: [string, number[]][] = [
    ['make one', made],
    ['drop one', dropped],
    [`copy one with ${count(BENEFICIARIES)} beneficiaries`, copied],
  ]
  const spread = (times: number[]) => [0.5, 0.99].map((part) => milliseconds(percentile(times, part)))
  console.log(markdown([['', 'median', 'p99'], ...rows.map(([name, times]) => [name, ...spread(times)])]))
  await server.stop()
  const peak = await peakBytes()
  console.log(`\n${count(KEPT)} worlds of ${KEPT_REQUESTS + 1} requests: ${mebibytes(peak)} at the peak`)
}

/** Milliseconds until the whole response is there. */
const timed = async (server: Running, method: string, path: string, body?: string): Promise<number> => {
  const startedMs = performance.now()
  const response = await server.request(path, { method, ...(body !== undefined && { body }) })
  const text = await response.text()
  const elapsedMs = performance.now() - startedMs
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return elapsedMs
}

const save = async (server: Running, token: string, number: number): Promise<void> => {
  const body = JSON.stringify({ email: `${number}@example.com`, first_name: 'Ada', last_name: 'Lovelace' })
  const headers = { Authorization: `Bearer ${token}` }
  const response = await server.request('/api/v1/beneficiaries', { method: 'POST', headers, body })
  if (response.status !== 201) throw new Error(`saving a beneficiary: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

/** The memory of a process that has made this many worlds, each used and then left alone. */
const peakBytes = async (): Promise<number> => {
  const server = await start(SANDBOX)
  const names = Array.from({ length: KEPT }, (_, index) => `sbx_kept-${index}`).values()
  const fill = async (): Promise<void> => {
    for (const name of names) {
      const token = await logIn(server.port, name)
      for (let number = 0; number < KEPT_REQUESTS; number++) await save(server, token, number)
    }
  }
  await Promise.all([fill(), fill(), fill(), fill()])
  const bytes = residentPeakBytes(server.pid)
  await server.stop()
  return bytes
}
