import { refused } from '../../kernel/exit.ts'
import { jsonIn } from '../../kernel/json.ts'
import { isLoopback } from '../../sandbox/control/access.ts'
import type { Credentials } from '../../sessions/credentials.ts'

/** Requests of commands to a host that speaks the API. */

type Send = (request: Request) => Promise<Response>

export interface Target {
  url: string
  send: Send
  /** The second line of the error if it does not respond. */
  advice: string
}

export interface Question {
  method: string
  /** Path and query. */
  path: string
  /** Text is sent as it is. */
  body?: object | string | undefined
  headers?: Record<string, string>
  /** Without an access token. */
  isPublic?: true
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  /** Undefined if it is not JSON. */
  body: unknown
}

/** A host with a client that is logged in. */
export interface Host {
  login: Reply
  ask: (question: Question) => Promise<Reply>
}

/** @throws ProgramError if it does not respond */
export const ask = (target: Target, question: Question): Promise<Reply> =>
  responding(target, async () => replyOf(await target.send(requestOf(target, question))))

export const replyOf = async (response: Response): Promise<Reply> => {
  const { status, headers } = response
  const text = await response.text()
  return { status, headers, text, body: jsonIn(text) }
}

/** A response whose body is read as it comes. @throws ProgramError if it does not respond */
export const responseTo = (target: Target, question: Question, signal: AbortSignal): Promise<Response> =>
  responding(target, () => target.send(new Request(requestOf(target, question), { signal })))

const responding = async <T>({ url, advice }: Target, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw refused(`${url} does not respond: ${error instanceof Error ? error.message : error}\n${advice}`)
  }
}

const requestOf = ({ url }: Target, { method, path, body, headers }: Question): Request =>
  new Request(url + path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

/** @throws ProgramError if the host refuses the credentials, or does not respond */
export const logIn = async (target: Target, credentials: Credentials): Promise<Host> => {
  const login = await ask(target, { method: 'POST', path: '/auth/login', body: credentials })
  const token = memberOf(login.body, 'access_token')
  if (login.status !== 200 || typeof token !== 'string') {
    throw refused(
      `${target.url} refuses the credentials of ${credentials.username}: ${login.status}\nCheck the username and SCRIP_PASSWORD.`,
    )
  }
  const headers = { authorization: `Bearer ${token}` }
  return { login, ask: (question) => ask(target, question.isPublic ? question : { ...question, headers }) }
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** `fetch`, which never asks a proxy for this machine: it may not reach it, and would read passwords and tokens. */
export const fetchDirectly: Send = (request) =>
  fetch(request, isLoopback(new URL(request.url).hostname) ? { proxy: false } : {})
