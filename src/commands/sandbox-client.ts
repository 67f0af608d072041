import type { SandboxAccess } from '../config/config.ts'
import { EXIT, ProgramError } from './exit.ts'

type Members = Record<string, string>

/** Speaks to a sandbox as a client of one of its worlds. */
export class SandboxClient {
  constructor(private readonly access: SandboxAccess) {}

  /** Logs in each time: the clock of a sandbox may have passed the end of a token. @throws ProgramError */
  async send(method: string, path: string, body?: object): Promise<Members> {
    return this.#ask(method, path, body, { authorization: `Bearer ${await this.#logIn()}` })
  }

  /** @throws ProgramError */
  control(method: string, path: string, body: object): Promise<Members> {
    const { world = 'default', token } = this.access
    const headers = token === undefined ? {} : { 'x-sandbox-token': token }
    return this.#ask(method, `/_sandbox${path}?world=${world}`, body, headers)
  }

  async #logIn(): Promise<string | undefined> {
    const { url, world, password } = this.access
    const username = world === undefined ? 'sandbox' : `sbx_${world}`
    const response = await this.#reach('POST', '/auth/login', { username, password }, {})
    if (response.status === 401) {
      throw new ProgramError(EXIT.failed, `${url}: ${username} has another password\nSet SCRIP_PASSWORD.`)
    }
    const { access_token } = await this.#read('POST', '/auth/login', response)
    return access_token
  }

  async #ask(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Members> {
    return this.#read(method, path, await this.#reach(method, path, body, headers))
  }

  async #read(method: string, path: string, response: Response): Promise<Members> {
    const text = await response.text()
    if (!response.ok)
      throw new ProgramError(EXIT.failed, `${method} ${this.access.url}${path}: ${response.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Members)
  }

  async #reach(method: string, path: string, body: object | undefined, headers: Record<string, string>) {
    try {
      return await fetch(this.access.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    } catch (error) {
      throw new ProgramError(
        EXIT.failed,
        `${this.access.url} cannot be reached: ${error instanceof Error ? error.message : error}\nscrip serve starts a sandbox; --url names another one.`,
      )
    }
  }
}
