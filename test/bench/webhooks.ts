import { processorUs } from '../program.ts'
import { type Ask, ask } from '../rigs/connection.ts'
import { percentile } from '../rigs/report.ts'
import { logIn } from '../rigs/server.ts'
import { atPace } from './pace.ts'
import { SANDBOX, start } from './programs.ts'
import { count, markdown, milliseconds } from './table.ts'

/** How many events a second one process delivers to a receiver on the same machine, and what other requests notice of it. */

const EVENTS = 1_000
const WEBHOOKS = 20
const QUIET_MS = 5_000
/** Requests beside the deliveries, of which every other one writes. */
const REQUESTS_PER_SECOND = 100

/** Prints the table. */
export const webhooks = async (): Promise<void> => {
  const receiver = new Receiver()
  const server = await start(SANDBOX, 'any')
  const token = await logIn(server.port, 'sandbox')
  const headers = { Authorization: `Bearer ${token}` }
  const post = (path: string, body: object): Promise<unknown> =>
    ask(server.port, { path, headers, body: JSON.stringify(body) })
  // Retries become due when the clock is moved, and not before.
  await post('/_sandbox/clock', { frozen: true })
  for (let number = 0; number < WEBHOOKS; number++) {
    await post('/api/v1/webhooks', { name: 'bench', url: `${receiver.url}/${number}`, events: ['*'] })
  }
  for (let id = 0; id < EVENTS; id++) await post('/_sandbox/events', { type: 'payout.completed', data: { id } })
  await post('/_sandbox/webhooks/settle', {})
  const quietMs = await latencies(server.port, headers, () => Bun.sleep(QUIET_MS))

  receiver.status = 200
  let [usedUs, elapsedMs] = [-processorUs(server.pid), -performance.now()]
  const busyMs = await latencies(server.port, headers, async () => {
    await post('/_sandbox/clock', { advance: 'PT30S' })
    await post('/_sandbox/webhooks/settle', {})
    usedUs += processorUs(server.pid)
    elapsedMs += performance.now()
  })
  await server.stop()
  receiver.stop()
  const { delivered } = receiver
  if (delivered !== EVENTS * WEBHOOKS) throw new Error(`${delivered} deliveries and not ${EVENTS * WEBHOOKS}`)
  console.log(
    markdown([
      ['', 'figure'],
      ['deliveries', count(delivered)],
      ['a second', count(delivered / (elapsedMs / 1_000))],
      ['processor time of one', `${count(usedUs / delivered)} µs`],
      ['p99 of requests, quiet', milliseconds(percentile(quietMs, 0.99))],
      ['p99 of requests, while delivering', milliseconds(percentile(busyMs, 0.99))],
    ]),
  )
}

/** Refuses what comes until it is told otherwise. */
class Receiver {
  status = 503
  delivered = 0
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      await request.arrayBuffer()
      if (this.status === 200) this.delivered += 1
      return new Response('ok', { status: this.status })
    },
  })
  readonly url = `http://127.0.0.1:${this.#server.port}`

  stop(): void {
    void this.#server.stop(true)
  }
}

/** How long each request takes while some work goes on. */
const latencies = async (
  port: number,
  headers: Record<string, string>,
  work: () => Promise<void>,
): Promise<number[]> => {
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  const requestOf = (number: number): Ask => {
    const body = JSON.stringify({ email: `${number}@example.com`, first_name: 'Ada', last_name: 'Lovelace' })
    return number % 2 ? { path: '/api/v1/wallets', headers } : { path: '/api/v1/beneficiaries', headers, body }
  }
  const times = await atPace(port, REQUESTS_PER_SECOND, requestOf, () => isOver)
  await working
  return times
}
