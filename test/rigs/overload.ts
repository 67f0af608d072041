import { count, milliseconds } from '../bench/table.ts'
import type { Running } from '../program.ts'
import { bytesOf, Connection } from './connection.ts'
import { percentile, type Rig } from './report.ts'
import { logIn, serve } from './server.ts'

/**
 * Ten times what the server can do, with limits and without: every response is right, and once it is over, the server is
 * as quick as before. A round is a second of overload.
 */

const FACTOR = 10
/** Connections with which it does what it can. */
const WORKERS = 16
const CLIENTS = 20
const CALM_REQUESTS = 200
const QUESTIONS: readonly { path: string; body?: string; statuses: readonly number[] }[] = [
  { path: '/api/v1/wallets', statuses: [200, 429] },
  { path: '/api/v1/products/1/charges', body: '{"denomination":100,"quantity":2}', statuses: [200, 429] },
  {
    path: '/api/v1/beneficiaries',
    body: '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}',
    statuses: [201, 429],
  },
  { path: '/api/v1/products/0', statuses: [400, 429] },
]

export const overload: Rig = async ({ rounds, isShort }) => {
  const findings: string[] = []
  const rows = [
    ['limits', 'connections', 'responses', 'a second', 'of them 429', 'p50', 'p99', 'p99 calm', 'p99 afterwards'],
  ]
  for (const limit of ['off', '1000/h,100/m']) {
    const server = await serve(['--rate-limit', limit])
    const tokens: string[] = []
    for (let client = 0; client < CLIENTS; client++) tokens.push(await logIn(server.port, `sbx_client-${client}`))
    const storm = new Storm(server, tokens, findings)
    const calm = await storm.calm()
    const connections = WORKERS * (isShort ? 2 : FACTOR)
    const seconds = isShort ? 0.3 : rounds
    await storm.rage(connections, seconds)
    const afterwards = await storm.calm()
    rows.push([
      limit,
      String(connections),
      count(storm.responses),
      count(storm.responses / seconds),
      count(storm.limited),
      ...[0.5, 0.99].map((part) => milliseconds(percentile(storm.latenciesMs, part))),
      milliseconds(percentile(calm, 0.99)),
      milliseconds(percentile(afterwards, 0.99)),
    ])
    if (limit === 'off' && storm.limited > 0) findings.push(`${storm.limited} responses are 429 without limits`)
    if (server.log() !== '') findings.push(`the log says ${server.log()}`)
    const { exitCode } = await server.stop()
    if (exitCode !== 0) findings.push(`SIGTERM ends with ${exitCode}`)
  }
  return { tables: [rows], findings }
}

class Storm {
  responses = 0
  limited = 0
  readonly latenciesMs: number[] = []

  constructor(
    private readonly server: Running,
    private readonly tokens: readonly string[],
    private readonly findings: string[],
  ) {}

  /** Asks all the time over so many connections. */
  async rage(connections: number, seconds: number): Promise<void> {
    const endsAtMs = performance.now() + seconds * 1_000
    const ragers = Array.from({ length: connections }, async (_, place) => {
      const connection = await Connection.open(this.server.port)
      for (let turn = place; performance.now() < endsAtMs; turn++) {
        const startedAtMs = performance.now()
        const status = await this.#ask(connection, turn, this.tokens[turn % this.tokens.length] ?? '')
        this.latenciesMs.push(performance.now() - startedAtMs)
        this.responses += 1
        if (status === 429) this.limited += 1
      }
      connection.close()
    })
    await Promise.all(ragers)
  }

  /** One question after the other: to the status, which no limit concerns. */
  async calm(): Promise<number[]> {
    const connection = await Connection.open(this.server.port)
    const latenciesMs: number[] = []
    for (let turn = 0; turn < CALM_REQUESTS; turn++) {
      const startedAtMs = performance.now()
      const { status } = await connection.send(bytesOf({ path: '/status' }))
      latenciesMs.push(performance.now() - startedAtMs)
      if (status !== 200) this.findings.push(`/status: ${status}`)
    }
    connection.close()
    return latenciesMs
  }

  async #ask(connection: Connection, turn: number, token: string): Promise<number> {
    const question = QUESTIONS[turn % QUESTIONS.length]
    if (!question) throw new Error('there are no questions')
    const { statuses, ...asked } = question
    const { status, head, body } = await connection.send(
      bytesOf({ ...asked, headers: { Authorization: `Bearer ${token}` } }),
    )
    const isTold = status !== 429 || /\r\nretry-after: [1-9]/i.test(head)
    if (!statuses.includes(status) || !isTold) this.findings.push(`${asked.path}: ${status} ${body}`)
    return status
  }
}
