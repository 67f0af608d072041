import { count, mebibytes } from '../bench/table.ts'
import { type Running, residentBytes } from '../program.ts'
import { ask, Broken, Connection, type RawResponse } from './connection.ts'
import { Dice } from './dice.ts'
import { LOGIN, type Mutant, mutant, type Operation, operationsOf } from './mutations.ts'
import type { Rig } from './report.ts'
import { serve } from './server.ts'

/**
 * Hostile requests and hostile bytes on raw sockets, as fast as responses come: no 5xx, no error in a shape that nobody
 * has documented, no silence, and no memory that stays. A round is a thousand requests.
 */

const REQUESTS_OF_A_ROUND = 1_000
const CONNECTIONS = 24
/** No response and no end for so long is a hang. */
const PATIENCE_MS = 8_000
/** Memory is compared from here on. */
const WARM_UP_ROUNDS = 20
const GROWTH_MAX = 1.5
/** Statuses that the runtime sends by itself, before any of ours is asked. */
const RUNTIME_STATUSES = new Set([400, 413, 431, 505])

export const hostile: Rig = async ({ rounds, seed, isShort }) => {
  const server = await serve(['--rate-limit', 'off', '--log-level', 'error'])
  const document = (await (await server.request('/openapi.json')).json()) as Parameters<typeof operationsOf>[0]
  const siege = new Siege(server, operationsOf(document), new Dice(seed))
  let warmBytes = 0
  const all = isShort ? 2 : rounds
  for (let round = 1; round <= all; round++) {
    await siege.round()
    if (server.hasEnded()) break
    if (round === Math.min(WARM_UP_ROUNDS, Math.ceil(all / 2))) warmBytes = residentBytes(server.pid)
  }
  const lastBytes = server.hasEnded() ? 0 : residentBytes(server.pid)
  if (server.hasEnded()) siege.findings.push('the server has ended')
  if (!isShort && lastBytes > warmBytes * GROWTH_MAX)
    siege.findings.push(`memory: ${mebibytes(warmBytes)}, then ${mebibytes(lastBytes)}`)
  const log = server.log()
  if (log !== '') siege.findings.push(`the log says ${log.slice(0, 2_000)}`)
  await server.stop()
  const responses = [...siege.statuses].sort(([a], [b]) => a - b)
  return {
    tables: [
      [
        ['hostile requests', count(siege.sent)],
        ['a second', count(siege.sent / siege.seconds)],
        ['memory, warm', mebibytes(warmBytes)],
        ['memory, at the end', mebibytes(lastBytes)],
      ],
      [
        ['status', 'times'],
        ...responses.map(([status, times]) => [status === 0 ? 'closed' : String(status), count(times)]),
      ],
    ],
    findings: siege.findings,
  }
}

class Siege {
  readonly findings: string[] = []
  /** The number of responses of each status; 0 is a connection that ended. */
  readonly statuses = new Map<number, number>()
  sent = 0
  seconds = 0

  constructor(
    private readonly server: Running,
    private readonly operations: readonly Operation[],
    private readonly dice: Dice,
  ) {}

  /** A thousand requests, from a world as it was seeded on. */
  async round(): Promise<void> {
    const startedAtMs = performance.now()
    const { port } = this.server
    await ask(port, { method: 'DELETE', path: '/_sandbox/worlds/hostile' })
    const { body } = await ask(port, LOGIN)
    const { access_token } = JSON.parse(body.toString()) as { access_token: string }
    let left = REQUESTS_OF_A_ROUND
    const besieger = async (): Promise<void> => {
      let connection = await Connection.open(port)
      while (left-- > 0) {
        const request = mutant(this.dice, this.operations, access_token)
        this.sent += 1
        if (!request.isFramed) await this.#throwAt(request)
        else {
          await this.#ask(connection, request)
          if (!connection.isOpen) connection = await Connection.open(port)
        }
      }
      connection.close()
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, besieger))
    this.seconds += (performance.now() - startedAtMs) / 1_000
  }

  async #ask(connection: Connection, request: Mutant): Promise<void> {
    const patience = setTimeout(() => connection.giveUp(), PATIENCE_MS)
    try {
      const response = await connection.send(request.bytes)
      this.#count(response.status)
      const fault = faultIn(response, request)
      if (fault) this.#find(request, fault)
      if (/\r\nconnection: close/i.test(response.head)) connection.close()
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      this.#count(0)
      if (error.message.startsWith('given up')) this.#find(request, 'no response')
    } finally {
      clearTimeout(patience)
    }
  }

  /** Bytes that may be anything: they may get a response, or the connection may end, in time. */
  async #throwAt(request: Mutant): Promise<void> {
    const connection = await Connection.open(this.server.port)
    const settled = this.#ask(connection, request)
    connection.socket.end()
    await settled
    connection.close()
  }

  #count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
  }

  #find({ line, bytes }: Mutant, fault: string): void {
    this.findings.push(`${fault}: ${line.slice(0, 200)} | ${JSON.stringify(bytes.toString('latin1').slice(0, 700))}`)
  }
}

/** The problem with a response to any request. */
const faultIn = ({ status, head, body }: RawResponse, { line, isFramed }: Mutant): string | undefined => {
  if (RUNTIME_STATUSES.has(status) && body.length === 0) return undefined
  if (status >= 500) return `${status} ${body.toString().slice(0, 200)}`
  if (isFramed && !/\r\nx-request-id: [\w.:-]{1,128}\r\n/i.test(head)) return `${status} without X-Request-Id`
  if (status < 400 || line.startsWith('HEAD ')) return undefined
  if (!/\r\ncontent-type: application\/json/i.test(head)) return `${status} that is no JSON`
  return isErrorShape(body.toString()) ? undefined : `${status} in a foreign shape: ${body.toString().slice(0, 200)}`
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.length > 0
/** True if an object has exactly these members, all of them texts. */
const isOfTexts = (value: object, ...names: string[]): boolean =>
  Bun.deepEquals(Object.keys(value).sort(), names.sort()) && Object.values(value).every(isText)

/** One of the shapes of spec section 7. */
const isErrorShape = (text: string): boolean => {
  const value = JSON.parse(text) as { error: unknown }
  if (isOfTexts(value, 'error') || isOfTexts(value, 'error', 'message')) return true
  const { error, ...others } = value
  if (typeof error !== 'object' || error === null || Object.keys(others).length > 0) return false
  const { messages = {}, ...said } = error as { messages?: object }
  return (
    isOfTexts(said, 'message', 'details') ||
    (isOfTexts(said, 'name', 'code', 'message') && Object.values(messages).every((list) => Array.isArray(list)))
  )
}
