import { processorUs } from '../program.ts'
import { type Ask, ask, bytesOf, Connection } from '../rigs/connection.ts'
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
const STEADY_ROUNDS = 3
/** Deliveries are as many at once. */
const FETCHED_AT_ONCE = 64
const FETCHES = 5_000
const PERSON = { first_name: 'Ada', last_name: 'Lovelace' }

const eventOf = (id: number): Ask => ({
  path: '/_sandbox/events',
  body: JSON.stringify({ type: 'payout.completed', data: { id } }),
})

/** Prints the figures. */
export const deliveries = async (scrip: string[], events: number): Promise<void> => {
  const receiver = Bun.spawn([process.execPath, `${import.meta.dir}/receiver.ts`], { stdout: 'pipe' })
  const { value } = await receiver.stdout.getReader().read()
  const to = Number(new TextDecoder().decode(value))
  const server = await start(scrip, 'any')
  const post = async (path: string, body: object, headers = {}): Promise<Record<string, string>> => {
    const { body: text } = await ask(server.port, { path, body: JSON.stringify(body), headers })
    return JSON.parse(text.toString())
  }
  const { access_token } = await post('/auth/login', { username: 'sandbox', password: 'sandbox' })
  const headers = { Authorization: `Bearer ${access_token}` }
  // Retries become due when the clock is moved, and not before.
  await post('/_sandbox/clock', { frozen: true })
  await ask(to, { path: '/status/503' })
  const hooks: string[] = []
  for (let number = 0; number < WEBHOOKS; number++) {
    const hook = { name: 'bench', url: `http://127.0.0.1:${to}/hooks/${number}`, events: ['*'] }
    const { id } = await post('/api/v1/webhooks', hook, headers)
    hooks.push(`/api/v1/webhooks/${id}`)
  }
  for (let id = 0; id < events; id++) await ask(server.port, eventOf(id))
  await post('/_sandbox/webhooks/settle', {})
  const quiet = await requestsFor(server.port, headers, async () => Bun.sleep(QUIET_MS))
  await ask(to, { path: '/status/200' })
  const [cpuUs, startedMs] = [processorUs(server.pid), performance.now()]
  let seconds = 0
  let usedUs = 0
  const busy = await requestsFor(server.port, headers, async () => {
    await post('/_sandbox/clock', { advance: 'PT30S' })
    await post('/_sandbox/webhooks/settle', {})
    seconds = (performance.now() - startedMs) / 1_000
    usedUs = processorUs(server.pid) - cpuUs
  })
  const delivered = Number((await ask(to, { path: '/count' })).body)
  // The same requests and events, without and then with deliveries.
  const eventsAtPace = async (): Promise<void> => {
    const endsMs = performance.now() + STEADY_MS
    await atPace(server.port, STEADY_EVENTS, eventOf, () => performance.now() > endsMs)
    await post('/_sandbox/webhooks/settle', {})
  }
  const turn = async (active: boolean): Promise<void> => {
    for (const path of hooks)
      await ask(server.port, { method: 'PATCH', path, headers, body: JSON.stringify({ active }) })
  }
  await ask(to, { path: '/status/200' })
  const [without, steady]: [number[], number[]] = [[], []]
  let steadyMs = 0
  for (let round = 0; round < STEADY_ROUNDS; round++) {
    await turn(false)
    without.push(...(await requestsFor(server.port, headers, eventsAtPace)))
    await turn(true)
    steadyMs -= performance.now()
    steady.push(...(await requestsFor(server.port, headers, eventsAtPace)))
    steadyMs += performance.now()
  }
  const deliveredSteadily = Number((await ask(to, { path: '/count' })).body)
  await server.stop()
  const fetchUs = await fetchedUs(to)
  receiver.kill()
  const [quietMs, busyMs] = [percentile(quiet, 0.99), percentile(busy, 0.99)]
  const [withoutMs, withMs] = [percentile(without, 0.99), percentile(steady, 0.99)]
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
      ['deliveries a second, as events come', count((deliveredSteadily * 1_000) / steadyMs)],
      ['p99 of requests, webhooks off', milliseconds(withoutMs)],
      ['p99 of requests, while delivering', `${milliseconds(withMs)}, ${ratio(withMs / withoutMs)} times`],
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

/** Asks while some work goes on, and returns how long each response took. */
const requestsFor = async (
  port: number,
  headers: Record<string, string>,
  work: () => Promise<void>,
): Promise<number[]> => {
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  const startedMs = performance.now()
  const requestOf = (number: number): Ask => {
    const body = JSON.stringify({ ...PERSON, email: `${number}-${startedMs}@example.com` })
    return number % 2 ? { path: '/api/v1/wallets', headers } : { path: '/api/v1/beneficiaries', headers, body }
  }
  const times = await atPace(port, REQUESTS_PER_SECOND, requestOf, () => isOver)
  await working
  return times
}

/** Asks at a steady rate over kept connections, and returns how long each response took from when its request was due. */
export const atPace = async (
  port: number,
  perSecond: number,
  requestOf: (number: number) => Ask,
  isOver: () => boolean,
  connections = CONNECTIONS,
): Promise<number[]> => {
  const times: number[] = []
  const free = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
  const asked: Promise<void>[] = []
  const startedMs = performance.now()
  while (!isOver()) {
    const dueMs = startedMs + (asked.length * 1_000) / perSecond
    const connection = performance.now() < dueMs ? undefined : free.pop()
    if (!connection) {
      await Bun.sleep(Math.min(LOOK_MS, Math.max(1, dueMs - performance.now())))
      continue
    }
    asked.push(
      connection.send(bytesOf(requestOf(asked.length))).then(() => {
        times.push(performance.now() - dueMs)
        free.push(connection)
      }),
    )
  }
  await Promise.all(asked)
  for (const connection of free) connection.close()
  return times
}
