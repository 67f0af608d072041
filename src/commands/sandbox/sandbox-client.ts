import type { SandboxAccess } from '../../config/config.ts'
import { refused } from '../exit.ts'

type Members = Record<string, string>

/** Sends requests to a sandbox as a client of one of its worlds. */
export class SandboxClient {
  constructor(private readonly access: SandboxAccess) {}

  /** Logs in each time: the clock of a sandbox may have passed the end of a token. @throws ProgramError */
  async send(method: string, path: string, body?: object): Promise<Members> {
    return this.#ask<Members>(method, path, body, { authorization: `Bearer ${await this.#logIn()}` })
  }

  /** @throws ProgramError */
  control<Body = Members>(method: string, path: string, body?: object): Promise<Body> {
    const { world = 'default', token } = this.access
    const headers = token === undefined ? {} : { 'x-sandbox-token': token }
    return this.#ask<Body>(method, `/_sandbox${path}?world=${world}`, body, headers)
  }

  async #logIn(): Promise<string | undefined> {
    const { url, world, password } = this.access
    const username = world === undefined ? 'sandbox' : `sbx_${world}`
    const response = await this.#reach('POST', '/auth/login', { username, password }, {})
    if (response.status === 401) {
      throw refused(`${url}: ${username} has another password\nSet SCRIP_PASSWORD.`)
    }
    const { access_token } = await this.#read<Members>('POST', '/auth/login', response)
    return access_token
  }

  async #ask<Body>(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<Body> {
    return this.#read<Body>(method, path, await this.#reach(method, path, body, headers))
  }

  async #read<Body>(method: string, path: string, response: Response): Promise<Body> {
    const text = await response.text()
    if (!response.ok) throw refused(`${method} ${this.access.url}${path}: ${response.status} ${text}`)
    return JSON.parse(text || '{}') as Body
  }

  async #reach(method: string, path: string, body: object | undefined, headers: Record<string, string>) {
    try {
      return await fetch(this.access.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    } catch (error) {
      throw refused(
        `${this.access.url} cannot be reached: ${error instanceof Error ? error.message : error}\nscrip serve starts a sandbox; --url names another one.`,
      )
    }
  }
}
