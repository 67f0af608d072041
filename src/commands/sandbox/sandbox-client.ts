import type { ApiDocument } from '../../docs/document.ts'
import { messageOf } from '../../http/error-message.ts'
import { refused } from '../../kernel/exit.ts'
import { jsonIn } from '../../kernel/json.ts'
import { isLoopback } from '../../sandbox/control/access.ts'

interface Access {
  url: string
  token: string | undefined
  /** The default one, if undefined. */
  world?: string | undefined
  password?: string
}

/** The response of a sandbox: its status and its body, parsed if it is JSON. */
export interface Reply {
  status: number
  body: unknown
}

interface CallOptions {
  world?: string | undefined
  body?: unknown
}

/** Speaks to a sandbox, by its control API (contract C15) or as a client of one of its worlds. */
export class SandboxClient {
  constructor(private readonly access: Access) {}

  /** The control API, in any world. @throws ProgramError if there is no response */
  control(method: string, path: string, { world = this.access.world, body }: CallOptions = {}): Promise<Reply> {
    const { url, token } = this.access
    const target = new URL(`${url}/_sandbox${path}`)
    if (world !== undefined) target.searchParams.set('world', world)
    return ask(target, method, body, token === undefined ? {} : { 'x-sandbox-token': token })
  }

  /** The feed of requests and events. @throws ProgramError if there is none */
  async feed(signal: AbortSignal, lastId = ''): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { url, token, world = 'default' } = this.access
    const headers = {
      ...(token !== undefined && { 'x-sandbox-token': token }),
      ...(lastId && { 'last-event-id': lastId }),
    }
    const target = new URL(`${url}/_sandbox/feed?${new URLSearchParams({ world })}`)
    const response = await responseFrom(target, { headers, signal })
    if (response.ok && response.body) return response.body
    return bodyOf({ status: response.status, body: jsonOr(await response.text()) })
  }

  /** The OpenAPI document. @throws ProgramError if there is no response */
  async document(): Promise<ApiDocument> {
    return (await ask(new URL(`${this.access.url}/openapi.json`), 'GET')).body as ApiDocument
  }

  /** As the client of its world. It logs in each time: the clock may have passed the end of a token. @throws ProgramError */
  async send(method: string, path: string, body?: object): Promise<unknown> {
    const { url, world, password } = this.access
    const username = world === undefined ? 'sandbox' : `sbx_${world}`
    const login = await ask(new URL(`${url}/auth/login`), 'POST', { username, password })
    if (login.status === 401) throw refused(`${url}: ${username} has another password\nSet SCRIP_PASSWORD.`)
    const { access_token } = bodyOf<{ access_token: string }>(login)
    return bodyOf(await ask(new URL(url + path), method, body, { authorization: `Bearer ${access_token}` }))
  }
}

/** The body of a success. @throws ProgramError for anything else */
export const bodyOf = <Body>({ status, body }: Reply): Body => {
  if (status >= 300)
    throw refused(`the sandbox refuses this: ${messageOf(body) ?? `${status} ${JSON.stringify(body)}`}`)
  return body as Body
}

/** `fetch`, which never asks a proxy for this machine: it may not reach it, and would read passwords and tokens. */
export const fetchDirectly = (request: Request): Promise<Response> =>
  fetch(request, isLoopback(new URL(request.url).hostname) ? { proxy: false } : {})

const ask = async (url: URL, method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await responseFrom(url, { method, headers: { accept: 'application/json', ...headers }, ...sent })
  return { status: response.status, body: jsonOr(await response.text()) }
}

const responseFrom = async (url: URL, init: BunFetchRequestInit): Promise<Response> => {
  try {
    return await fetchDirectly(new Request(url.href, init))
  } catch (error) {
    throw refused(
      `${url.origin} does not respond: ${error instanceof Error ? error.message : error}\nscrip serve starts a sandbox; --url names another one.`,
    )
  }
}

/** The value of a JSON text; another text as it is. */
export const jsonOr = (text: string): unknown => {
  const value = jsonIn(text)
  return value === undefined ? text : value
}
