import { count, mebibytes } from '../bench/table.ts'
import { residentBytes } from '../program.ts'
import { type Ask, bytesOf, Connection, type RawResponse } from './connection.ts'
import { Dice } from './dice.ts'
import type { Rig } from './report.ts'
import { serve } from './server.ts'

/**
 * Pipelines use a sandbox all day: worlds that come and go, logins, clocks that jump, snapshots, writes. Memory must
 * not grow with what is gone. A round is the lives of a hundred worlds, on eight connections.
 */

const WORLDS_OF_A_ROUND = 100
const CONNECTIONS = 8
/** Memory is compared from here on, as a part of all rounds. */
const WARM_PART = 0.3
const GROWTH_MAX = 1.5
const WRITES_OF_A_WORLD = 6

export const soak: Rig = async ({ rounds, seed, isShort, progress }) => {
  const server = await serve(['--rate-limit', 'off'])
  const life = new Lives(server.port, new Dice(seed))
  const rows = [['round', 'worlds lived', 'requests', 'memory']]
  const all = isShort ? 1 : rounds
  const warmRound = Math.ceil(all * WARM_PART)
  let warmBytes = 0
  for (let round = 1; round <= all; round++) {
    await life.round(isShort ? CONNECTIONS : WORLDS_OF_A_ROUND)
    const bytes = residentBytes(server.pid)
    if (round === warmRound) warmBytes = bytes
    const row = [String(round), count(life.lived), count(life.requests), mebibytes(bytes)]
    progress(row.join('  '))
    if (round === warmRound || round === all) rows.push(row)
  }
  const lastBytes = residentBytes(server.pid)
  const { findings } = life
  if (!isShort && lastBytes > warmBytes * GROWTH_MAX)
    findings.push(`memory: ${mebibytes(warmBytes)}, then ${mebibytes(lastBytes)}`)
  findings.push(...(await life.leftOver()))
  if (server.log() !== '') findings.push(`the log says ${server.log()}`)
  await server.stop()
  return { tables: [rows], findings }
}

class Lives {
  lived = 0
  requests = 0
  readonly findings: string[] = []
  #names = 0

  constructor(
    private readonly port: number,
    private readonly dice: Dice,
  ) {}

  async round(worlds: number): Promise<void> {
    let left = worlds
    const pipeline = async (): Promise<void> => {
      const connection = await Connection.open(this.port)
      while (left-- > 0) await this.#live(connection, `soak-${++this.#names}`)
      connection.close()
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, pipeline))
  }

  /** Only the default world is there when all others are gone. */
  async leftOver(): Promise<string[]> {
    const connection = await Connection.open(this.port)
    const { body } = await connection.send(bytesOf({ path: '/_sandbox/worlds' }))
    connection.close()
    const worlds = JSON.parse(body.toString()) as unknown[]
    return worlds.length === 1 ? [] : [`${worlds.length} worlds are left`]
  }

  async #live(connection: Connection, name: string): Promise<void> {
    const world = `?world=${name}`
    const login = { path: '/auth/login', body: JSON.stringify({ username: `sbx_${name}`, password: 'p' }) }
    const { body } = await this.#ask(connection, login, 200)
    const { access_token } = JSON.parse(body.toString()) as { access_token: string }
    const headers = { Authorization: `Bearer ${access_token}` }
    for (let write = 0; write < WRITES_OF_A_WORLD; write++) {
      const person = { email: `ada.${write}@example.com`, first_name: 'Ada', last_name: 'Lovelace' }
      await this.#ask(connection, { path: '/api/v1/beneficiaries', headers, body: JSON.stringify(person) }, 201)
      await this.#ask(connection, { path: '/api/v1/products?limit=5', headers }, 200)
    }
    await this.#ask(connection, { path: `/_sandbox/clock${world}`, body: '{"advance":"PT10M"}' }, 200)
    if (this.dice.chance(0.3)) {
      await this.#ask(connection, { method: 'PUT', path: `/_sandbox/snapshots/${name}${world}` }, 200)
      await this.#ask(connection, { path: `/_sandbox/snapshots/${name}/restore${world}`, body: '{}' }, 200)
      await this.#ask(connection, { method: 'DELETE', path: `/_sandbox/snapshots/${name}` }, 204)
    }
    if (this.dice.chance(0.3)) await this.#ask(connection, { path: `/_sandbox/reset${world}`, body: '' }, 200)
    await this.#ask(connection, login, 200)
    await this.#ask(connection, { method: 'DELETE', path: `/_sandbox/worlds/${name}` }, 204)
    this.lived += 1
  }

  async #ask(connection: Connection, question: Ask, status: number): Promise<RawResponse> {
    const response = await connection.send(bytesOf(question))
    this.requests += 1
    if (response.status !== status) this.findings.push(`${question.path}: ${response.status} ${response.body}`)
    return response
  }
}
