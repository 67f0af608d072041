import { processorUs } from '../program.ts'
import { type Ask, ask } from '../rigs/connection.ts'
import { percentile } from '../rigs/report.ts'
import { logIn } from '../rigs/server.ts'
import { atPace } from './pace.ts'
import { SANDBOX, start } from './programs.ts'
import { count, markdown, milliseconds } from './table.ts'

/** The number of events a second that one process delivers to a receiver on the same machine, and its effect on other requests. */

const EVENTS = 1_000
const WEBHOOKS = 20
const QUIET_MS = 5_000
/** Requests beside the deliveries, of which every other one writes. */
const REQUESTS_PER_SECOND = 100

/** Prints the table. */
export const webhooks = async (): Promise<void> => {
  const many = await delivering(WEBHOOKS, '/_sandbox/events', (id) => ({ type: 'payout.completed', data: { id } }))
  const one = await delivering(1, '/_sandbox/wallets/1/fund', () => ({ amount: 1 }))
  const row = (name: string, figure: (of: Figures) => string): string[] => [name, figure(many), figure(one)]
  console.log(
    markdown([
      ['', `${WEBHOOKS} webhooks`, 'one wallet'],
      row('deliveries', ({ delivered }) => count(delivered)),
      row('a second', ({ delivered, elapsedMs }) => count(delivered / (elapsedMs / 1_000))),
      row('processor time of one', ({ delivered, usedUs }) => `${count(usedUs / delivered)} µs`),
      row('p99 of requests, quiet', ({ quietMs }) => milliseconds(percentile(quietMs, 0.99))),
      row('p99 of requests, while delivering', ({ busyMs }) => milliseconds(percentile(busyMs, 0.99))),
    ]),
  )
}

interface Figures {
  delivered: number
  usedUs: number
  elapsedMs: number
  quietMs: number[]
  busyMs: number[]
}

/** Makes events by requests to a path while the receiver refuses them, then lets them be delivered. */
const delivering = async (hooks: number, path: string, bodyOf: (number: number) => object): Promise<Figures> => {
  const receiver = new Receiver()
  const server = await start(SANDBOX, 'any')
  const token = await logIn(server.port, 'sandbox')
  const headers = { Authorization: `Bearer ${token}` }
  const post = (to: string, body: object): Promise<unknown> =>
    ask(server.port, { path: to, headers, body: JSON.stringify(body) })
  // Retries become due when the clock is moved, and not before.
  await post('/_sandbox/clock', { frozen: true })
  for (let number = 0; number < hooks; number++) {
    await post('/api/v1/webhooks', { name: 'bench', url: `${receiver.url}/${number}`, events: ['*'] })
  }
  for (let number = 0; number < EVENTS; number++) await post(path, bodyOf(number))
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
  if (delivered !== EVENTS * hooks) throw new Error(`${delivered} deliveries and not ${EVENTS * hooks}`)
  return { delivered, usedUs, elapsedMs, quietMs, busyMs }
}

/** Refuses deliveries until it is told otherwise. */
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

/** The time that each request takes while some work goes on. */
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
