import type { ApiDocument } from '../../docs/document.ts'
import { messageOf } from '../../http/error-message.ts'
import { refused } from '../../kernel/exit.ts'
import { jsonIn } from '../../kernel/json.ts'
import { ask, fetchDirectly, logIn, type Reply, replyOf, responseTo, type Target } from './http-client.ts'

interface Access {
  url: string
  token: string | undefined
  /** The default one, if undefined. */
  world?: string | undefined
  password?: string
}

interface CallOptions {
  world?: string | undefined
  body?: object | undefined
}

/** Speaks to a sandbox, by its control API (contract C15) or as a client of one of its worlds. */
export class SandboxClient {
  readonly #target: Target

  constructor(private readonly access: Access) {
    this.#target = {
      url: access.url,
      send: fetchDirectly,
      advice: 'scrip serve starts a sandbox; --url names another one.',
    }
  }

  /** The control API, in any world. @throws ProgramError if there is no response */
  control(method: string, path: string, { world = this.access.world, body }: CallOptions = {}): Promise<Reply> {
    const [before = '', query] = path.split('?')
    const parameters = new URLSearchParams(query)
    if (world !== undefined) parameters.set('world', world)
    const search = parameters.size > 0 ? `?${parameters}` : ''
    return ask(this.#target, { method, path: `/_sandbox${before}${search}`, body, headers: this.#headers })
  }

  /** The feed of requests and events. @throws ProgramError if there is none */
  async feed(signal: AbortSignal, lastId = ''): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { world = 'default' } = this.access
    const headers = { ...this.#headers, ...(lastId && { 'last-event-id': lastId }) }
    const path = `/_sandbox/feed?${new URLSearchParams({ world })}`
    const response = await responseTo(this.#target, { method: 'GET', path, headers }, signal)
    if (response.ok && response.body) return response.body
    return bodyOf(await replyOf(response))
  }

  /** The OpenAPI document. @throws ProgramError if there is no response */
  async document(): Promise<ApiDocument> {
    return (await ask(this.#target, { method: 'GET', path: '/openapi.json' })).body as ApiDocument
  }

  /** As the client of its world. It logs in each time: the clock may have passed the end of a token. @throws ProgramError */
  async send(method: string, path: string, body?: object): Promise<unknown> {
    const { world, password = '' } = this.access
    const username = world === undefined ? 'sandbox' : `sbx_${world}`
    const client = await logIn(this.#target, { username, password })
    return bodyOf(await client.ask({ method, path, body }))
  }

  get #headers(): Record<string, string> {
    const { token } = this.access
    return token === undefined ? {} : { 'x-sandbox-token': token }
  }
}

/** The body of a success. @throws ProgramError for anything else */
export const bodyOf = <Body>({ status, text, body = text }: Reply): Body => {
  if (status >= 300)
    throw refused(`the sandbox refuses this: ${messageOf(body) ?? `${status} ${JSON.stringify(body)}`}`)
  return body as Body
}

/** The value of a JSON text; another text as it is. */
export const jsonOr = (text: string): unknown => {
  const value = jsonIn(text)
  return value === undefined ? text : value
}
