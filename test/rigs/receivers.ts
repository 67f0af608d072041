import { join } from 'node:path'
import { count, mebibytes } from '../bench/table.ts'
import { ON_A_SMALL_DISK, type Running, residentBytes, temporaryFolder } from '../program.ts'
import { type AttemptBody, type EventBody, Partner, recordOf } from './partner.ts'
import { type Behaviour, breakOff, Receiver, respondWith } from './receiver.ts'
import type { Rig } from './report.ts'
import { serve } from './server.ts'

/** What receivers do to the sender: hang, drip, close, redirect, send 100 MB, come to life after a month. */

const MIB = 1_048_576
const ENDLESS_BYTES = 100 * MIB
/** What a response of 100 MB may add to the memory. */
const GROWN_BYTES_MAX = 64 * MIB
const DRIP_MS = 500
/** An attempt ends after 15 seconds. */
const ATTEMPT_MS_MAX = 16_500
/** A receiver that responds waits for none of the others. */
const PROMPT_MS_MAX = 3_000
const PLACES_MAX = 4
const PAYOUTS = { long: 300, short: 20 }

export const receivers: Rig = async ({ seed, isShort }) => {
  using temporary = temporaryFolder()
  const folder = temporary.path
  const findings: string[] = []
  const rows = [['receiver', 'status', 'took']]
  rows.push(...(await hostileOnes(isShort, findings)))
  rows.push(await afterAMonth(isShort ? PAYOUTS.short : PAYOUTS.long, seed, findings))
  rows.push(await onAFullDisk(join(folder, 'full'), findings))
  return { tables: [rows], findings }
}

const drip: Behaviour = (socket) => {
  socket.write('HTTP/1.1 ')
  const timer = setInterval(() => socket.write('2'), DRIP_MS)
  socket.on('close', () => clearInterval(timer))
}

