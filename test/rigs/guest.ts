import type { Running } from '../program.ts'
import { Broken, bytesOf, Connection } from './connection.ts'
import type { Client } from './live-folder.ts'

/** A client who logs in and out all the time: what was logged in stays in, and what was logged out stays out. */

const LOGOUT_EVERY = 4

export class Guest {
  /** Tokens that must be good. */
  #good: string[] = []
  /** Tokens that must be dead. */
  #dead: string[] = []
  #count = 0

  constructor(private readonly client: Client) {}

  /** Until the server is gone. */
  async comeAndGo(server: Running): Promise<void> {
    const connection = await Connection.open(server.port)
    for (let turn = 1; ; turn++) {
      const isLeaving = turn % LOGOUT_EVERY === 0
      try {
        if (isLeaving) await this.#leave(connection)
        else await this.#come(connection)
      } catch (error) {
        if (!(error instanceof Broken)) throw error
        // A logout without a response may have been done.
        if (isLeaving) this.#good = []
        return
      }
      this.#count += 1
    }
  }

  async #come(connection: Connection): Promise<void> {
    const { username, password } = this.client
    const { status, body } = await connection.send(
      bytesOf({ path: '/auth/login', body: JSON.stringify({ username, password }) }),
    )
    if (status !== 200) throw new Error(`login: ${status} ${body}`)
    this.#good.push((JSON.parse(body.toString()) as { access_token: string }).access_token)
  }

  async #leave(connection: Connection): Promise<void> {
    const token = this.#good.at(-1)
    if (token === undefined) return
    const { status, body } = await connection.send(bytesOf({ method: 'POST', path: '/auth/logout', ...bearer(token) }))
    if (status !== 200) throw new Error(`logout: ${status} ${body}`)
    this.#dead.push(...this.#good)
    this.#good = []
  }

  /** Asks a server that has come back whom it knows. */
  async findings(connection: Connection): Promise<string[]> {
    const findings: string[] = []
    for (const [tokens, expected] of [
      [this.#good, 200],
      [this.#dead, 401],
    ] as const) {
      for (const token of tokens) {
        const { status } = await connection.send(bytesOf({ path: '/api/v1/wallets', ...bearer(token) }))
        if (status !== expected) findings.push(`a token is ${status}, not ${expected}`)
      }
    }
    this.#dead = []
    return findings
  }

  /** The number of its visits since this was last read. */
  takeCount(): number {
    const count = this.#count
    this.#count = 0
    return count
  }
}

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })
