import { SECOND_MS } from '../../../kernel/clock.ts'
import { refused } from '../../../kernel/exit.ts'
import { jsonIn } from '../../../kernel/json.ts'
import type { Credentials } from '../../../sessions/credentials.ts'
import { fetchDirectly } from '../sandbox-client.ts'

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
  /** Undefined if it is not JSON. */
  body: unknown
}

/** A host that speaks the API, with a client that is logged in. */
export interface Host {
  login: HostResponse
  ask: (question: Question) => Promise<HostResponse>
}

type Send = (request: Request) => Promise<Response>

/** @throws ProgramError if the host refuses the credentials, or does not answer */
export const logInTo = async (url: string, send: Send, credentials: Credentials): Promise<Host> => {
  const ask = async ({ method, path, body }: Question, token?: string): Promise<HostResponse> => {
    const headers = {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    try {
      const request = new Request(url + path, { method, headers, ...(text !== undefined && { body: text }) })
      const response = await send(request)
      return { status: response.status, headers: response.headers, body: jsonIn(await response.text()) }
    } catch (error) {
      throw refused(`${url} does not respond: ${error instanceof Error ? error.message : error}\nCheck the URL.`)
    }
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

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const RESPONSE_MS_MAX = 30 * SECOND_MS

export const overNetwork: Send = (request) =>
  fetchDirectly(new Request(request, { redirect: 'manual', signal: AbortSignal.timeout(RESPONSE_MS_MAX) }))