/** Sends as fast as it is read. */
const endless: Behaviour = (socket) => {
  const piece = Buffer.alloc(MIB, 'x')
  let left = ENDLESS_BYTES
  const send = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= piece.length
      if (!socket.write(piece)) return void socket.once('drain', send)
    }
    socket.end()
  }
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${ENDLESS_BYTES}\r\n\r\n`)
  send()
}

interface Hostile {
  behave: Behaviour
  status: number | null
  /** Whether only the end of time ends it: left out of the short form. */
  isLong?: boolean
}

const HOSTILE: Record<string, Hostile> = {
  '/hangs': { behave: () => undefined, status: null, isLong: true },
  '/drips': { behave: drip, status: null, isLong: true },
  '/closes': { behave: breakOff, status: null },
  '/ends': { behave: (socket) => void socket.end(), status: null },
  '/redirects': {
    behave: (socket) => socket.end('HTTP/1.1 302 -\r\nLocation: /good\r\nContent-Length: 0\r\n\r\n'),
    status: 302,
  },
  '/endless': { behave: endless, status: 200 },
  '/garbage': { behave: (socket) => socket.end(Buffer.alloc(100_000, 0x80)), status: null },
  '/promises': {
    behave: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nx'),
    status: 200,
  },
}

const hostileOnes = async (isShort: boolean, findings: string[]): Promise<string[][]> => {
  const receiver = await Receiver.open((socket, received) =>
    (HOSTILE[received.path]?.behave ?? respondWith(200))(socket, received),
  )
  const server = await serve(['--rate-limit', 'off'])
  const partner = await Partner.of(server)
  const wanted = Object.entries(HOSTILE).filter(([, { isLong }]) => !(isLong && isShort))
  const hooks = new Map<string, string>()
  for (const [path] of wanted) hooks.set(path, await partner.hook(receiver.port, path))
  const good = await partner.hook(receiver.port, '/good')
  const before = residentBytes(server.pid)
  const startedMs = performance.now()
  await partner.post('/_sandbox/wallets/1/fund', { amount: 1 })
  const prompt = await attemptOf(partner, good)
  const promptMs = performance.now() - startedMs
  if (prompt.status !== 'delivered' || promptMs > PROMPT_MS_MAX)
    findings.push(`a good receiver beside them: ${prompt.status} after ${promptMs} ms`)
  const rows = []
  for (const [path, { status }] of wanted) {
    const attempt = await attemptOf(partner, hooks.get(path) ?? '')
    if (attempt.response_status !== status || attempt.duration_ms > ATTEMPT_MS_MAX)
      findings.push(`${path}: ${attempt.response_status} after ${attempt.duration_ms} ms`)
    if ((attempt.response_body ?? '').length > 1_024)
      findings.push(`${path}: ${attempt.response_body?.length} characters`)
    rows.push([path, String(attempt.response_status), `${count(attempt.duration_ms)} ms`])
  }
  if (receiver.received.filter(({ path }) => path === '/good').length !== 1) findings.push('a redirect was followed')
  const grown = residentBytes(server.pid) - before
  if (grown > GROWN_BYTES_MAX) findings.push(`they take ${mebibytes(grown)}`)
  await end(server, findings)
  await receiver.close()
  return [...rows, ['memory for all of them', '', mebibytes(Math.max(0, grown))]]
}

const attemptOf = async (partner: Partner, id: string): Promise<AttemptBody> => {
  for (;;) {
    const [first] = await partner.attempts(id)
    if (first) return first
    await Bun.sleep(20)
  }
}

/** The clock jumps over a month in which nothing could be delivered: all of it comes at once, in order and without a flood. */
const afterAMonth = async (payouts: number, seed: number, findings: string[]): Promise<string[]> => {
  const receiver = await Receiver.open(breakOff)
  const server = await serve(['--rate-limit', 'off', '--seed', String(seed)])
  const partner = await Partner.of(server)
  await partner.hook(receiver.port, '/late', ['payout.*'])
  for (let number = 0; number < payouts; number++) await partner.pay(`p${number}`)
  await partner.settle()
  receiver.received.length = 0
  receiver.mostOpen.clear()
  receiver.behave = respondWith(200)
  const startedMs = performance.now()
  await partner.advance('P29D')
  await partner.settle()
  const tookMs = performance.now() - startedMs
  const most = receiver.mostOpen.get('/late') ?? 0
  if (most > PLACES_MAX) findings.push(`a month at once: ${most} deliveries at once`)
  const events = (await partner.events()).filter(({ type }) => type.startsWith('payout.'))
  const came = receiver.received.map(({ body }) => JSON.parse(body) as EventBody)
  if (came.length !== events.length) findings.push(`a month at once: ${came.length} of ${events.length} events came`)
  const order = (all: readonly EventBody[]) =>
    [...Map.groupBy(all, recordOf)].map(([record, of]) => `${record}: ${of.map(({ id }) => id)}`).sort()
  if (!Bun.deepEquals(order(came), order(events))) findings.push('a month at once: out of order')
  await end(server, findings)
  await receiver.close()
  return [`a month of ${count(events.length)} events at once`, `${most} at once`, `${count(tookMs)} ms`]
}

const WRITES_MAX = 2_000

/** Results that cannot be written down: the event is sent again once there is room. */
const onAFullDisk = async (dataDir: string, findings: string[]): Promise<string[]> => {
  const receiver = await Receiver.open(respondWith(200))
  const server = await serve(['--data-dir', dataDir, '--rate-limit', 'off'], { through: ON_A_SMALL_DISK })
  const partner = await Partner.of(server)
  // Payouts that move on while the events are read would make more of them.
  await partner.post('/_sandbox/clock', { frozen: true })
  await partner.hook(receiver.port, '/full', ['payout.*'])
  let refused = 0
  for (let number = 0; number < WRITES_MAX && refused < 20; number++) {
    if ((await partner.pay(`p${number}`)).status === 503) refused += 1
  }
  if (refused === 0) findings.push('the disk did not get full')
  Bun.spawnSync(['prlimit', '--pid', String(server.pid), '--fsize=unlimited'])
  while ((await partner.pay('again')).status === 503) await Bun.sleep(50)
  await partner.settle()
  const events = (await partner.events()).filter(({ type }) => type.startsWith('payout.'))
  const came = new Set(receiver.received.map(({ body }) => (JSON.parse(body) as EventBody).id))
  const lost = events.filter(({ id }) => !came.has(id))
  if (lost.length > 0) findings.push(`a full disk: ${lost.length} of ${events.length} events never came`)
  const twice = receiver.received.length - came.size
  await end(server, findings, true)
  await receiver.close()
  return [`a disk that gets full, ${count(events.length)} events`, `${twice} came twice`, `${refused} writes refused`]
}

const end = async (server: Running, findings: string[], isLogAllowed = false): Promise<void> => {
  const { exitCode } = await server.stop()
  if (exitCode !== 0) findings.push(`SIGTERM ends with ${exitCode}`)
  if (server.log() !== '' && !isLogAllowed) findings.push(`the log says ${server.log().slice(0, 500)}`)
}
