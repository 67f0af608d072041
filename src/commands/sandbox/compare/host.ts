import { excessAt } from '../../../http/json.ts'
import { SECOND_MS } from '../../../kernel/clock.ts'
import { refused } from '../../../kernel/exit.ts'
import type { Credentials } from '../../../sessions/credentials.ts'

export interface Question {
  method: string
  /** Path and query. */
  path: string
  /** Text is sent as it is. */
  body?: object | string
  /** Without an access token. */
  isPublic?: true
}

export interface HostResponse {
  status: number
  headers: Headers
  /** Undefined if it is not JSON, or was not read. */
  body: unknown
  /** The reason why the body was not read. */
  cut?: string
}

/** A host that speaks the API, with a client that is logged in. */
export interface Host {
  login: HostResponse
  ask: (question: Question) => Promise<HostResponse>
}

/** The text is undefined if it is longer than a host may send. */
type Send = (request: Request) => Promise<{ status: number; headers: Headers; text: string | undefined }>

/** The longest response of Scrip, a page of 100 products, is a hundredth of it. */
const BODY_BYTES_MAX = 4_194_304
const BODY_BOUNDS = { nestingMax: 32, valuesMax: 200_000 }

/** @throws ProgramError if the host refuses the credentials */
export const logInTo = async (url: string, send: Send, credentials: Credentials): Promise<Host> => {
  const ask = async ({ method, path, body }: Question, token?: string): Promise<HostResponse> => {
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const sent = await send(new Request(url + path, { method, headers, ...(text !== undefined && { body: text }) }))
    return { status: sent.status, headers: sent.headers, ...bodyIn(sent.text) }
  }
  const login = await ask({ method: 'POST', path: '/auth/login', body: credentials })
  const token = memberOf(login.body, 'access_token')
  if (login.status !== 200 || typeof token !== 'string') {
    throw refused(
      `${url} refuses the credentials of ${credentials.username}: ${login.status}\nSet --username and SCRIP_PASSWORD.`,
    )
  }
  return { login, ask: (question) => ask(question, question.isPublic ? undefined : token) }
}

const bodyIn = (text: string | undefined): Pick<HostResponse, 'body' | 'cut'> => {
  if (text === undefined) return { body: undefined, cut: 'more than 4 MiB' }
  if (excessAt(text, BODY_BOUNDS) !== undefined) return { body: undefined, cut: 'nested too deep, or too many values' }
  try {
    return { body: JSON.parse(text) }
  } catch {
    return { body: undefined }
  }
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const RESPONSE_MS_MAX = 30 * SECOND_MS

/** Over the network. @throws ProgramError if the host does not answer */
export const sendTo =
  (url: string): Send =>
  async (request) => {
    try {
      const signal = AbortSignal.timeout(RESPONSE_MS_MAX)
      const response = await fetch(request, { redirect: 'manual', signal, decompress: false })
      return { status: response.status, headers: response.headers, text: await textOf(response) }
    } catch (error) {
      throw refused(`${url} does not respond: ${error instanceof Error ? error.message : error}\nCheck the URL.`)
    }
  }

const textOf = async ({ body }: Response): Promise<string | undefined> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.byteLength
    if (length > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
