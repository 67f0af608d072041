import type { TriggerOptions } from '../config/option-table.ts'
import { EXIT, ProgramError } from './exit.ts'

type Answer = Record<string, string>

/** The password of the default world, and of a world that is made by its first login. */
const PASSWORD = 'sandbox'

/** Speaks to a sandbox as a client of one of its worlds. */
export class SandboxClient {
  readonly #url: string
  readonly #world: string | undefined

  constructor({ url, world }: TriggerOptions) {
    this.#url = url
    this.#world = world?.replace(/^sbx_/, '')
  }

  /** Logs in each time: the clock of a sandbox may have passed the end of a token. @throws ProgramError */
  async send(method: string, path: string, body?: object): Promise<Answer> {
    const username = this.#world === undefined ? 'sandbox' : `sbx_${this.#world}`
    const { access_token } = await this.#ask('POST', '/auth/login', { username, password: PASSWORD })
    return this.#ask(method, path, body, { authorization: `Bearer ${access_token}` })
  }

  /** @throws ProgramError */
  control(method: string, path: string, body: object): Promise<Answer> {
    return this.#ask(method, `/_sandbox${path}?world=${this.#world ?? 'default'}`, body)
  }

  async #ask(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await this.#reach(method, path, body, headers)
    const text = await response.text()
    if (!response.ok) throw new ProgramError(EXIT.failed, `${method} ${this.#url}${path}: ${response.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Answer)
  }

  async #reach(method: string, path: string, body: object | undefined, headers: Record<string, string>) {
    try {
      return await fetch(this.#url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    } catch (error) {
      throw new ProgramError(
        EXIT.failed,
        `${this.#url} cannot be reached: ${error instanceof Error ? error.message : error}`,
      )
    }
  }
}
