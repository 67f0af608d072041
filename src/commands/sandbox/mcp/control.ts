import type { McpConfig } from '../../../config/config.ts'
import { refused } from '../../exit.ts'

/** The response of the sandbox: its status and its body, parsed if it is JSON. */
export interface Reply {
  status: number
  body: unknown
}

interface Asked {
  /** The default one, if undefined. */
  world?: string | undefined
  body?: unknown
}

/** A sandbox that does not respond. */
export class Away extends Error {}

/** The control API of a sandbox (contract C15), for tools that work in any of its worlds. */
export class Control {
  constructor(
    readonly url: string,
    private readonly token: string | undefined,
  ) {}

  /** @throws Away */
  async ask(method: string, path: string, { world, body }: Asked = {}): Promise<Reply> {
    const url = new URL(`/_sandbox${path}`, this.url)
    if (world !== undefined) url.searchParams.set('world', world)
    const headers = {
      accept: 'application/json',
      ...(this.token !== undefined && { 'x-sandbox-token': this.token }),
    }
    return replyTo(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }

  /** The OpenAPI document. @throws Away */
  async document(): Promise<unknown> {
    return (await replyTo(new URL('/openapi.json', this.url), { headers: { accept: 'application/json' } })).body
  }
}

const replyTo = async (url: URL, init: RequestInit): Promise<Reply> => {
  try {
    const response = await fetch(url, init)
    return { status: response.status, body: jsonOr(await response.text()) }
  } catch (error) {
    throw new Away(`${url.origin} does not respond: ${error instanceof Error ? error.message : error}`)
  }
}

/** The value of a JSON text; another text as it is. */
export const jsonOr = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Attaches to a sandbox that runs. @throws ProgramError when there is none, or it is in live mode */
export const attach = async ({ url = '', token }: Pick<McpConfig, 'url' | 'token'>): Promise<Control> => {
  const control = new Control(url, token)
  const { status } = await control.ask('GET', '').catch((error: Error) => {
    throw refused(`${error.message}\nscrip serve starts a sandbox. Without --url, scrip mcp starts its own.`)
  })
  if (status === 200) return control
  if (status === 401) throw refused(`${url} needs its sandbox token\nSet SCRIP_SANDBOX_TOKEN.`)
  throw refused(
    `${url} is not a sandbox: GET /_sandbox responds with ${status}\nscrip mcp never works on a live server.`,
  )
}
