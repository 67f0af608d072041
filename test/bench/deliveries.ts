import { ask, bytesOf, Connection } from '../rigs/connection.ts'
import { percentile } from '../rigs/report.ts'
import { start } from './programs.ts'
import { aligned, count, milliseconds, ratio } from './table.ts'

/** How many events a second one process delivers to a receiver on the same machine, and what other requests notice of it. */

const WEBHOOKS = 20
const QUIET_MS = 5_000
/** Requests of the API beside the deliveries, of which every other one writes. */
const REQUESTS_PER_SECOND = 100
const CONNECTIONS = 8
const LOOK_MS = 10
/** Events a second, each to all webhooks, and for how long. */
const STEADY_EVENTS = 100
const STEADY_MS = 10_000
/** Deliveries are as many at once. */
const FETCHED_AT_ONCE = 64
const FETCHES = 5_000
const PERSON = { first_name: 'Ada', last_name: 'Lovelace' }

/** Makes events at a steady rate, waits until all are delivered, and returns how many seconds that took. */
const eventsAtPace = async (post: (path: string, body: object) => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now()
  const asked: Promise<unknown>[] = []
  while (performance.now() - startedMs < STEADY_MS) {
    const dueMs = startedMs + (asked.length * 1_000) / STEADY_EVENTS
    if (performance.now() < dueMs) await Bun.sleep(Math.max(1, dueMs - performance.now()))
    else asked.push(post('/_sandbox/events', { type: 'payout.completed', data: { id: asked.length } }))
  }
  await Promise.all(asked)
  await post('/_sandbox/webhooks/settle', {})
  return (performance.now() - startedMs) / 1_000
}

/** Prints the figures. */
export const deliveries = async (scrip: string[], events: number): Promise<void> => {
  const receiver = Bun.spawn([process.execPath, `${import.meta.dir}/receiver.ts`], { stdout: 'pipe' })
  const { value } = await receiver.stdout.getReader().read()
  const to = Number(new TextDecoder().decode(value))
  const server = await start(scrip)
  const post = async (path: string, body: object, headers = {}): Promise<Record<string, string>> => {
    const { body: text } = await ask(server.port, { path, body: JSON.stringify(body), headers })
    return JSON.parse(text.toString())
  }
  const { access_token } = await post('/auth/login', { username: 'sandbox', password: 'sandbox' })
  const headers = { Authorization: `Bearer ${access_token}` }
  // Retries become due when the clock is moved, and not before.
  await post('/_sandbox/clock', { frozen: true })
  await ask(to, { path: '/status/503' })
  for (let number = 0; number < WEBHOOKS; number++) {
    const hook = { name: 'bench', url: `http://127.0.0.1:${to}/hooks/${number}`, events: ['*'] }
    await post('/api/v1/webhooks', hook, headers)
  }
  for (let id = 0; id < events; id++) await post('/_sandbox/events', { type: 'payout.completed', data: { id } })
  await post('/_sandbox/webhooks/settle', {})
  const quiet = await requestsFor(server.port, headers, async () => Bun.sleep(QUIET_MS))
  await ask(to, { path: '/status/200' })
  const [cpuUs, startedMs] = [server.cpuUs(), performance.now()]
  let seconds = 0
  let usedUs = 0
  const busy = await requestsFor(server.port, headers, async () => {
    await post('/_sandbox/clock', { advance: 'PT30S' })
    await post('/_sandbox/webhooks/settle', {})
    seconds = (performance.now() - startedMs) / 1_000
    usedUs = server.cpuUs() - cpuUs
  })
  const delivered = Number((await ask(to, { path: '/count' })).body)
  const quietAgain = await requestsFor(server.port, headers, async () => Bun.sleep(QUIET_MS))
  await ask(to, { path: '/status/200' })
  let steadySeconds = 0
  const steady = await requestsFor(server.port, headers, async () => {
    steadySeconds = await eventsAtPace(post)
  })
  const deliveredSteadily = Number((await ask(to, { path: '/count' })).body)
  await server.stop()
  const fetchUs = await fetchedUs(to)
  receiver.kill()
  const [quietMs, busyMs] = [percentile(quiet, 0.99), percentile(busy, 0.99)]
  const [quietAgainMs, steadyMs] = [percentile(quietAgain, 0.99), percentile(steady, 0.99)]
  console.log(
    aligned([
      ['', 'figure'],
      ['deliveries, all at once', count(delivered)],
      ['a second', count(delivered / seconds)],
      ['processor time of one', `${count(usedUs / delivered)} µs`],
      ['of a bare fetch to the same receiver', `${count(fetchUs)} µs`],
      ['ratio', `${ratio(usedUs / delivered / fetchUs)} times`],
      ['p99 of requests, quiet', milliseconds(quietMs)],
      ['p99 of requests, while delivering', `${milliseconds(busyMs)}, ${ratio(busyMs / quietMs)} times`],
      ['deliveries a second, as events come', count(deliveredSteadily / steadySeconds)],
      ['p99 of requests, quiet', milliseconds(quietAgainMs)],
      ['p99 of requests, while delivering', `${milliseconds(steadyMs)}, ${ratio(steadyMs / quietAgainMs)} times`],
    ]).join('\n'),
  )
  if (delivered !== events * WEBHOOKS) throw new Error(`${events * WEBHOOKS} deliveries were queued`)
}

/** Processor time of sending as much to the receiver, and nothing else, over a connection for each. */
const fetchedUs = async (port: number): Promise<number> => {
  const url = `http://127.0.0.1:${port}/hooks/0`
  const body = JSON.stringify({ id: 'evt_1', type: 'payout.completed', created_at: new Date().toISOString(), data: {} })
  const before = process.cpuUsage()
  let left = FETCHES
  const fetchSome = async (): Promise<void> => {
    while (left-- > 0) await (await fetch(url, { method: 'POST', body, keepalive: false })).text()
  }
  await Promise.all(Array.from({ length: FETCHED_AT_ONCE }, fetchSome))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / FETCHES
}

/** Asks at a steady rate while some work goes on, and returns how long each response took from when it was due. */
const requestsFor = async (
  port: number,
  headers: Record<string, string>,
  work: () => Promise<void>,
): Promise<number[]> => {
  const times: number[] = []
  const free = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(port)))
  let isOver = false
  const asked: Promise<void>[] = []
  const working = work().finally(() => {
    isOver = true
  })
  const startedMs = performance.now()
  for (let number = 0; !isOver; ) {
    const dueMs = startedMs + (number * 1_000) / REQUESTS_PER_SECOND
    const connection = performance.now() < dueMs ? undefined : free.pop()
    if (!connection) {
      await Bun.sleep(Math.min(LOOK_MS, Math.max(1, dueMs - performance.now())))
      continue
    }
    const body = JSON.stringify({ ...PERSON, email: `${number}-${startedMs}@example.com` })
    const request =
      number++ % 2 ? { path: '/api/v1/beneficiaries', headers, body } : { path: '/api/v1/wallets', headers }
    asked.push(
      connection.send(bytesOf(request)).then(() => {
        times.push(performance.now() - dueMs)
        free.push(connection)
      }),
    )
  }
  await Promise.all(asked)
  for (const connection of free) connection.close()
  await working
  return times
}
